import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import type { Sql } from "../../../src/database/types.ts"
import { dayOf } from "../../../src/lib/days.ts"
import { makeDue } from "../../../src/market/estimates/estimates.ts"
import { fillMarket, type HiveWorld } from "../../bench/hive-reads-world.ts"
import contract from "../../contract/operations.json"
import { freshDatabase } from "../../database.ts"
import { slow } from "../../long.ts"
import { appsReading } from "../../measuring/record/measured.ts"
import { type ContractParameter, probes } from "../../probes.ts"
import { record } from "../../record.ts"
import { type CallOptions, openService, type Service } from "../../service.ts"

setDefaultTimeout(120_000)

const ROWS = contract.filter(({ group }) => group === "Hive")
/** The id of an app that was never seen, and a keyword that was never read. */
const [NOBODY, UNHEARD] = ["1999999999", "nobody%20asked%20this"]

let sql: Sql
let world: HiveWorld
/** The same database on a server that reads no store. */
let quiet: Service
let workspaceId: number
let key: string

beforeAll(async () => {
  sql = await freshDatabase()
  world = await fillMarket(sql, dayOf(new Date()), { genres: ["36", "6015", "6016"], daysAgo: [7, 1, 0] })
  const month = new Date(Date.now() - 30 * 86_400_000).toISOString()
  // some apps on today's charts
  await record(sql, [
    appsReading(
      month,
      [0, 12, 14].map((places) => ({ id: next(places), ratings: 10 })),
    ),
  ])
  await sql`update estimate_due set next_at = now()`
  while ((await makeDue(sql, new Date())) > 0);
  quiet = openService({ sql })
  ;[workspaceId, key] = await caller()
})
afterAll(() => world.close())

async function caller(scopes?: never[]): Promise<[number, string]> {
  const overrides = { credits: 1e6, ratePerSecond: 1e5, measurements: 100 }
  const id = await world.service.workspace({ plan: "enterprise", explorer: true, overrides })
  return [
    id,
    await world.service.key(id, { scopes: scopes ?? ["hive:read", "hive:spy", "hive:estimate", "hive:measure"] }),
  ]
}

interface Form {
  path: string
  body?: object
  /** True if the call needs a server that reads stores; other servers refuse it. */
  isRead?: boolean
}
interface Forms {
  /** Calls with a full answer, each with its price according to the contract. */
  full: () => (Form & { cost: (body: Body) => number })[]
  /** Calls about something that is not measured yet: they return 404, an empty result or 202. */
  empty: () => Form[]
}
// biome-ignore lint/suspicious/noExplicitAny: answers of every operation
type Body = any

