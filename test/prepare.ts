// Makes the template of the embedded database before the tests start. Otherwise each worker makes one by itself, within the
// time limit of a test's hook, and on a busy machine that limit ends the process that makes it.
import { templateOf } from "../src/database/embedded/template.ts"

await templateOf()
