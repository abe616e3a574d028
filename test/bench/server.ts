// bun test/bench/server.ts product|bare — one server of test/bench/http.ts in a separate process. Prints its port.
import { openLimits } from "../../src/access/limits/open.ts"
import { createApp } from "../../src/app.ts"
import { createLog } from "../../src/lib/log.ts"
import { freshDatabase } from "../database.ts"
import { sandboxAt } from "../sandbox.ts"

const sql = await freshDatabase()
// written like the server's log, so that logging is part of the measurement; started.ts sends it to /dev/null
const log = createLog((line) => void process.stderr.write(line))
const now = () => new Date()
const app = createApp({
  sql,
  limits: openLimits({ sql, log, now }),
  sandbox: sandboxAt("http://127.0.0.1"),
  settings: {
    publicUrl: "http://127.0.0.1",
    trustedProxies: [],
    sandboxPerSecond: 1e9,
    requestDeadlineMs: 4_500,
    maxWaiting: 500,
  },
  log,
  now,
})
const { port } = process.argv[2] === "product" ? serveProduct() : await serveBare()
process.stdout.write(`${JSON.stringify({ port })}\n`)

function serveProduct() {
  return Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request, server) => app.fetch(request, server.requestIP(request)?.address ?? null),
  })
}

/** Serves the same bytes and headers, created once. */
async function serveBare() {
  const answer = await app.fetch(new Request("http://127.0.0.1/v1/sandbox/apps"), null)
  const body = await answer.bytes()
  const headers = Object.fromEntries(answer.headers)
  return Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(body, { headers }) })
}
