// The limit of test/bench/wrk.ts: the rows of an app's keywords by their keys in a bare handler, charged and written as JSON.
import { createChargeCall } from "../../src/access/credits.ts"
import { openDatabase } from "../../src/database/connect.ts"
import { silentLog } from "../../src/log.ts"

const [appId] = process.argv.slice(2) as [string]
const { DATABASE_URL: databaseUrl, PORT } = process.env
const { sql } = await openDatabase({ databaseUrl, dataDir: "", as: "server", log: silentLog, maxConnections: 10 })
const [own] = await sql<[{ workspaceId: number; keyId: number; lists: number[] }]>`
  select a.workspace_id as "workspaceId", k.id as "keyId", (
    select array_agg(l.id)
    from tracked_term t
    join list l on (l.platform, l.storefront, l.term) = ('ios', 'us', t.term)
    where t.app_id = a.id
  ) as lists
  from tracked_app a
  join api_key k on k.workspace_id = a.workspace_id
  where a.id = ${appId}
  order by k.id
  limit 1`
const charge = createChargeCall(sql)

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(PORT),
  async fetch() {
    const rows = await sql`
      select n.list_id, n.day, n.source, n.depth, n.seen_at, n.app_ids[1] as first, k.*
      from unnest(${own.lists}::int[]) l (id)
      join list_now n on n.list_id = l.id
      left join keyword_now k on k.list_id = l.id
      order by n.list_id
      limit ${own.lists.length}`
    await charge({
      workspaceId: own.workspaceId,
      keyId: own.keyId,
      cost: 1,
      operation: "bench",
      requestId: crypto.randomUUID(),
    })
    return Response.json(rows)
  },
})
