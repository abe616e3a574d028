import type { Sql } from "../../../src/database/types.ts"
import { search } from "../../../src/keywords/kinds/search.ts"
import type { SearchObservation } from "../../../src/keywords/kinds/search-shape.ts"
import { readLastDay, readRatingsUntil, readReadingApps, readReadingsOn } from "../../../src/keywords/read/evidence.ts"
import { readAttempts } from "../../../src/keywords/read/keyword-standing.ts"
import { readMetricRecords } from "../../../src/keywords/read/metric-records.ts"
import { readOwn } from "../../../src/keywords/read/own-reading.ts"
import { readPlaces } from "../../../src/keywords/read/places-above.ts"
import { termPairs } from "../../../src/keywords/read/term-days.ts"
import { readDays, readLastDayBy } from "../../../src/keywords/read/term-results.ts"
import { latestTenBetween } from "../../../src/keywords/store/keyword-inputs.ts"
import { addDays, dayOf } from "../../../src/lib/days.ts"
import type { RankSource } from "../../../src/lib/upstreams.ts"
import { RANK_SOURCES } from "../../../src/lib/upstreams.ts"
import { randomFrom } from "../../market/formulas/calibration.ts"
import { reading } from "./measured.ts"

/** The day of the latest reading. */
const LAST = "2025-11-19"
const DAYS = 75
export const TERMS = ["tea", "green tea", "oolong"]
const SOURCES: RankSource[] = ["apple-web-search", "apple-store-search", "import", "foreign"]

/**
 * Returns readings of eleven weeks. Lists are mostly the same from day to day; one is 250 deep and always changes.
 * There are several readings of a day, some of one moment by other sources and parsers, incomplete and empty ones, and
 * readings of other countries, of other instances and of the demo.
 */
export function randomReadings(seed: number): SearchObservation[] {
  const random = randomFrom(seed)
  const below = (limit: number) => Math.floor(random() * limit)
  return Array.from({ length: 300 }, (_, i) => {
    const [term, day] = [TERMS[i % 3]!, addDays(LAST, -below(DAYS))]
    const second = below(3) === 0 ? 36_000 : below(86_400)
    const at = new Date(Date.parse(day) + second * 1_000 + below(2) * 7).toISOString()
    const source = SOURCES[below(5) % SOURCES.length]!
    const length = i % 3 === 2 ? 200 + below(50) : [0, 5, 12, 30][below(4)]!
    const ids = idsOf(length, i % 3 === 2 ? 900 : 34, below)
    return reading(term, at, ids, {
      source,
      depth: Math.min(250, Math.max(1, length + below(3))),
      complete: below(6) > 0,
      parser: 1 + below(3),
      origin: i % 11 === 0 ? "demo" : i % 7 === 0 ? "elsewhere" : "own",
      ...(below(3) > 0 && source !== "import" && { egress: ["us", "de"][below(2)]! }),
      results: ids.map((id, place) => ({
        id,
        ...(place < 2 && source === "apple-web-search" && { ratings: 100 + i }),
      })),
    })
  })
}

function idsOf(length: number, apps: number, below: (limit: number) => number): string[] {
  const order = Array.from({ length: Math.max(length, apps) }, (_, app) => app)
  for (let i = 0; i < length; i++) {
    const other = Math.min(order.length - 1, i + below(apps > 100 ? order.length - i : 3))
    ;[order[i], order[other]] = [order[other]!, order[i]!]
  }
  return order.slice(0, length).map((app) => String(10_001 + app))
}

/** Returns every stored reading. */
async function readReadings(sql: Sql) {
  return [
    ...(await sql`
      select l.term, r.day, r.source, r.seen_at::text as seen, r.depth, r.complete, r.parser, r.origin, r.egress,
        encode(r.sha256, 'hex') as sha256,
        array(
          select store_id
          from unnest(r.app_ids) with ordinality u (id, place)
          join store_app using (id)
          order by place
        ) as ids
      from list l
      join search_results r on r.list_id = l.id
      order by l.term, r.day, r.source, r.seen_at`),
  ]
}

