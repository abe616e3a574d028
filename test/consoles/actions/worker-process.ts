// A worker for console writes in a separate process: bun worker-process.ts '{"databaseUrl": URL, "console": URL}'.
// Prints "ready" once it looks for jobs.

import { actions } from "../../../src/catalog.ts"
import { createPlatforms } from "../../../src/consoles/writing/platforms.ts"
import { outsideWrites } from "../../../src/core/action.ts"
import { openDatabase } from "../../../src/database/connect.ts"
import { createOutbox } from "../../../src/jobs/outbox.ts"
import { silentLog } from "../../../src/lib/log.ts"
import { sealer } from "../../alerts/delivery/scene.ts"
import { reachOf } from "../scene.ts"

const { databaseUrl, console: address } = JSON.parse(process.argv[2]!)
const { sql } = await openDatabase({ databaseUrl, dataDir: "", as: "server", log: silentLog, maxConnections: 4 })
const platforms = createPlatforms({ sql, sealer, reach: reachOf(address) })
createOutbox({
  sql,
  kinds: outsideWrites(actions),
  platforms,
  log: silentLog,
  pollMs: 20,
  leaseMs: 2_000,
  sendMs: 1_800,
}).start()
process.stdout.write("ready\n")
