import { beforeAll, describe, expect, test } from "bun:test"
import fc from "fast-check"
import type { Sql } from "../../../src/database/types.ts"
import { getRankHistory } from "../../../src/keywords/operations/history.ts"
import { addDays } from "../../../src/lib/days.ts"
import { addTerms } from "../../../src/tracking/terms.ts"
import { explainEach, type Step, type Work } from "../../core/explained.ts"
import { freshDatabase } from "../../database.ts"
import { cases } from "../../long.ts"
import { ask, contextOf } from "../../measuring/record/measured.ts"
import { openService, type Service } from "../../service.ts"
import { trackOwn } from "../../world/tracked.ts"
import { trackYear } from "../tracked-year.ts"

const TODAY = "2025-11-20"
const KEYWORDS = 12
/** Days that the workspace's plan includes, of the 365 that are stored. */
const DAYS = 200
const FIRST = addDays(TODAY, 1 - DAYS)

let sql: Sql
let service: Service
let key: string
let app: string
let workspace: number
let now = new Date(`${TODAY}T12:00:00Z`)

beforeAll(async () => {
  sql = await freshDatabase()
  service = openService({ sql, now: () => now })
  const overrides = { historyDays: DAYS, ratePerSecond: 1e6, trackedKeywords: 1_000, credits: 1e7 }
  workspace = await service.workspace({ plan: "enterprise", overrides })
  key = await service.key(workspace)
  app = await trackYear(sql, workspace, KEYWORDS, TODAY)
  await sql`analyze list, rank_month, list_month, list_now, tracked_term, tracked_app, store_app`
})

interface History {
  from: string
  to: string
  keywords: { term: string; sources: { from: string; to: string }[]; series: [string, number | null][] }[]
  notTracked?: string[]
  nextCursor?: string | null
}

async function allPages(input: Record<string, unknown> = {}): Promise<History> {
  const query = new URLSearchParams(Object.entries(input).map(([name, value]) => [name, String(value)]))
  const { status, body } = await service.call(`/v1/apps/${app}/history?${query}`, { key })
  expect([input, status, status === 200 ? "" : body]).toEqual([input, 200, ""])
  return body
}

async function refused(input: Record<string, unknown>) {
  const query = new URLSearchParams(Object.entries(input).map(([name, value]) => [name, String(value)]))
  const { status, body } = await service.call(`/v1/apps/${app}/history?${query}`, { key })
  return [status, body.error, body.field, body.detail]
}

/** Returns all pages of a call, in order. */
async function pages(input: object, limit: number): Promise<History[]> {
  const read = [await allPages({ ...input, limit })]
  for (;;) {
    const { nextCursor } = read.at(-1)!
    if (!nextCursor) return read
    read.push(await allPages({ ...input, limit, cursor: nextCursor }))
  }
}

/** Derives the expected narrower answer from the whole one. */
function narrowed(whole: History, from: string, to: string, terms?: string[]): History["keywords"] {
  const selected = whole.keywords.filter(({ term }) => terms?.includes(term) ?? true)
  return selected.map(({ term, series }) => {
    const points = series.filter(([day]) => from <= day && day <= to)
    const sources =
      points.length === 0 ? [] : [{ source: "apple-web-search", from: points[0]![0], to: points.at(-1)![0] }]
    return { term, sources, series: points }
  })
}

const day = fc.integer({ min: -20, max: DAYS + 30 }).map((back) => addDays(TODAY, -back))
const windows = fc.oneof(
  fc.constant({}),
  fc.record({ days: fc.integer({ min: 1, max: 400 }) }),
  fc
    .record({ from: fc.option(day, { nil: undefined }), to: fc.option(day, { nil: undefined }) })
    .filter(({ from, to }) => (from ?? FIRST) <= (to ?? TODAY) && (from ?? FIRST) <= TODAY && (to ?? TODAY) >= FIRST),
)

