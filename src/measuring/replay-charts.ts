import type { Sql } from "../database/types.ts"
import {
  CHART_SOURCE_CODES,
  type Chart,
  type ChartObservation,
  type ChartSource,
  chartSourceOf,
  type Device,
  type Platform,
} from "../observations/types.ts"
import type { Sources } from "../sources/all.ts"
import { parseBody } from "../sources/source.ts"
import { differing, type Range, type ReadFrom } from "./replay-subjects.ts"

interface ChartRow {
  chartId: number
  day: string
  code: number
  seenAt: Date
  /** To the microsecond. */
  seen: string
  depth: number
  parser: number
  origin: string
  sha256: Uint8Array
  platform: Platform
  storefront: string
  device: Device
  chart: Chart
  genre: string
  ids: string[]
}

// Of 200 places each, some 10,000 ids are looked up.
const CHART_PAGE = 50

/** Readings of charts that these sources gave, page by page. */
export async function* storedCharts(
  sql: Sql,
  sources: Sources["charts"],
  { since, source }: Range,
): AsyncGenerator<ReadFrom[]> {
  const asked = sources.filter(({ name }) => source === null || name === source)
  const codes = asked.map(({ name }) => CHART_SOURCE_CODES[name as ChartSource])
  if (codes.length === 0) return
  let after = { chartId: 0, day: "0001-01-01", code: 0, seen: "-infinity" }
  for (;;) {
    const rows = await sql<ChartRow[]>`
      select r.chart_id as "chartId", r.day, r.source as code, r.seen_at as "seenAt", r.seen_at::text as seen, r.depth,
        r.parser, r.origin, r.sha256, c.platform, c.storefront, c.device, c.chart, c.genre, coalesce(a.ids, '{}') as ids
      from (
        select *
        from chart_results
        where day >= ${since ?? "0001-01-01"} and source = any(${codes}::smallint[])
          and (chart_id, day, source, seen_at)
            > (${after.chartId}, ${after.day}::date, ${after.code}::smallint, ${after.seen}::text::timestamptz)
        order by chart_id, day, source, seen_at
        limit ${CHART_PAGE}
      ) r
      join chart c on c.id = r.chart_id
      cross join lateral (
        select array_agg(s.store_id order by u.place) as ids
        from unnest(r.app_ids) with ordinality u (id, place)
        join store_app s on s.id = u.id
      ) a
      order by r.chart_id, r.day, r.source, r.seen_at
      limit ${CHART_PAGE}`
    if (rows.length === 0) return
    yield rows.map((row) => chartOf(row, sources))
    after = rows.at(-1) as ChartRow
  }
}

function chartOf(row: ChartRow, sources: Sources["charts"]): ReadFrom {
  const { code, platform, storefront, device, chart, genre, seenAt, sha256, parser, origin, ids } = row
  const source = chartSourceOf(code)
  return {
    source,
    platform,
    storefront,
    seenAt,
    sha256,
    parser,
    subjects: [`${device} ${chart} ${genre}`],
    read(body) {
      const of = sources.find(({ name }) => name === source)!
      return { ...parseBody(of, { storefront, device, chart, genre }, body, undefined), origin }
    },
    compare(seen) {
      const { apps, depth } = seen as ChartObservation
      const now = apps.map(({ id }) => id)
      const places = differing(ids, now)
      const details = [
        ...(places > 0 ? [`${places} of ${Math.max(ids.length, now.length)} places`] : []),
        ...(depth !== row.depth ? [`depth ${depth}, was ${row.depth}`] : []),
      ]
      return [details.length > 0 ? { places, detail: details.join(", ") } : null]
    },
  }
}
