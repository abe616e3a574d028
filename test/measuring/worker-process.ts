// Runs a measuring worker in a process of its own: bun worker-process.ts '{"database": {…}, "stores": URL, "options":
// {…}}'. Prints "ready" once it looks for due work, and "stopped" before it exits with 0 after SIGTERM.

import { openDatabase } from "../../src/database/connect.ts"
import { silentLog } from "../../src/lib/log.ts"
import { UPSTREAMS, type Upstream } from "../../src/lib/upstreams.ts"
import { createMeasuring } from "../../src/measuring/worker.ts"
import { recording } from "../../src/recording.ts"
import { counted } from "./stand-in.ts"

const { database: location, stores, options, gapMs = 0 } = JSON.parse(process.argv[2]!)
const database = await openDatabase({ dataDir: "", as: "server", log: silentLog, maxConnections: 4, ...location })
const measuring = createMeasuring({
  recording,
  sql: database.sql,
  kinds: [counted],
  reach: {
    address: (upstream) => `${stores}/${upstream}`,
    fetch: (url, init) => fetch(url, init),
    now: () => new Date(),
    egress: undefined,
    timeoutMs: 20_000,
  },
  egress: "here",
  gapsMs: new Map(UPSTREAMS.map((upstream): [Upstream, number] => [upstream, gapMs])),
  log: silentLog,
  pollMs: 50,
  ...options,
})
measuring.start()
process.stdout.write("ready\n")
process.on("SIGTERM", async () => {
  await measuring.stop()
  await database.close()
  process.stdout.write("stopped\n")
  process.exit(0)
})
