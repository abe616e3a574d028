import process from "node:process"
import { startEarly } from "../../database/embedded/thread.ts"

// Imported before all else: while one core runs the service's modules, another compiles the database's program.
const isNamed = (name: string) => Boolean(process.env[name])
if (process.argv[2] === "serve" && !isNamed("DATABASE_URL") && !isNamed("DATABASE_URL_FILE")) startEarly()
