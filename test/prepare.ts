// Creates the template of the embedded database before the tests start. Otherwise each worker creates one within the
// time limit of a test's hook, which ends the process on a busy machine.
import { templateOf } from "../src/database/embedded/template.ts"

await templateOf()