test("a request for some days or terms returns that part of the history, and its pages together equal it", async () => {
  const whole = await allPages()
  expect([whole.from, whole.to, whole.keywords.length]).toEqual([FIRST, TODAY, KEYWORDS])
  expect(Object.keys(whole)).toEqual(["country", "platform", "from", "to", "keywords"])
  const trackedTerms = whole.keywords.map(({ term }) => term)
  const terms = fc.option(fc.uniqueArray(fc.constantFrom(...trackedTerms, "tae", "not tracked"), { minLength: 1 }), {
    nil: undefined,
  })
  const property = fc.asyncProperty(windows, terms, fc.integer({ min: 1, max: 15 }), async (window, terms, limit) => {
    const input = Object.fromEntries(Object.entries({ ...window, terms }).filter(([, value]) => value !== undefined))
    const { days, from = FIRST, to = TODAY } = window as { days?: number; from?: string; to?: string }
    const first = [FIRST, days === undefined ? from : addDays(TODAY, 1 - days)].sort()[1]!
    const last = [TODAY, to].sort()[0]!
    const answer = await allPages(input)
    expect([answer.from, answer.to]).toEqual([first, last])
    expect(answer.keywords as object).toEqual(narrowed(whole, first, last, terms))
    expect(answer.notTracked).toEqual(terms?.filter((term) => !trackedTerms.includes(term)))
    const read = await pages(input, limit)
    expect(read.flatMap(({ keywords }) => keywords)).toEqual(answer.keywords)
    expect(read.map(({ keywords }) => keywords.length <= limit)).not.toContain(false)
    for (const { keywords: _, nextCursor: __, ...rest } of read) {
      const { keywords: ___, ...wholeRest } = answer
      expect(rest).toEqual(wholeRest)
    }
  })
  await fc.assert(property, { numRuns: cases(8, 40), seed: 14 })
})

test("an untracked storefront is paged like a tracked storefront, and its keywords have no points", async () => {
  const all = (await allPages({ country: "de" })).keywords
  expect(all.length).toBe(KEYWORDS)
  const read = await pages({ country: "de", days: 7 }, 5)
  expect(read.map(({ keywords }) => keywords.length)).toEqual([5, 5, 2])
  expect(read.flatMap(({ keywords }) => keywords)).toEqual(all)
  const { keywords, notTracked } = await allPages({ country: "de", terms: [all[3]!.term, "tae"] })
  expect([keywords, notTracked]).toEqual([[all[3]!], ["tae"]])
})

describe("the window of a history", () => {
  test("a window is given by days or by from and to, and an invalid one is refused with instructions", async () => {
    expect(await refused({ days: 7, from: "2025-11-01" })).toEqual([
      400,
      "bad_days",
      "days",
      "days replaces from and to: send one or the other.",
    ])
    expect((await refused({ days: 7, to: "2025-11-01" }))[1]).toBe("bad_days")
    expect((await refused({ from: "2025-11-02", to: "2025-11-01" })).slice(0, 3)).toEqual([400, "bad_range", "from"])
    expect((await refused({ from: "2025-11-21" })).slice(0, 3)).toEqual([400, "bad_range", "from"])
  })

  test("a window starts where the plan starts, and one that ends before that is refused", async () => {
    expect((await allPages({ days: 1_000 })).from).toBe(FIRST)
    expect((await allPages({ from: "2020-01-01" })).from).toBe(FIRST)
    expect((await refused({ to: addDays(FIRST, -1) })).slice(0, 3)).toEqual([400, "bad_range", "to"])
    const pro = await service.workspace({ plan: "pro" })
    const tracked = { workspaceId: pro, iosId: "900000002", countries: ["us"], keywords: ["tea"], origin: "own" }
    const its = await trackOwn(sql, tracked)
    const { status, body } = await service.call(`/v1/apps/${its}/history?to=2025-05-01`, {
      key: await service.key(pro),
    })
    expect([status, body.error, body.detail]).toEqual([
      403,
      "plan_required",
      "This plan includes history of the last 90 days.",
    ])
  })
})

