// Packs what is old, a fortnight after the other, until there is nothing: bun search-packer.ts FOLDER | URL. It may be killed.
import { openDatabase } from "../../src/database/connect.ts"
import { silentLog } from "../../src/log.ts"
import { foldAll } from "./searched.ts"

const [where] = process.argv.slice(2) as [string]
const place = where.includes("://")
  ? { databaseUrl: where, dataDir: "", as: "command" as const }
  : { dataDir: where, as: "server" as const }
const { sql, close } = await openDatabase({ ...place, log: silentLog })
console.log("opened")
await foldAll(sql, "2025-11-20", 1)
await close()
console.log("packed")
