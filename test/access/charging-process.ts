// One of several processes that charge a key at the same time, in groups or one by one. Reads its task as JSON from the
// arguments and prints the number of paid charges.
import { type ChargeCall, createChargeCall } from "../../src/access/credits.ts"
import { openDatabase } from "../../src/database/connect.ts"
import { silentLog } from "../../src/lib/log.ts"
import { chargeAlone } from "./registered.ts"

const { databaseUrl, due, calls, inGroups } = JSON.parse(process.argv[2]!)
const database = await openDatabase({ databaseUrl, dataDir: "", as: "command", log: silentLog })
const pay: ChargeCall = inGroups ? createChargeCall(database.sql) : (due) => chargeAlone(database.sql, due)
await database.sql`select 1`
// The parent process writes to stdin when all processes are ready.
process.stdout.write("ready\n")
for await (const _ of process.stdin) break
const paid = await Promise.all(
  Array.from({ length: calls }, (_, call) =>
    pay({ ...due, requestId: `${process.pid}-${call}` }).then(({ refused }) => refused === null),
  ),
)
process.stdout.write(`${paid.filter(Boolean).length}\n`)
await database.close()
