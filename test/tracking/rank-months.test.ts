import { beforeAll, expect, test } from "bun:test"
import fc from "fast-check"
import type { Sql } from "../../src/database/types.ts"
import type { SearchObservation } from "../../src/keywords/kinds/search-shape.ts"
import { readKeywordsNow } from "../../src/keywords/read/ranks.ts"
import { readRankSeries } from "../../src/keywords/read/series.ts"
import { RANK_SOURCES } from "../../src/lib/upstreams.ts"
import { deriveMonths, readMonths } from "../../src/tracking/rank-months.ts"
import { readVisibleApps } from "../../src/tracking/tracked-app.ts"
import { deleteRows, freshDatabase } from "../database.ts"
import { cases } from "../long.ts"
import { contextOf, NOW, newWorkspace, reading, stored } from "../measuring/record/measured.ts"
import { record } from "../record.ts"
import { trackOwn } from "../world/tracked.ts"

const TERMS = ["tea", "mate", "coffee"]
const OWN_APPS = ["10001", "10002"]

let sql: Sql
let workspaceId: number

beforeAll(async () => {
  sql = await freshDatabase()
  workspaceId = await newWorkspace(sql)
  for (const iosId of OWN_APPS) {
    await trackOwn(sql, { workspaceId, iosId, keywords: TERMS })
  }
})

// few times and depths, so that readings share a day, tie and replace one another
const anyReading = fc
  .record({
    term: fc.constantFrom(...TERMS, "untracked"),
    day: fc.constantFrom("2025-01-31", "2025-02-01", "2025-02-27", "2025-02-28", "2025-03-01", "2025-03-31"),
    hour: fc.constantFrom("00:00:00", "12:00:00", "23:59:59.999"),
    source: fc.constantFrom(...RANK_SOURCES.filter((source) => source !== "play-search")),
    extra: fc.constantFrom(0, 0, 5),
    complete: fc.boolean(),
    parser: fc.constantFrom(1, 1, 2),
    ids: fc.uniqueArray(fc.constantFrom(...OWN_APPS, "10003", "10004", "10005"), { minLength: 1, maxLength: 5 }),
  })
  .map(({ term, day, hour, source, extra, complete, parser, ids }) =>
    reading(term, `${day}T${hour}Z`, ids, { source, complete, parser, depth: ids.length + extra }),
  )

test("derived months equal the result of a plain scan of the readings, in any order of recording", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(anyReading, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 3 }),
      async (batches) => {
        await deleteRows(sql, "search_results", "rank_month", "list_month", "list_now")
        await sql`update list set first_day = null, last_day = null`
        for (const batch of batches) await record(sql, batch, () => NOW)
        expect(await derived()).toEqual(expected(batches.flat()))
      },
    ),
    { seed: 20251025, numRuns: cases(2, 12) },
  )
}, 120_000)

test("a rebuild fills the emptied tables of months with the same rows as before", async () => {
  await record(sql, fc.sample(anyReading, { seed: 7, numRuns: 100 }), () => NOW)
  const before = await stored(sql)
  expect(await sql`select 1 from rank_month`).not.toHaveLength(0)
  await deleteRows(sql, "rank_month", "list_month")
  expect(await stored(sql)).not.toBe(before)
  const recordAgain = () =>
    sql.begin(async (tx) => {
      const lists = await tx<{ id: number }[]>`select id from list order by id`
      await deriveMonths(
        tx,
        await readMonths(
          tx,
          lists.map(({ id }) => id),
        ),
      )
    })
  await recordAgain()
  expect(await stored(sql)).toBe(before)
  await recordAgain()
  expect(await stored(sql)).toBe(before)
})

type SeriesByTerm = Record<string, [day: string, rank: number | null, source: string, depth: number][]>

async function derived(): Promise<{ series: SeriesByTerm; latest: Record<string, unknown> }> {
  const series: SeriesByTerm = {}
  const latest: Record<string, unknown> = {}
  for (const app of await readVisibleApps(sql, contextOf(sql, workspaceId).caller)) {
    const side = { platform: "ios" as const, storefront: "us" }
    for (const { term, points } of await readRankSeries(sql, app, { ...side, from: "2025-01-01", to: "2025-12-31" })) {
      series[`${app.iosId} ${term}`] = points.map(({ day, rank, source, depth }) => [day, rank, source, depth])
    }
    const { day, keywords } = await readKeywordsNow(sql, app, side)
    latest[app.iosId as string] = [day, keywords.map(({ term, measured, rank }) => [term, measured, rank])]
  }
  return { series, latest }
}

/** Returns the expected months, derived day by day from the readings alone. */
function expected(readings: SearchObservation[]): { series: SeriesByTerm; latest: Record<string, unknown> } {
  const byTermAndDay = new Map<string, SearchObservation>()
  for (const r of readings) {
    const key = `${r.term} ${r.source} ${r.seenAt.getTime()}`
    const previous = byTermAndDay.get(key)
    if (!previous || outranks(r, previous)) byTermAndDay.set(key, r)
  }
  const days = new Map<string, SearchObservation>()
  for (const r of byTermAndDay.values()) {
    if (!r.complete) continue
    const key = `${r.term} ${r.seenAt.toISOString().slice(0, 10)}`
    const previous = days.get(key)
    if (!previous || better(r, previous)) days.set(key, r)
  }
  const series: SeriesByTerm = {}
  const latest: Record<string, unknown> = {}
  for (const ownApp of OWN_APPS) {
    for (const term of TERMS) {
      series[`${ownApp} ${term}`] = [...days.values()]
        .filter((r) => r.term === term)
        .map((r): SeriesByTerm[string][number] => [
          r.seenAt.toISOString().slice(0, 10),
          rankIn(r, ownApp),
          r.source,
          r.depth,
        ])
        .sort(([a], [b]) => (a < b ? -1 : 1))
    }
    const last =
      TERMS.flatMap((term) => series[`${ownApp} ${term}`] as SeriesByTerm[string])
        .map(([day]) => day)
        .sort()
        .at(-1) ?? null
    const terms = TERMS.map((term) => {
      const point = (series[`${ownApp} ${term}`] as SeriesByTerm[string]).find(([day]) => day === last)
      return [term, point !== undefined, point?.[1] ?? null]
    })
    latest[ownApp] = [last, terms]
  }
  return { series, latest }
}

function rankIn(r: SearchObservation, appId: string): number | null {
  const place = r.results.findIndex(({ id }) => id === appId)
  return place < 0 ? null : place + 1
}

/** Returns whether a reading replaces another one of its list, source and time. */
function outranks(a: SearchObservation, b: SearchObservation): boolean {
  if (a.parser !== b.parser) return a.parser > b.parser
  if (a.complete !== b.complete) return a.complete
  if (a.depth !== b.depth) return a.depth > b.depth
  return Buffer.compare(a.sha256, b.sha256) > 0
}

function better(a: SearchObservation, b: SearchObservation): boolean {
  const place = (r: SearchObservation) => RANK_SOURCES.indexOf(r.source)
  if (place(a) !== place(b)) return place(a) < place(b)
  if (a.depth !== b.depth) return a.depth > b.depth
  return a.seenAt > b.seenAt
}