const FORMS: Record<string, Forms> = {
  check_rank: {
    full: () => [{ path: `/rank-check?app=${world.appId}&term=${world.term}`, isRead: true, cost: () => 10 }],
    empty: () => [{ path: `/rank-check?app=${NOBODY}&term=${UNHEARD}` }],
  },
  get_keyword_difficulty: {
    full: () => [{ path: `/keyword-difficulty?term=${world.term}`, isRead: true, cost: () => 10 }],
    empty: () => [{ path: `/keyword-difficulty?term=${UNHEARD}` }],
  },
  hive_find_apps: {
    full: () => [
      { path: "/hive/find?genre=6015&limit=30", cost: () => 20 },
      {
        path: "/hive/find?genre=36&limit=150&estimates=true",
        cost: ({ apps }) => 20 + 50 * withFigure(apps, "estimates"),
      },
    ],
    empty: () => [{ path: "/hive/find?publisher=1" }, { path: "/hive/find?text=nobody&country=fr" }],
  },
  hive_get_chart: {
    full: () => [
      { path: "/hive/charts?genre=6015&kind=paid", cost: () => 10 },
      {
        path: "/hive/charts?genre=36&kind=free&estimates=true",
        cost: ({ apps }) => 10 + 50 * withFigure(apps, "estimate"),
      },
    ],
    empty: () => [{ path: "/hive/charts?country=fr" }],
  },
  hive_get_chart_movers: {
    full: () => [{ path: "/hive/movers?genre=6015&kind=free", cost: () => 10 }],
    empty: () => [{ path: "/hive/movers?country=fr" }],
  },
  hive_list_new_apps: {
    full: () => [{ path: "/hive/new?country=us", cost: () => 10 }],
    empty: () => [{ path: "/hive/new?country=fr" }],
  },
  hive_get_publisher: {
    full: () => [{ path: `/hive/publisher/${world.publisherId}`, cost: () => 10 }],
    empty: () => [{ path: "/hive/publisher/999" }],
  },
  hive_resolve_app: {
    full: () => [{ path: `/hive/resolve?q=${encodeURIComponent(world.name)}`, cost: () => 10 }],
    empty: () => [{ path: `/hive/resolve?q=${NOBODY}` }],
  },
  hive_get_similar_apps: {
    full: () => [{ path: `/hive/similar/${world.pageId}?country=us`, isRead: true, cost: () => 10 }],
    empty: () => [{ path: `/hive/similar/${NOBODY}` }],
  },
  hive_list_reviews: {
    full: () => [{ path: `/hive/reviews/${world.appId}`, isRead: true, cost: () => 10 }],
    empty: () => [{ path: `/hive/reviews/${NOBODY}` }],
  },
  hive_measure_keyword: {
    full: () => [
      { path: `/hive/keywords/${world.term}/metrics/measure`, body: { wait: 20 }, isRead: true, cost: () => 50 },
    ],
    empty: () => [{ path: "/hive/keywords/nor%20this/metrics/measure", body: {}, isRead: true }],
  },
  hive_get_app: {
    full: () => [{ path: `/hive/apps/${world.pageId}`, isRead: true, cost: () => 10 }],
    empty: () => [{ path: `/hive/apps/${NOBODY}` }],
  },
  hive_get_keyword_ranks: { full: () => byDays("ranks"), empty: () => [{ path: `/hive/keywords/${UNHEARD}/ranks` }] },
  hive_get_keyword_metrics: {
    full: () => [{ path: `/hive/keywords/${world.term}/metrics`, cost: () => 10 }],
    empty: () => [{ path: `/hive/keywords/${UNHEARD}/metrics` }],
  },
  hive_get_keyword_metrics_history: {
    full: () => byDays("metrics/history"),
    empty: () => [{ path: `/hive/keywords/${UNHEARD}/metrics/history?days=90` }],
  },
  hive_spy_app: {
    full: () => [{ path: `/hive/spy/${world.appId}`, cost: () => 200 }],
    empty: () => [{ path: `/hive/spy/${NOBODY}` }, { path: `/hive/spy/${world.appId}?country=fr` }],
  },
  hive_estimate_app: {
    full: () => [{ path: `/hive/estimate/${world.appId}`, cost: () => 500 }],
    empty: () => [{ path: `/hive/estimate/${NOBODY}` }, { path: `/hive/estimate/${NOBODY}8`, isRead: true }],
  },
  hive_get_keyword_gap: {
    full: () => [
      { path: `/hive/gap?ids=${world.appId},${next(1)}`, cost: () => 400 },
      { path: `/hive/gap?ids=${world.appId},${next(1)},${next(2)},${NOBODY}`, cost: () => 600 },
    ],
    empty: () => [{ path: `/hive/gap?ids=${NOBODY},${world.appId}&country=fr` }],
  },
  hive_research_keyword: {
    full: () => [{ path: `/hive/research?seed=${world.term}`, cost: () => 50 }],
    empty: () => [{ path: `/hive/research?seed=${UNHEARD}` }],
  },
  hive_get_landscape: {
    full: () => [{ path: "/hive/landscape?genre=6015", isRead: true, cost: () => 10 }],
    empty: () => [{ path: "/hive/landscape?country=fr" }, { path: "/hive/landscape?genre=games&country=fr" }],
  },
}

const next = (places: number) => String(Number(world.appId) + places)
const byDays = (of: string) =>
  [
    ["days=1", 10],
    ["days=7", 10],
    ["days=8", 20],
    ["days=30", 20],
    ["days=31", 40],
    ["days=90", 40],
  ].map(([days, cost]) => ({
    path: `/hive/keywords/${world.term}/${of}?${days}`,
    cost: () => cost as number,
  }))

/** Counts the rows with a value or an upper bound in the field. */
function withFigure(rows: Body[], field: string): number {
  const count = rows.filter((row) => /"(value|under|growth)":-?\d/.test(JSON.stringify(row[field] ?? null))).length
  expect([count > 0, count < rows.length]).toEqual([true, true])
  return count
}

const used = async (by = key) => (await world.service.call("/v1/account", { key: by })).body.credits.used as number

function call({ path, body, isRead }: Form, by = key) {
  const options: CallOptions = { key: by, ...(body && { method: "POST", body }) }
  return (isRead ? world.service : quiet).call(`/v1${path}`, options)
}

