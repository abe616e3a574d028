// One server of a benchmark, in a process of its own: bun test/bench/server.ts KIND. Prints its port and the key to use.

import { randomBytes } from "node:crypto"
import { createKey } from "../../src/access/key-register.ts"
import { openLimits } from "../../src/access/limits/open.ts"
import { createWorkspace } from "../../src/access/workspaces.ts"
import { createApp } from "../../src/app.ts"
import type { Sql } from "../../src/database/types.ts"
import { createLog } from "../../src/log.ts"
import { record } from "../../src/observations/record.ts"
import { listKeywordRanks } from "../../src/operations/keywords/keywords.ts"
import { freshDatabase } from "../database.ts"
import { sandboxAt } from "../sandbox.ts"
import { trackOwn } from "../world/tracked.ts"

const TERMS = 200
const kind = process.argv[2] as "house" | "bare-bytes" | "bare-read"

const sql = await freshDatabase()
// written as the server writes them, so that logging is part of what is measured; http.ts sends them to /dev/null
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
const { workspaceId, secret, appId } = await prepare(sql)
const { port } = await serve()
process.stdout.write(`${JSON.stringify({ port, secret, appId })}\n`)

async function prepare(sql: Sql) {
  const overrides = { credits: 1e12, ratePerSecond: 1e9, trackedKeywords: 1e6 }
  const { id: workspaceId } = await createWorkspace(sql, { name: "bench", plan: "enterprise", overrides })
  const { secret } = await createKey(sql, { workspace: "bench", kind: "live", name: "bench" }, randomBytes)
  const terms = Array.from({ length: TERMS }, (_, i) => `term ${i}`)
  const ids = Array.from({ length: 100 }, (_, i) => String(100_000_000 + i))
  const seenAt = new Date(Date.now() - 3_600_000)
  await record(
    sql,
    terms.map((term, i) => ({
      kind: "search" as const,
      source: "import" as const,
      platform: "ios" as const,
      storefront: "us",
      term,
      depth: 100,
      complete: true,
      seenAt,
      parser: 1,
      origin: "bench",
      sha256: new Bun.SHA256().update(term).digest() as Uint8Array,
      results: ids.map((_, place) => ({ id: ids[(place + i) % 100] as string })),
    })),
  )
  const appId = await trackOwn(sql, { workspaceId, iosId: ids[0] as string, keywords: terms })
  await sql`analyze`
  return { workspaceId, secret, appId }
}

async function serve() {
  if (kind === "house") {
    return Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: (request, server) => app.fetch(request, server.requestIP(request)?.address ?? null),
    })
  }
  if (kind === "bare-bytes") {
    const answer = await app.fetch(new Request("http://127.0.0.1/v1/sandbox/apps"), null)
    const [body, headers] = [await answer.bytes(), Object.fromEntries(answer.headers)]
    return Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(body, { headers }) })
  }
  return Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: async () => Response.json(await bareRead()) })
}

/** The handler and its SQL with nothing around them: nobody is asked for, limited or charged. */
async function bareRead(): Promise<unknown> {
  const ctx = { sql, now } as unknown as Parameters<typeof listKeywordRanks.run>[1]
  const [tracked] = await sql`
    select a.id, a.name, null as icon, i.store_id as "iosId", null as "androidPkg", i.bundle_id as "bundleId",
      a.ios_app as "iosApp", null as "androidApp", a.countries
    from tracked_app a
    left join store_app i on i.id = a.ios_app
    where a.workspace_id = ${workspaceId} and a.id = ${appId}`
  return listKeywordRanks.run({ app: tracked, appId, storefront: "us", platform: "ios" }, ctx)
}
