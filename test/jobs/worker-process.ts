// Runs a worker in a process of its own: bun worker-process.ts '{"database": {…}, "platform": URL, "options": {…},
// "enqueue": 4}'. Prints "ready" once it looks for jobs, and "stopped" before it exits with 0 after SIGTERM.
import { openDatabase } from "../../src/database/connect.ts"
import { createOutbox } from "../../src/jobs/outbox.ts"
import { silentLog } from "../../src/lib/log.ts"
import { bidJob, enqueued, owner } from "./enqueued.ts"
import { bidding } from "./platform.ts"

const { database: location, platform, options, enqueue = 0 } = JSON.parse(process.argv[2]!)
const database = await openDatabase({ dataDir: "", as: "server", log: silentLog, maxConnections: 4, ...location })
const by = enqueue > 0 ? await owner(database.sql) : null
for (let i = 0; by && i < enqueue; i++) await enqueued(database.sql, bidJob(by))
const worker = createOutbox({ sql: database.sql, kinds: bidding(platform), log: silentLog, pollMs: 20, ...options })
worker.start()
process.stdout.write("ready\n")
process.on("SIGTERM", async () => {
  await worker.stop()
  await database.close()
  process.stdout.write("stopped\n")
  process.exit(0)
})
