// bun test/bench/reads.ts [OPERATION …] — compares every read of the catalogue with the same call to a bare handler
// that fetches the rows of the answer by key at once and sends the stored answer. Authentication, rate limits, rights,
// prices and units of allowances are checked and charged on both sides. Compares processor time of the process and the
// database, in alternation. Uses an app with 200 keywords among 20 apps with 92 days and invented accounts, and a
// storefront of the market for a week. With DATABASE_URL on that server, where it fails if a read misses its goal; else
// embedded, where it only prints. ROUNDS, ROUND_MS.

import { SCOPES } from "../../src/access/scopes.ts"
import { catalog } from "../../src/catalog.ts"
import { loadDemoOwner } from "../../src/demo/accounts/owner.ts"
import { dayOf } from "../../src/lib/days.ts"
import { recording } from "../../src/recording.ts"
import { bidJob, enqueued } from "../jobs/enqueued.ts"
import { openService, PUBLIC_URL, type Service } from "../service.ts"
import { rowsOf } from "./hive-reads-rows.ts"
import { fillMarket } from "./hive-reads-world.ts"
import { callsOf } from "./holds-calls.ts"
import { median } from "./load.ts"
import { processorClock } from "./processor.ts"
import { keysOf, ROWS } from "./reads-rows.ts"
import { scratchOn } from "./scratch.ts"
import { NOW } from "./years-fill.ts"
import { worldOf } from "./years-world.ts"

const MIN_RATIO = 0.4
const GOALS: Record<string, number> = { list_keyword_ranks: 0.5 }
const ROUNDS = Number(process.env.ROUNDS ?? 7)
const ROUND_MS = Number(process.env.ROUND_MS ?? 250)
const WARM_UP_MS = 800
const AT_ONCE = 4
const CONNECTIONS = 6
const ONLY = process.argv.slice(2)

/** Operations that read nothing stored. */
const LEFT_OUT: Record<string, string> = {
  start_ai_check: "asks assistants",
  draft_review_reply: "a language model's work",
  draft_listing: "a language model's work",
  localize_listing: "a language model's work",
  hive_measure_keyword: "asks a store",
  hive_research_keyword: "asks a store for what it suggests, in each of its calls",
  hive_estimate_app: "of a table that a night's work fills from months of readings, which neither world has",
  preview_action: "the way to a write",
  confirm_action: "a write",
}

const server = process.env.DATABASE_URL
const compared = new Map<string, number>()
const isRequested = (id: string) => (ONLY.length === 0 || ONLY.includes(id)) && !LEFT_OUT[id]

if (catalog.some(({ id }) => isRequested(id) && ROWS[id])) await ofApps()
if (catalog.some(({ id }) => isRequested(id) && !ROWS[id])) await ofMarket()

const missed = [...compared].filter(([id, ratio]) => ratio < (GOALS[id] ?? MIN_RATIO)).sort(([, a], [, b]) => a - b)
console.log(`${compared.size} reads, of which under their goal: ${missed.map(([id]) => id).join(", ") || "none"}`)
for (const [id, reason] of Object.entries(LEFT_OUT)) if (ONLY.length === 0) console.log(`left out: ${id}, ${reason}`)
const forgotten = catalog.filter(({ id }) => isRequested(id) && !compared.has(id)).map(({ id }) => id)
if (forgotten.length > 0) console.error(`neither compared nor left out with a reason: ${forgotten.join(", ")}`)
process.exit(forgotten.length > 0 || (missed.length > 0 && server) ? 1 : 0)

