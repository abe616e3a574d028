import { beforeAll, expect, test } from "bun:test"
import { SCOPES } from "../../src/access/scopes.ts"
import { catalog } from "../../src/catalog.ts"
import { callsOf, type Subjects } from "../bench/holds-calls.ts"
import { NOW } from "../bench/years-fill.ts"
import { fillWorld } from "../bench/years-world.ts"
import { freshDatabase } from "../database.ts"
import { slow } from "../long.ts"
import { openService } from "../service.ts"
import { countedOn } from "./counted.ts"

// Each statement is a round trip to the database, which takes no noticeable time if the database is on the same
// machine. The counts are those of a call with a cached key, including the charge.

const READS = catalog.filter(({ effect }) => effect === "reads")

let call: (path: string, before?: () => void) => Promise<{ status: number; statements: number }>
let subjects: Subjects

beforeAll(async () => {
  const sql = await freshDatabase()
  const { workspace, apps, rivals } = await fillWorld(sql, { apps: 3, keywords: 10, maxKeywords: 30, days: 10 })
  await sql`update workspace set explorer = true where id = ${workspace}`
  const [{ name }] = await sql<[{ name: string }]>`select name from workspace where id = ${workspace}`
  const counted = countedOn(sql)
  const service = openService({ sql: counted.sql, now: () => NOW })
  const headers = { authorization: `Bearer ${await service.key(workspace, { workspace: name, scopes: SCOPES })}` }
  const [{ iosId }] = await sql<[{ iosId: string }]>`
    select s.store_id as "iosId"
    from tracked_app a
    join store_app s on s.id = a.ios_app
    where a.id = ${apps[0]!}`
  subjects = { sql, appId: apps[0]!, iosId, rivalId: rivals[0]! }
  call = async (path, before = () => {}) => {
    const request = () => service.app.fetch(new Request(`http://127.0.0.1${path}`, { headers }), "127.0.0.1")
    // a key is cached for 750 ms, and data that does not depend on a call is cached too
    await request()
    const sent = counted.statements()
    before()
    const { status } = await request()
    return { status, statements: counted.statements() - sent }
  }
})

/**
 * Maximum number of statements by operation. Lower a number that improves; the message of a commit that raises one
 * explains why.
 */
const MAX_STATEMENTS: Record<string, number> = {
  whoami: 2,
  list_apps: 2,
  get_rank_history: 3,
  search: 6,
  fetch: 4,
  get_app: 4,
  list_reviews: 5,
  search_reviews: 4,
  get_review_stats: 4,
  list_keyword_ranks: 4,
  list_alerts: 4,
  get_portfolio_overview: 11,
  get_usage: 5,
  list_rivals: 6,
  get_chart_positions: 6,
  get_timeline: 6,
  get_featuring: 5,
  get_today: 11,
  hive_list_new_apps: 7,
  get_chart_movers: 8,
  get_weekly_plan: 11,
}
/** Maximum for reads that are not listed above. */
const MAX_STATEMENTS_DEFAULT = 6
const mostOf = (id: string) => MAX_STATEMENTS[id] ?? MAX_STATEMENTS_DEFAULT

slow("every read takes at most its listed number of database statements", async () => {
  const found: Record<string, number> = {}
  for (const operation of READS) {
    const [usual] = callsOf(operation, subjects)
    if (usual?.method !== "GET") continue
    // on a slow machine the cached key may expire between two calls, which adds a statement
    for (let tries = 0; tries < 3; tries++) {
      const { status, statements } = await call(usual.path)
      if (status !== 200) break
      found[operation.id] = Math.min(statements, found[operation.id] ?? statements)
      if (statements <= mostOf(operation.id)) break
    }
  }
  const over = Object.entries(found).filter(([id, count]) => count > mostOf(id))
  expect(Object.fromEntries(over)).toEqual({})
  expect(Object.keys(MAX_STATEMENTS).filter((id) => found[id] === undefined)).toEqual([])
})

test("a call with an uncached key takes one more database statement", async () => {
  const path = `/v1/apps/${subjects.appId}/keywords`
  await call(path)
  const cachedCall = await call(path)
  const clock = performance.now.bind(performance)
  try {
    let later = 0
    performance.now = () => clock() + later
    const unknown = await call(path, () => {
      later = 1_000
    })
    expect(unknown.statements).toBe(Math.min(cachedCall.statements, MAX_STATEMENTS.list_keyword_ranks as number) + 1)
  } finally {
    performance.now = clock
  }
})
