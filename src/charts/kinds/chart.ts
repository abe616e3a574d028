import * as v from "valibot"
import { kind, type StoredRange } from "../../core/kind.ts"
import { hold, isGenre } from "../../core/observation/invariants.ts"
import { Whole } from "../../core/observation/line-parts.ts"
import { LineProblem } from "../../core/observation/line-problem.ts"
import type { Side } from "../../core/observation/provenance.ts"
import type { SurrogateIds } from "../../core/observation/subjects.ts"
import type { Sql } from "../../database/types.ts"
import {
  CHART_SOURCE_CODES,
  CHART_SOURCES,
  CHARTS,
  type ChartSource,
  chartSourceOf,
  DEVICES,
} from "../../lib/charts.ts"
import { dayOf } from "../../lib/days.ts"
import { pagesOf } from "../../measuring/record/best-rows.ts"
import { differenceOf } from "../../measuring/record/differences.ts"
import { deriveCharts, storeCharts } from "../store/charts.ts"
import { type ChartObservation, type ChartQuestion, shape } from "./chart-shape.ts"

/** A top chart of one storefront, device and genre. The best reading of each source and time is kept. */
export const chart = kind<ChartObservation, ChartQuestion>({
  name: "chart",
  sources: CHART_SOURCES,
  private: false,
  demo: true,
  monthly: true,
  shape,
  line: {
    entries: { depth: v.optional(Whole) },
    read({ depth, ...rest }: ChartObservation) {
      if (depth === undefined && rest.apps.length === 0)
        throw new LineProblem("depth: must be given when apps is empty")
      return { ...rest, depth: depth ?? rest.apps.length }
    },
  },
  question: {
    about: nameOf,
    checkSubject: (subject) => hold(isNamed(subject), "bad_text", "a chart is named by its device, chart and genre"),
  },
  names: (seen) => ({ chart: seen, apps: idsIn(seen) }),
  weight: ({ apps }) => apps.length,
  async store(tx, readings, ids) {
    const charts = await storeCharts(tx, readings, ids)
    return { placed: charts.map(({ from }) => from), shown: charts, named: readings.map((from) => namedIn(from, ids)) }
  },
  // Runs after the facts of apps are stored: apps on a followed chart become due, and rows of `due` are locked last.
  async derive(tx, { placed }, { chartOf }) {
    await deriveCharts(
      tx,
      placed.map((from) => ({ chartId: chartOf(from), day: dayOf(from.seenAt) })),
    )
  },
  stored: readCharts,
  replay: {
    subjects: (previous) => [nameOf(previous)],
    toQuestion: chartNamed,
    compare: (previous, now) => [
      differenceOf("places", idsIn(previous), idsIn(now), [
        now.depth !== previous.depth && `depth ${now.depth}, was ${previous.depth}`,
      ]),
    ],
    isStored: (sql) => sql`
      select
      from chart c
      join chart_results r on r.chart_id = c.id
      where (c.platform, c.storefront) = (a.platform, a.storefront)
        and (c.device, c.chart, c.genre)
          = (split_part(a.subject, ' ', 1), split_part(a.subject, ' ', 2), split_part(a.subject, ' ', 3))
        and r.day = (a.at at time zone 'utc')::date and r.seen_at = a.at and r.sha256 = a.sha256`,
  },
  latest(sql, { platform, storefront, subject }, since) {
    const { device, chart, genre } = chartNamed({ storefront }, subject)
    return sql`
      select max(r.seen_at) as "seenAt"
      from chart c
      join chart_results r on r.chart_id = c.id
      where (c.platform, c.storefront, c.device, c.chart, c.genre)
        = (${platform}, ${storefront}, ${device}, ${chart}, ${genre})
        and r.complete and r.day >= (${since}::timestamptz at time zone 'utc')::date and r.seen_at >= ${since}`
  },
  example: {
    source: "import",
    platform: "ios",
    storefront: "jp",
    device: "iphone",
    chart: "free",
    genre: "6015",
    seenAt: "2025-10-25T03:25:01Z",
    apps: [{ id: "1435783608", name: "PayPay" }, { id: "1156875272" }],
  },
})

function nameOf({ device, chart, genre }: Omit<ChartQuestion, "storefront">): string {
  return `${device} ${chart} ${genre}`
}

function isNamed(subject: string): boolean {
  try {
    return isGenre(chartNamed({ storefront: "" }, subject).genre)
  } catch {
    return false
  }
}

/** Parses a subject such as "iphone free 6013". Throws RangeError if it names no chart. */
export function chartNamed({ storefront }: Pick<Side, "storefront">, subject: string): ChartQuestion {
  const [given, called, genre, ...more] = subject.split(" ")
  const [device, chart] = [DEVICES.find((item) => item === given), CHARTS.find((item) => item === called)]
  if (!device || !chart || !genre || more.length > 0) throw new RangeError("a chart is a device, its name and a genre")
  return { storefront, device, chart, genre }
}

function idsIn({ apps }: ChartObservation): string[] {
  return apps.map(({ id }) => id)
}

/**
 * Used for all readings, including those that are already stored or superseded: the stored names must not depend on the
 * order of recording.
 */
function namedIn(from: ChartObservation, { appOf }: SurrogateIds) {
  return { from, apps: from.apps, appIds: idsIn(from).map((id) => appOf(from.platform, id)) }
}

// Readings per page. With 200 places each, a page looks up some 10,000 ids.
const PAGE = 50

interface StoredChartRow extends Omit<ChartObservation, "source" | "egress"> {
  chartId: number
  day: string
  code: number
  /** `seenAt` as text, with microseconds. */
  seen: string
  egress: string | null
}

async function* readCharts(sql: Sql, { since, sources }: StoredRange): AsyncGenerator<ChartObservation[]> {
  const codes = sources.map((source) => CHART_SOURCE_CODES[source as ChartSource])
  const pages = pagesOf(
    (after: StoredChartRow | null) => sql<StoredChartRow[]>`
      select 'chart' as kind, r.chart_id as "chartId", r.day, r.source as code, r.seen_at as "seenAt",
        r.seen_at::text as seen, r.depth, r.complete, r.parser, r.origin, r.egress, r.sha256, c.platform, c.storefront,
        c.device, c.chart, c.genre, coalesce(a.apps, '[]') as apps
      from (
        select *
        from chart_results
        where day >= ${since ?? "0001-01-01"} and source = any(${codes}::smallint[])
          and (chart_id, day, source, seen_at) > (
            ${after?.chartId ?? 0}, ${after?.day ?? "0001-01-01"}::date, ${after?.code ?? 0}::smallint,
            ${after?.seen ?? "-infinity"}::text::timestamptz
          )
        order by chart_id, day, source, seen_at
        limit ${PAGE}
      ) r
      join chart c on c.id = r.chart_id
      cross join lateral (
        select jsonb_agg(jsonb_build_object('id', s.store_id) order by u.place) as apps
        from unnest(r.app_ids) with ordinality u (id, place)
        join store_app s on s.id = u.id
      ) a
      order by r.chart_id, r.day, r.source, r.seen_at
      limit ${PAGE}`,
  )
  for await (const rows of pages) {
    yield rows.map(({ chartId: _, day: __, seen: ___, code, egress, ...read }) => {
      return { ...read, source: chartSourceOf(code), ...(egress !== null && { egress }) }
    })
  }
}
