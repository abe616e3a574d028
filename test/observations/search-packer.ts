// Says what it finds, then packs what is old, a fortnight after the other, until there is nothing; what is packed whole is unpacked
// before: bun search-packer.ts FOLDER | URL COUNT, of all that can be packed. It may be killed.
import { openDatabase } from "../../src/database/connect.ts"
import { silentLog } from "../../src/log.ts"
import { foldAll, held, unpack } from "./searched.ts"

const [where, packable] = process.argv.slice(2) as [string, string]
const place = where.includes("://")
  ? { databaseUrl: where, dataDir: "", as: "command" as const }
  : { dataDir: where, as: "server" as const }
const { sql, close } = await openDatabase({ ...place, log: silentLog })
const found = await held(sql)
if (found.packed === Number(packable)) await unpack(sql)
console.log(JSON.stringify(found))
await foldAll(sql, "2025-11-20", 1)
await close()
console.log("packed")
