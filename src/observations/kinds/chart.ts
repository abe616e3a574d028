import * as v from "valibot"
import type { Sql } from "../../database/types.ts"
import { checkApp } from "../check-app.ts"
import { differenceOf } from "../differences.ts"
import { Flag, list, SoldApp, Text, Whole } from "../import/line-parts.ts"
import { checkIds, hold, isGenre } from "../invariants.ts"
import { kind, type ObservationOf, type StoredRange } from "../kind.ts"
import { LineProblem } from "../line-problem.ts"
import type { Place } from "../provenance.ts"
import { pagesOf } from "../rows/best-rows.ts"
import { storeCharts } from "../rows/charts.ts"
import type { Identified } from "../rows/identified.ts"
import { rule, ruleBy } from "../shape.ts"
import {
  CHART_SOURCE_CODES,
  CHART_SOURCES,
  CHARTS,
  type Chart,
  type ChartSource,
  chartSourceOf,
  DEVICES,
  type Device,
} from "../types-charts.ts"

const ONE_CHART = `must be one of ${CHARTS.join(", ")}`
const NO_GENRE = "a genre must be a number of the store"

/** As a chart shows it. Facts left out were not shown. */
const App = v.pipe(
  v.strictObject(SoldApp),
  ruleBy((app, { seenAt }) => {
    checkApp(app, seenAt)
    hold(app.genre === undefined || isGenre(app.genre), "bad_text", NO_GENRE)
  }),
)
export type ChartApp = v.InferOutput<typeof App>

const shape = v.pipe(
  v.strictObject({
    device: v.pipe(
      v.picklist(DEVICES, `must be ${DEVICES.join(" or ")}`),
      rule(
        "bad_platform",
        "charts are the App Store's: the platform must be ios",
        (_, { platform }) => platform === "ios",
      ),
      rule("bad_kind", `the device must be ${DEVICES.join(" or ")}`, (device) => DEVICES.includes(device)),
    ),
    chart: v.pipe(
      v.picklist(CHARTS, ONE_CHART),
      rule("bad_kind", `the chart ${ONE_CHART}`, (chart) => CHARTS.includes(chart)),
    ),
    /** The store's own id; ALL_APPS for the overall chart. */
    genre: v.pipe(Text, rule("bad_text", NO_GENRE, isGenre)),
    /** In the order shown; rank = index + 1. At most `depth`. */
    apps: v.pipe(
      list(App),
      ruleBy((apps, { platform }) => {
        checkIds(
          platform,
          apps.map(({ id }) => id),
          "apps",
        )
      }),
    ),
    /** How many places were read, from 0: an app that is not among `apps` may stand on any place below them. */
    depth: v.pipe(
      Whole,
      rule("bad_depth", "the depth must be a whole number from 0 to 1000", (depth) => {
        return Number.isInteger(depth) && depth >= 0 && depth <= 1_000
      }),
    ),
    /** False when the reading broke off before its depth. */
    complete: v.pipe(
      v.optional(Flag, true),
      rule("bad_depth", "complete must be true or false", (complete) => typeof complete === "boolean"),
    ),
  }),
  rule("too_many_results", "there are more apps than the depth", ({ apps, depth }) => apps.length <= depth),
)

export type ChartObservation = ObservationOf<"chart", ChartSource, typeof shape>

export interface ChartQuestion {
  storefront: string
  device: Device
  chart: Chart
  /** The store's own id; ALL_APPS for the overall chart. */
  genre: string
}

/** A top chart of one storefront, device and genre; of each source and moment the best reading is held. */
export const chart = kind<ChartObservation, ChartQuestion>({
  name: "chart",
  sources: CHART_SOURCES,
  private: false,
  figures: true,
  monthly: true,
  shape,
  line: {
    entries: { depth: v.optional(Whole) },
    read({ depth, ...said }: ChartObservation) {
      if (depth === undefined && said.apps.length === 0)
        throw new LineProblem("depth: must be given when apps is empty")
      return { ...said, depth: depth ?? said.apps.length }
    },
  },
  question: {
    about: nameOf,
    checkSubject: (subject) => hold(isNamed(subject), "bad_text", "a chart is named by its device, chart and genre"),
  },
  names: (seen) => ({ chart: seen, apps: idsIn(seen) }),
  weight: ({ apps }) => apps.length,
  async store(tx, readings, known) {
    const shown = await storeCharts(tx, readings, known)
    return { placed: shown.map(({ from }) => from), shown, named: readings.map((from) => namedIn(from, known)) }
  },
  stored: storedReadings,
  replay: {
    subjects: (held) => [nameOf(held)],
    asked: chartNamed,
    compare: (held, now) => [
      differenceOf("places", idsIn(held), idsIn(now), [
        now.depth !== held.depth && `depth ${now.depth}, was ${held.depth}`,
      ]),
    ],
    isHeld: (sql) => sql`
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

/** "iphone free 6013" in its storefront. Throws RangeError for what is no chart's name. */
export function chartNamed({ storefront }: Pick<Place, "storefront">, subject: string): ChartQuestion {
  const [given, called, genre, ...more] = subject.split(" ")
  const [device, chart] = [DEVICES.find((one) => one === given), CHARTS.find((one) => one === called)]
  if (!device || !chart || !genre || more.length > 0) throw new RangeError("a chart is a device, its name and a genre")
  return { storefront, device, chart, genre }
}

function idsIn({ apps }: ChartObservation): string[] {
  return apps.map(({ id }) => id)
}

/** Also of readings that are known or outdone: what they call apps must not follow the order of coming. */
function namedIn(from: ChartObservation, { appOf }: Identified) {
  return { from, apps: from.apps, appIds: idsIn(from).map((id) => appOf(from.platform, id)) }
}

// Of 200 places each, some 10,000 ids are looked up.
const PAGE = 50

interface Row extends Omit<ChartObservation, "source" | "egress"> {
  chartId: number
  day: string
  code: number
  /** To the microsecond. */
  seen: string
  egress: string | null
}

async function* storedReadings(sql: Sql, { since, sources }: StoredRange): AsyncGenerator<ChartObservation[]> {
  const codes = sources.map((source) => CHART_SOURCE_CODES[source as ChartSource])
  const pages = pagesOf(
    (after: Row | null) => sql<Row[]>`
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
