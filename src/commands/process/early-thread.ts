import process from "node:process"
import { startEarly } from "../../database/embedded/thread.ts"

// Imported first, so that one core loads the service while another compiles the database.
const isNamed = (name: string) => Boolean(process.env[name])
if (process.argv[2] === "serve" && !isNamed("DATABASE_URL") && !isNamed("DATABASE_URL_FILE")) startEarly()