/** Returns the answers of every reader of search results, on `count` past days. `app` is tracked in the US. */
export async function readAnswers(sql: Sql, app: string, count = 16) {
  const days = Array.from({ length: count }, (_, i) => addDays(LAST, -Math.ceil(DAYS / count) * i))
  const apps = await sql<{ id: number; storeId: string }[]>`select id, store_id as "storeId" from store_app`
  const idOf = new Map(apps.map(({ id, storeId }) => [id, storeId]))
  const ownApp = apps.find(({ storeId }) => storeId === "10001")!.id
  const of = <Row extends { appIds: number[] }>(row: Row | null) =>
    row && { ...row, appIds: row.appIds.map((id) => idOf.get(id)) }
  const each = async <Answer>(ask: (list: (typeof LISTS)[number], day: string) => Promise<Answer>) =>
    await Promise.all(LISTS.flatMap((list) => days.map((day) => ask(list, day))))
  const place = { appId: app, platform: "ios" as const, storefront: "us", storeAppId: ownApp }
  const side = { appId: app, platform: "ios" as const, storefront: "us", storeAppId: ownApp, bundleId: null } as never
  return {
    readings: await readReadings(sql),
    derived: [
      ...(await sql`
        select l.term, l.first_day, l.last_day, m.month, encode(m.sources, 'hex') as sources,
          encode(m.depths, 'hex') as depths, encode(r.ranks, 'hex') as ranks
        from list l
        left join list_month m on m.list_id = l.id
        left join rank_month r on (r.list_id, r.month) = (l.id, m.month)
        order by 1, 4`),
    ],
    now: (
      await sql`select term, day, seen_at, source, depth, origin, app_ids as "appIds" from list_now order by term`
    ).map((row) => of(row as never)),
    windows: await each(async (list, day) =>
      (await readDays(sql, list, { from: addDays(day, -9), to: day, top: 7 })).map(of),
    ),
    lastBy: await each((list, day) => readLastDayBy(sql, list, day)),
    last: await each((list) => readLastDay(sql, list)),
    own: await each(async (list, day) => of(await readOwn(sql, list, new Date(`${day}T09:00:00Z`)))),
    on: await each((list, day) => readReadingsOn(sql, { list, day, app: ownApp })),
    first: await each(async (list, day) => {
      const [first] = await readReadingsOn(sql, { list, day, app: ownApp })
      if (!first) return null
      const listed = await readReadingApps(sql, { ...list, day, seenAt: first.seenAt }, { most: 5, countries: [] })
      return listed.map(({ id: _, ...row }) => row)
    }),
    ratings: await Promise.all(days.map((day) => readRatingsUntil(sql, { app: ownApp, storefront: "us", day }))),
    pairs: await Promise.all(
      days.map(async (day) => {
        const pairs = termPairs(sql, { ...place, origin: "own", from: addDays(day, -6), to: day, terms: TERMS })
        const rows = await sql<{ term: string; appIds: number[]; wasIds: number[] | null }[]>`
          with ${pairs}
          select term, day, source, depth, rank, seen_at, was_day, was_source, was_depth, was_rank,
            app_ids as "appIds", was_ids as "wasIds"
          from pair
          order by term, day`
        return rows.map((row) => ({ ...of(row), wasIds: row.wasIds?.map((id) => idOf.get(id)) }))
      }),
    ),
    tens: await Promise.all(
      days.map(async (day) =>
        (
          await sql<{ appIds: number[] }[]>`
            select l.term, r.day, r.source, r.depth, r.results, r.seen_at, r.sha256, r.app_ids as "appIds"
            from list l
            cross join lateral (${latestTenBetween(sql, { from: addDays(day, -30), to: day })}) r
            order by l.term`
        ).map(of),
      ),
    ),
    places: (await Array.fromAsync(readPlaces(sql, side, { onlyAbove: false })))
      .flat()
      .map(({ apps: appSet, ...row }) => ({ ...row, apps: [...appSet].map((id) => idOf.get(id)) })),
    attempts: await Promise.all(LISTS.map((list) => readAttempts(sql, list))),
    records: await Promise.all(
      LISTS.map((list) =>
        readMetricRecords(sql, list, "difficulty", { from: addDays(LAST, -DAYS), to: LAST, after: null, limit: 500 }),
      ),
    ),
    latest: await each(async (list, day) => [
      ...(await sql`${search.latest!(sql, { ...list, subject: list.term } as never, new Date(day))}`),
    ]),
    replayed: await storedIn(sql, { since: null }),
    replayedSince: await storedIn(sql, { since: addDays(LAST, -33) }),
  }
}

const LISTS = TERMS.map((term) => ({ platform: "ios" as const, storefront: "us", term }))

async function storedIn(sql: Sql, { since }: { since: string | null }) {
  const all = (await Array.fromAsync(search.stored!(sql, { since, sources: [...RANK_SOURCES] } as never))).flat()
  const key = ({ term, source, seenAt }: SearchObservation) =>
    `${term} ${dayOf(seenAt)} ${source} ${seenAt.toISOString()}`
  return (all as SearchObservation[]).toSorted((a, b) => (key(a) < key(b) ? -1 : 1))
}