async function ofApps(): Promise<void> {
  const world = await worldOf(server, { apps: 20, keywords: 19, maxKeywords: 200, days: 92 }, CONNECTIONS)
  const { workspace, rivals } = world
  const { sql } = world.scratch
  await sql`update workspace set plan = 'enterprise', explorer = true,
    overrides = '{"credits": 1000000000, "ratePerSecond": 1000000}' where id = ${workspace}`
  const [appRow] = await sql<[{ id: string; iosId: string; workspace: string }]>`
    select a.id, s.store_id as "iosId", w.name as workspace
    from tracked_app a
    join store_app s on s.id = a.ios_app
    join workspace w on w.id = a.workspace_id
    where a.id = ${world.apps[0]!}`
  const demo = { ...appRow, name: "An app", keywords: ["keyword 13", "keyword 26"] }
  await loadDemoOwner(recording, sql, { workspaceId: workspace, apps: [demo], now: () => NOW })
  const service = openService({ sql, now: () => NOW })
  const key = await service.key(workspace, { workspace: appRow.workspace, scopes: SCOPES })
  await sql`
    insert into listing_change (app_id, at, storefront, source, kind, subject, before, after, before_seen_at, origin)
    select id, ${NOW}::timestamptz - interval '30 days', 'us', 'apple-app-page', 'subtitle', '', '"Before"', '"After"',
      ${NOW}::timestamptz - interval '31 days', 'own'
    from store_app
    where platform = 'ios' and store_id = ${appRow.iosId}`
  const [writer] = await sql<[{ workspaceId: number; keyId: number }]>`
    select workspace_id as "workspaceId", id as "keyId" from api_key where workspace_id = ${workspace} order by id
    limit 1`
  const jobId = await enqueued(sql, bidJob(writer, { appId: appRow.id }))
  const ids = { appId: appRow.id, rivalId: rivals[0]! }
  await sql`vacuum analyze`
  for (const operation of catalog.filter(({ id }) => ROWS[id] && isRequested(id))) {
    const [call] = callsOf(operation, { sql, iosId: appRow.iosId, ...ids })
    const { method, body } = call!
    const path = operation.id === "get_job" ? `/v1/jobs/${jobId}` : call!.path
    // otherwise the day's allowance is used up
    await sql`delete from allowance_used where allowance = 'hive'`
    await compare(operation.id, {
      sql,
      service,
      ask: (target: Service) => ask(target, { key, method, path, ...(body && { body }) }),
      rows: async (answer) => {
        const keys = await keysOf(sql, { workspace, ...ids }, answer)
        return () => Promise.all(ROWS[operation.id]!(keys))
      },
      bare: (changed) => openService({ sql, now: () => NOW, catalog: changed }),
    })
  }
  await world.scratch.remove()
}

async function ofMarket(): Promise<void> {
  const scratch = await scratchOn(server, CONNECTIONS)
  const { sql } = scratch
  const world = await fillMarket(sql, dayOf(new Date()))
  await sql`analyze`
  const { service, measure } = world
  const calls: Record<string, string> = {
    check_rank: `/rank-check?app=${world.appId}&term=${world.term}`,
    get_keyword_difficulty: `/keyword-difficulty?term=${world.term}`,
    hive_find_apps: "/hive/find?country=us&genre=6015&limit=50",
    hive_get_chart: "/hive/charts?genre=6015&kind=free",
    hive_get_chart_movers: "/hive/movers?genre=6015&kind=free",
    hive_list_new_apps: "/hive/new?country=us",
    hive_get_publisher: `/hive/publisher/${world.publisherId}`,
    hive_resolve_app: `/hive/resolve?q=${encodeURIComponent(world.name)}`,
    hive_get_similar_apps: `/hive/similar/${world.pageId}`,
    hive_list_reviews: `/hive/reviews/${world.appId}`,
    hive_get_app: `/hive/apps/${world.pageId}`,
    hive_get_keyword_ranks: `/hive/keywords/${world.term}/ranks`,
    hive_get_landscape: "/hive/landscape?genre=6015",
    hive_get_keyword_metrics: `/hive/keywords/${world.term}/metrics`,
    hive_get_keyword_metrics_history: `/hive/keywords/${world.term}/metrics/history?days=30`,
  }
  for (const [id, path] of Object.entries(calls).filter(([id]) => isRequested(id))) {
    // a new key for each call, otherwise the day's allowance is used up
    const key = await keyIn(service)
    await compare(id, {
      sql,
      service,
      ask: (target: Service) => ask(target, { key, method: "GET", path: `/v1${path}` }),
      rows: (answer) => rowsOf(sql, id, answer, world),
      bare: (changed) => openService({ sql, measure, catalog: changed }),
    })
  }
  await world.close()
  await scratch.remove()
}