async function ask(form: Form, by = key) {
  const before = await used(by)
  const answer = await call(form, by)
  return { ...answer, paid: (await used(by)) - before }
}

test("every market operation has a case in this file", () => {
  expect(Object.keys(FORMS).sort()).toEqual(ROWS.map(({ operationId }) => operationId).sort())
})

describe.each(ROWS)("$operationId", (row) => {
  const { full, empty } = FORMS[row.operationId]!

  slow("a call costs the price of its answer, and is refused as a whole if the credits do not suffice", async () => {
    for (const form of full()) {
      // data that a call reads on request is available from its first answer on
      const { status, body, paid } = await ask(form)
      expect([form.path, status, body.error]).toEqual([form.path, 200, undefined])
      const cost = form.cost(body)
      expect([form.path, paid]).toEqual([form.path, cost])
      const [poorId, poor] = await caller()
      await sql`update account set quota = ${cost - 1} where workspace_id = ${poorId}`
      const refused = await ask(form, poor)
      expect([refused.status, refused.body.error, refused.paid]).toEqual([402, "credits_exhausted", 0])
      expect(Object.keys(refused.body)).not.toContain(Object.keys(body).at(-1))
      await sql`update account set quota = ${cost} where workspace_id = ${poorId}`
      // the figures of a key are cached briefly
      const scopes = [row.scope as "hive:read"]
      expect(await ask(form, await world.service.key(poorId, { scopes }))).toMatchObject({ status: 200, paid: cost })
    }
  })

  slow("an answer without measurements costs 1 credit", async () => {
    for (const form of empty()) {
      const { status, body, paid } = await ask(form)
      expect([200, 202, 404]).toContain(status)
      if (status === 404) expect([form.path, body.error]).toEqual([form.path, "not_measured"])
      expect([form.path, paid]).toEqual([form.path, 1])
    }
  })

  test("a call refused for its parameters, a missing scope or missing Explorer costs nothing", async () => {
    const [form] = full()
    const before = await used()
    let refusals = 0
    for (const parameter of row.parameters as unknown as ContractParameter[])
      for (const wrong of wrongOf(parameter)) {
        const { status, body } = await call(withWrong(row, form!, parameter, wrong))
        expect([parameter.name, wrong, status, body.error]).toEqual([parameter.name, wrong, 400, parameter.code])
        refusals++
      }
    expect(refusals).toBeGreaterThan(0)
    const stray = await call({ ...form!, path: `${form!.path}${form!.path.includes("?") ? "&" : "?"}stray=1` })
    expect([stray.status, stray.body.error]).toEqual([400, "invalid_arguments"])
    const unscoped = await world.service.key(workspaceId, { scopes: ["apps:read"] })
    const refused = await call(form!, unscoped)
    expect([refused.status, refused.body.error]).toEqual([403, "scope_required"])
    const plain = await world.service.workspace({ plan: "enterprise" })
    const plainKey = await world.service.key(plain, { scopes: [row.scope as "hive:read"] })
    const closed = await call(form!, plainKey)
    expect([closed.status, closed.body.error]).toEqual([403, "explorer_required"])
    expect([await used(), await used(plainKey)]).toEqual([before, 0])
  })
})

/** Returns the contract's wrong values that are still wrong when written in a URL. */
function wrongOf(parameter: ContractParameter): unknown[] {
  const { bad } = probes(parameter)
  if (parameter.in === "body") return bad
  return bad.flatMap((value) => {
    if (Array.isArray(value)) return value.some((item) => typeof item !== "string") ? [] : [value.join()]
    if (typeof value === "number" && parameter.type !== "integer" && parameter.type !== "number") return []
    if (typeof value === "object" || typeof value === "boolean") return []
    return value === "" ? [] : [String(value)]
  })
}

function withWrong(
  { path }: { path: string },
  form: Form,
  { name, in: place }: ContractParameter,
  wrong: unknown,
): Form {
  if (place === "body") return { ...form, body: { ...form.body, [name]: wrong } }
  const [ownPath, query] = form.path.split("?") as [string, string | undefined]
  if (place === "query") {
    const params = new URLSearchParams(query)
    params.set(name, wrong as string)
    return { ...form, path: `${ownPath}?${params}` }
  }
  const at = path.split("/").indexOf(`{${name}}`)
  const parts = ownPath.split("/").map((part, i) => (i === at ? encodeURIComponent(wrong as string) : part))
  return { ...form, path: [parts.join("/"), query].filter((part) => part !== undefined).join("?") }
}
