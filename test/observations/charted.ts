import { hash } from "node:crypto"
import type { Sql } from "../../src/database/types.ts"
import type { ChartKey } from "../../src/observations/rows/chart-identities.ts"
import type { ChartObservation } from "../../src/observations/types.ts"

export const FINANCE: ChartKey = {
  platform: "ios",
  storefront: "us",
  device: "iphone",
  chart: "free",
  genre: "6015",
}

/** A complete reading of a chart, the US finance chart of free apps unless `rest` says otherwise; its hash follows. */
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

/** All that is stored of charts, by the stores' own ids: surrogate ids follow who came first. */
export async function chartTables(sql: Sql): Promise<unknown[]> {
  const tables = await Promise.all([
    sql`
      select platform, storefront, device, chart, genre, first_day, last_day
      from chart
      order by platform, storefront, device, chart, genre`,
    sql`
      select c.storefront, c.device, c.chart, c.genre, r.day, r.source, r.seen_at, r.depth, r.complete, r.parser, r.origin,
        r.egress, encode(r.sha256, 'hex') as sha256,
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

/** The places as they follow from the readings alone, worked out apart from the product's statements. */
export async function placesFromReadings(sql: Sql): Promise<string[]> {
  const rows = await sql<{ chart: number; day: string; source: number; depth: number; seenAt: Date; ids: number[] }[]>`
    select chart_id as chart, day, source, depth, seen_at as "seenAt", app_ids as ids
    from chart_results
    where complete
    order by chart_id, day, source, seen_at`
  const held = new Map<number, (typeof rows)[number]>()
  for (const row of rows) {
    const other = held.get(row.chart)
    const order = other && (compare(row.day, other.day) || other.source - row.source || row.depth - other.depth)
    if (!other || order! > 0 || (order === 0 && row.seenAt > other.seenAt)) held.set(row.chart, row)
  }
  return [...held.values()]
    .flatMap(({ chart, day, ids }) => ids.map((id, i) => `${chart} ${day} ${i + 1} ${id}`))
    .sort()
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
