import { hash } from "node:crypto"
import type { ChartObservation } from "../../../src/charts/kinds/chart-shape.ts"
import type { ChartKey } from "../../../src/core/observation/subjects.ts"
import type { Sql } from "../../../src/database/types.ts"

export const FINANCE: ChartKey = {
  platform: "ios",
  storefront: "us",
  device: "iphone",
  chart: "free",
  genre: "6015",
}

/** Returns a complete reading of a chart; by default the US finance chart of free apps. The hash covers the reading. */
export function charted(
  seenAt: string,
  ids: readonly (string | number)[],
  rest: Partial<ChartObservation> = {},
): ChartObservation {
  const content = {
    kind: "chart" as const,
    source: "import" as const,
    ...FINANCE,
    depth: ids.length,
    complete: true,
    parser: 1,
    origin: "own",
    apps: ids.map((id) => ({ id: String(id) })),
    ...rest,
  }
  return { ...content, seenAt: new Date(seenAt), sha256: hash("sha256", JSON.stringify(content), "buffer") }
}

/** Returns everything stored of charts, by the stores' ids: surrogate ids depend on the order of recording. */
export async function chartTables(sql: Sql): Promise<unknown[]> {
  const tables = await Promise.all([
    sql`
      select platform, storefront, device, chart, genre, first_day, last_day
      from chart
      order by platform, storefront, device, chart, genre`,
    sql`
      select c.storefront, c.device, c.chart, c.genre, r.day, r.source, r.seen_at, r.depth, r.complete, r.parser,
        r.origin, r.egress, encode(r.sha256, 'hex') as sha256,
        array(
          select a.store_id
          from unnest(r.app_ids) with ordinality u (id, place)
          join store_app a on a.id = u.id
          order by u.place
        ) as apps
      from chart_results r
      join chart c on c.id = r.chart_id
      order by c.platform, c.storefront, c.device, c.chart, c.genre, r.day, r.source, r.seen_at`,
    sql`
      select c.storefront, c.device, c.chart, c.genre, p.rank, a.store_id, p.day
      from chart_place p
      join chart c on c.id = p.chart_id
      join store_app a on a.id = p.app_id
      order by c.platform, c.storefront, c.device, c.chart, c.genre, p.rank, a.store_id`,
    sql`
      select c.storefront, c.device, c.chart, c.genre, f.day, a.store_id
      from chart_first_seen f
      join chart c on c.id = f.chart_id
      join store_app a on a.id = f.app_id
      order by c.platform, c.storefront, c.device, c.chart, c.genre, f.day, a.store_id`,
    sql`
      select f.storefront, f.day, f.baseline, a.store_id, c.device, c.chart, c.genre
      from app_first_seen f
      join chart c on c.id = f.chart_id
      join store_app a on a.id = f.app_id
      order by f.storefront, a.store_id`,
    sql`
      select c.storefront, c.device, c.chart, c.genre, n.day, n.source, n.depth, n.seen_at
      from chart_now n
      join chart c on c.id = n.chart_id
      order by c.platform, c.storefront, c.device, c.chart, c.genre`,
    sql`
      select m.*, a.store_id, 0 as app_id
      from market_app m
      join store_app a on a.id = m.app_id
      order by m.storefront, a.store_id`,
    sql`
      select platform, store_id, developer, bundle_id, seen_at, source, origin
      from store_app
      order by platform, store_id`,
    sql`
      select platform, store_id, n.*, 0 as app_id
      from store_app_name n
      join store_app a on a.id = n.app_id
      order by platform, store_id, storefront`,
  ])
  return tables.map((rows) => [...rows])
}

/** Returns the places derived from the readings alone, without the product's statements. */
export async function placesFromReadings(sql: Sql): Promise<string[]> {
  const rows = await sql<{ chart: number; day: string; source: number; depth: number; seenAt: Date; ids: number[] }[]>`
    select chart_id as chart, day, source, depth, seen_at as "seenAt", app_ids as ids
    from chart_results
    where complete
    order by chart_id, day, source, seen_at`
  const latest = new Map<number, (typeof rows)[number]>()
  for (const row of rows) {
    const other = latest.get(row.chart)
    const order = other && (compare(row.day, other.day) || other.source - row.source || row.depth - other.depth)
    if (!other || order! > 0 || (order === 0 && row.seenAt > other.seenAt)) latest.set(row.chart, row)
  }
  return [...latest.values()]
    .flatMap(({ chart, day, ids }) => ids.map((id, i) => `${chart} ${day} ${i + 1} ${id}`))
    .sort()
}

/** Returns the first day of apps on charts, derived from the readings alone. */
export async function firstSeenFromReadings(sql: Sql): Promise<string[]> {
  const rows = await sql<{ chart: number; day: string; ids: number[] }[]>`
    select chart_id as chart, day, app_ids as ids
    from chart_results
    where complete
    order by day desc`
  const firstDays = new Map(rows.flatMap(({ chart, day, ids }) => ids.map((id) => [`${chart} ${id}`, day] as const)))
  return [...firstDays].map(([key, day]) => `${key} ${day}`).sort()
}

