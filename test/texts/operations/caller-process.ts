// Requests reply drafts one after another in a separate process: bun caller-process.ts '{"databaseUrl": …, "provider":
// …, "path": …, "key": …}'. Prints "ready", and then a line for each answer.
import { randomBytes } from "node:crypto"
import { openDatabase } from "../../../src/database/connect.ts"
import { silentLog } from "../../../src/lib/log.ts"
import { createWriting } from "../../../src/texts/port/write.ts"
import { openService } from "../../service.ts"

const { databaseUrl, provider, path, key } = JSON.parse(process.argv[2]!)
const { sql } = await openDatabase({ dataDir: "", as: "server", log: silentLog, maxConnections: 4, databaseUrl })
const { write } = createWriting({
  sql,
  log: silentLog,
  now: () => new Date(),
  randomBytes,
  pollMs: 10,
  settings: {
    url: provider,
    api: "chat",
    model: "m-1",
    key: undefined,
    contextTokens: 1e5,
    tokensADay: 1e12,
    atOnce: 2,
  },
  fetch: (url, init) => fetch(url, init),
})
const service = openService({ sql, write })
process.stdout.write("ready\n")
for (let n = 0; ; n++) {
  const { status } = await service.call(`${path}&note=n${n}`, { key })
  process.stdout.write(`${status}\n`)
}