describe("a page of a history", () => {
  test("adding and removing keywords between two pages neither skips a keyword nor changes the window", async () => {
    const whole = await allPages({ days: 10 })
    const terms = whole.keywords.map(({ term }) => term)
    const first = await allPages({ days: 10, limit: 5 })
    const second = await allPages({ days: 10, limit: 5, cursor: first.nextCursor })
    await sql.begin((tx) => addTerms(tx, app, "all", ["a first one", "zebra"]))
    // deletes the term that the cursor names
    await sql`delete from tracked_term where app_id = ${app} and term = ${terms[4]!}`
    now = new Date("2025-11-21T00:00:01Z")
    try {
      expect(await allPages({ days: 10, limit: 5, cursor: first.nextCursor })).toEqual(second)
      const third = await allPages({ days: 10, limit: 5, cursor: second.nextCursor })
      expect(third.keywords.map(({ term }) => term)).toEqual([...terms.slice(10), "a first one", "zebra"])
      expect([third.from, third.to, third.nextCursor]).toEqual([whole.from, whole.to, null])
    } finally {
      now = new Date(`${TODAY}T12:00:00Z`)
      await sql`delete from tracked_term where app_id = ${app} and term in ('a first one', 'zebra')`
      await sql`insert into tracked_term (app_id, country, term, position) values (${app}, 'us', ${terms[4]!}, 5)`
    }
  })

  test("a cursor is accepted only with the call that returned it, and other cursors get an explanation", async () => {
    const { nextCursor } = await allPages({ days: 10, limit: 5 })
    const cursor = nextCursor as string
    const swapped = cursor.slice(0, -1) + (cursor.endsWith("A") ? "B" : "A")
    const forged = Buffer.from(`${"x".repeat(12)}["2025-01-01","2025-01-02",1,"a"]`).toString("base64url")
    const wrong = [
      { cursor: "page2", days: 10 },
      { cursor: swapped, days: 10 },
      { cursor: `${cursor} `, days: 10 },
      { cursor: forged, days: 10 },
      { cursor, days: 11 },
      { cursor },
      { cursor, days: 10, country: "de" },
      { cursor, days: 10, terms: "tea" },
    ]
    for (const input of wrong) {
      const [status, code, field, detail] = await refused(input)
      expect([input, status, code, field]).toEqual([input, 400, "bad_cursor", "cursor"])
      expect(detail).toStartWith("cursor must be the nextCursor of a page with the same app")
    }
    // the remaining keywords on one page
    const rest = await allPages({ days: 10, cursor })
    expect([rest.keywords.length, rest.nextCursor]).toEqual([KEYWORDS - 5, null])
  })
})

describe("the database work of a history", () => {
  const worked = async (input: object) => {
    const works: Work[] = []
    const ctx = contextOf(explainEach(sql, works), workspace, now)
    const caller = { ...ctx.caller, entitlements: { ...ctx.caller.entitlements, historyDays: 365 } }
    await ask(getRankHistory, { ...ctx, caller }, { appId: app, ...input })
    const months = new Set(works.flatMap(({ plan }) => monthsIn(plan)))
    return { months: months.size, rows: works.reduce((sum, { rows }) => sum + rows, 0) }
  }
  const monthsIn = (step: Step): string[] => [
    ...(/^rank_month_\d/.test(step["Relation Name"] ?? "") ? [step["Relation Name"] as string] : []),
    ...(step.Plans ?? []).flatMap(monthsIn),
  ]

  test("a narrow request scans only the months of its window and the rows of its keywords", async () => {
    const year = await worked({})
    expect(year.months).toBeGreaterThanOrEqual(12)
    expect(await worked({ days: 7 })).toMatchObject({ months: 1 })
    expect(await worked({ from: "2025-02-25", to: "2025-03-03" })).toMatchObject({ months: 2 })
    const term = (await allPages()).keywords[7]!.term
    for (const input of [{ days: 7 }, { terms: [term] }, { limit: 1 }]) {
      const { rows } = await worked(input)
      expect([input, rows, rows < year.rows / 4]).toEqual([input, rows, true])
    }
  })
})

describe("the history tool", () => {
  test("the history tool reads 30 days by default, or the days, from and to that are given", async () => {
    const of = async (input: object) => (await service.tool("get_rank_history", { appId: app, ...input }, { key })).body
    expect(await of({})).toEqual(await allPages({ days: 30 }))
    expect(await of({ days: 90 })).toEqual(await allPages({ days: 90 }))
    expect(await of({ from: FIRST })).toEqual(await allPages())
    expect(await of({ to: "2025-06-30" })).toEqual(await allPages({ to: "2025-06-30" }))
    expect(await of({ days: 7, to: "2025-06-30" })).toMatchObject({ error: "bad_days", field: "days" })
  })
})