async function keyIn({ workspace, key }: Service): Promise<string> {
  const overrides = { credits: 1e9, ratePerSecond: 1e6 }
  return await key(await workspace({ plan: "enterprise", explorer: true, overrides }))
}

interface ReadRequest {
  key: string
  method: string
  path: string
  body?: object
}

async function ask(target: Service, { key, method, path, body }: ReadRequest): Promise<string> {
  const headers = { authorization: `Bearer ${key}`, ...(body && { "content-type": "application/json" }) }
  const request = new Request(`${PUBLIC_URL}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  const response = await target.app.fetch(request, "127.0.0.1")
  const text = await response.text()
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text}`)
  return text
}

interface Comparison {
  sql: Service["sql"]
  service: Service
  ask(target: Service): Promise<string>
  rows(answer: Record<string, unknown>): Promise<() => Promise<unknown>>
  /** Returns the same service with another catalogue. */
  bare(changed: typeof catalog): Service
}

/** Compares an operation. If it fails, this is printed and nothing is compared. */
async function compare(id: string, comparison: Comparison): Promise<void> {
  await compareWell(id, comparison).catch((error) => console.error(`${id}: ${error}`))
}

type Run = (typeof catalog)[number]["run"]

/**
 * Compares an operation with a handler of the bare service, which only fetches the rows of the answer, takes the same
 * units of allowances, and returns the stored answer.
 */
async function compareWell(id: string, { sql, service, ask, rows, bare }: Comparison): Promise<void> {
  const withHandler = (run: (original: Run) => Run) =>
    bare(catalog.map((operation) => (operation.id === id ? { ...operation, run: run(operation.run) } : operation)))
  // after this call, a read on request has stored its data
  await ask(service)
  const takes: Parameters<Parameters<Run>[1]["take"]>[] = []
  const noteTakes: (original: Run) => Run = (original) => (input, ctx) =>
    original(input, {
      ...ctx,
      take: (...args) => {
        takes.push(args)
        return ctx.take(...args)
      },
    })
  const text = await ask(withHandler(noteTakes))
  const answer = JSON.parse(text) as Record<string, unknown>
  const fetchRows = await rows(answer)
  // a faulty statement fails here
  await fetchRows()
  const limit = withHandler(() => async (_, ctx) => {
    await Promise.all([fetchRows(), ...takes.map((args) => ctx.take(...args))])
    return answer
  })
  const clock = await processorClock(sql, server)
  const rounds: [number, number, number, number][] = []
  // the first runs compile code, plan statements and fill caches
  for (const target of [service, limit]) await msOf(target, WARM_UP_MS)
  for (let round = 0; round < ROUNDS; round++)
    rounds.push([...(await msOf(service, ROUND_MS)), ...(await msOf(limit, ROUND_MS))])
  const middle = [0, 1, 2, 3].map((at) => median(rounds.map((all) => all[at]!))) as [number, number, number, number]
  const ratios = rounds.map(([ms, databaseMs, least, databaseLeast]) => (least + databaseLeast) / (ms + databaseMs))
  compared.set(id, median(ratios))
  const range = `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`
  const [processMs, database, ownLeast, databaseLeast] = middle.map((ms) => ms.toFixed(2))
  console.log(
    `${id.padEnd(33)} ${median(ratios).toFixed(2)} of its rows by key (${range}); ` +
      `ms ${processMs} and ${database}, of ${ownLeast} and ${databaseLeast}; ${Math.ceil(text.length / 1_000)} KB`,
  )

  /** Milliseconds of a call: in the process and in the database. */
  async function msOf(target: Service, ms: number): Promise<[number, number]> {
    let answers = 0
    const [before, started] = [clock(), performance.now()]
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (; performance.now() < started + ms; answers++) await ask(target)
      }),
    )
    const now = clock()
    return [(now.process - before.process) / answers, (now.database - before.database) / answers]
  }
}
