// Delivers alerts in a separate process: bun delivery-process.ts '{"databaseUrl": URL, "options": {…}}'. `standIn` is
// the address that stands for Discord and Teams. Prints "ready" once it polls, and after SIGTERM "stopped" with exit
// code 0.
import { openDatabase } from "../../../src/database/connect.ts"
import { silentLog } from "../../../src/lib/log.ts"
import { telling } from "./scene.ts"
import { toStandIn } from "./services.ts"

const { databaseUrl, options, standIn } = JSON.parse(process.argv[2]!)
const database = await openDatabase({ databaseUrl, dataDir: "", as: "server", log: silentLog, maxConnections: 3 })
const delivery = telling(database.sql, { ...options, ...(standIn && { outbound: toStandIn(standIn) }) })
delivery.start()
process.stdout.write("ready\n")
process.on("SIGTERM", async () => {
  await delivery.stop()
  await database.close()
  process.stdout.write("stopped\n")
  process.exit(0)
})