export async function firstSeen(sql: Sql): Promise<string[]> {
  const rows = await sql<
    { line: string }[]
  >`select chart_id || ' ' || app_id || ' ' || day as line from chart_first_seen`
  return rows.map(({ line }) => line).sort()
}

/**
 * Returns the first day of apps on any chart of a storefront, and whether they are new there, derived from the readings
 * alone.
 */
export async function newAppsFromReadings(sql: Sql): Promise<string[]> {
  const rows = await sql<{ storefront: string; chart: number; day: string; ids: number[] }[]>`
    select c.storefront, r.chart_id as chart, r.day, r.app_ids as ids
    from chart_results r
    join chart c on c.id = r.chart_id
    where r.complete
    order by r.day`
  const begun = new Map<number, string>()
  const firstOf = new Map<string, { day: string; baseline: boolean }>()
  for (const { storefront, chart, day, ids } of rows) {
    if (!begun.has(chart)) begun.set(chart, day)
    for (const id of ids) {
      const key = `${storefront} ${id}`
      const first = firstOf.get(key) ?? { day, baseline: false }
      if (first.day === day && begun.get(chart) === day) first.baseline = true
      firstOf.set(key, first)
    }
  }
  return [...firstOf].map(([key, { day, baseline }]) => `${key} ${day} ${baseline}`).sort()
}

export async function newApps(sql: Sql): Promise<string[]> {
  const rows = await sql<{ line: string }[]>`
    select concat_ws(' ', storefront, app_id, day, case when baseline then 'true' else 'false' end) as line
    from app_first_seen`
  return rows.map(({ line }) => line).sort()
}

/**
 * Returns the finder's places: those of each list with the app's first day ("-" if unknown), and the best place in each
 * storefront.
 */
export async function listsNow(sql: Sql): Promise<string[]> {
  const places = await sql<{ line: string }[]>`
    select concat_ws(' ', n.chart_id, n.day, p.rank, p.app_id, coalesce(m.first_day::text, '-')) as line
    from chart_now n
    join chart c on c.id = n.chart_id
    join chart_place p on p.chart_id = n.chart_id
    join market_app m on (m.app_id, m.storefront) = (p.app_id, c.storefront)`
  const best = await sql<{ line: string }[]>`
    select concat_ws(' ', 'best', m.storefront, m.app_id, m.store_id, coalesce(m.first_day::text, '-'), m.rank,
        coalesce(m.free::text, '-'), coalesce(m.paid::text, '-'), coalesce(m.grossing::text, '-'),
        coalesce(m.ipad::text, '-')) as line
    from market_app m`
  return [...places, ...best].map(({ line }) => line).sort()
}

/** Returns the finder's places, derived from the readings alone. */
export async function listsFromReadings(sql: Sql): Promise<string[]> {
  const rows = await sql<{ id: number; storefront: string; kind: string }[]>`
    select id, storefront, device || ' ' || chart as kind
    from chart`
  const charts = new Map(rows.map((row) => [row.id, row]))
  const storeIds = new Map((await sql`select id, store_id from store_app`).map(({ id, store_id }) => [id, store_id]))
  const first = new Map(
    (await newAppsFromReadings(sql)).map((line) => {
      const [storefront, app, day, baseline] = line.split(" ")
      return [`${storefront} ${app}`, baseline === "true" ? "-" : day]
    }),
  )
  const ranks = new Map<string, { kind: string; rank: number }[]>()
  const places = (await placesFromReadings(sql)).map((line) => {
    const [id, , rank, app] = line.split(" ")
    const { storefront, kind } = charts.get(Number(id))!
    const key = `${storefront} ${app}`
    ranks.set(key, [...(ranks.get(key) ?? []), { kind, rank: Number(rank) }])
    return `${line} ${first.get(key)}`
  })
  const best = [...ranks].map(([key, ownPlaces]) => {
    const of = (kind: string) => {
      const some = ownPlaces.filter((place) => place.kind === kind).map(({ rank }) => rank)
      return some.length === 0 ? "-" : Math.min(...some)
    }
    const kinds = ["iphone free", "iphone paid", "iphone grossing", "ipad free"].map(of)
    const all = Math.min(...ownPlaces.map(({ rank }) => rank))
    return ["best", key, storeIds.get(Number(key.split(" ")[1])), first.get(key), all, ...kinds].join(" ")
  })
  return [...places, ...best].sort()
}

export async function places(sql: Sql): Promise<string[]> {
  const rows = await sql<{ line: string }[]>`
    select chart_id || ' ' || day || ' ' || rank || ' ' || app_id as line
    from chart_place
    order by chart_id, rank`
  return rows.map(({ line }) => line).sort()
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
