import * as v from "valibot"
import { ofApp, operation } from "../../core/operation.ts"
import type { Sql } from "../../database/types.ts"
import { earlier } from "../../lib/days.ts"
import { Fault } from "../../lib/faults.ts"
import { keysOf } from "../../lib/objects.ts"
import { described, named } from "../../lib/schema.ts"
import type { AnalyticsReport } from "../../lib/upstreams.ts"
import { Count } from "../../tracking/shapes.ts"
import { funnelRate, TRAFFIC_SOURCES, type TrafficSource } from "../formulas/funnel.ts"
import { REPORT_ZONE } from "../pacific.ts"
import { type AppAccount, daysUpTo, type ReportQuery } from "../read/app-accounts.ts"
import {
  type FunnelRow,
  type FunnelStanding,
  readFunnel,
  readFunnelStanding,
  readWhyNoAnalytics,
} from "../seller/read-funnel.ts"
import {
  findReportingAccount,
  ReportDay,
  ReportStore,
  reportFields,
  reportInput,
  reportQuery,
  requestedStore,
  requireReported,
  sourceShape,
} from "./account-shapes.ts"
import { readPlayFunnel } from "./play-funnel.ts"

const UnknownCount = v.nullable(Count)

const countFields = {
  impressions: described(UnknownCount, "Impressions of the app in the store."),
  pageViews: described(UnknownCount, "Page views; on Google Play, visitors who do not have the app."),
  taps: described(UnknownCount, "Taps on an impression, separate from page views."),
  firstDownloads: described(UnknownCount, "First downloads; on Google Play, visitors who installed it."),
  redownloads: described(UnknownCount, "Redownloads. Not part of any rate."),
}

function Rate(denominator: "impressions" | "pageViews", says: string) {
  return described(
    v.strictObject({
      value: described(
        v.nullable(v.number()),
        "0.05 means 5 %. Null if a count is unknown or the denominator is below 100.",
      ),
      denominator: v.literal(denominator),
      count: described(UnknownCount, "Sum of the denominator over the days on which both counts are known."),
    }),
    says,
  )
}

const FunnelRates = named(
  "FunnelRates",
  v.strictObject({
    viewed: Rate("impressions", "Page views divided by impressions."),
    downloaded: Rate(
      "pageViews",
      "First downloads divided by page views. The rate exceeds 1 if people download from search results without " +
        "opening the page.",
    ),
    converted: Rate(
      "impressions",
      "First downloads divided by impressions. The rate in the console divides by people, not by impressions.",
    ),
  }),
)

const funnelFields = { ...countFields, rates: FunnelRates }

export const getFunnel = operation({
  id: "get_funnel",
  method: "GET",
  path: "/apps/:appId/funnel",
  group: "Revenue and ads",
  toolset: "revenue",
  summary: "Returns the funnel from impressions to downloads, by day, country and traffic source.",
  description: "From the console's reports, which arrive some days late. A day that is not reported is null.",
  effect: "reads",
  scope: "revenue:read",
  price: 1,
  faults: ["not_connected", "not_measured", "unsupported_platform"],
  input: ofApp({
    ...reportInput,
    platform: ReportStore,
    source: described(v.optional(v.picklist(TRAFFIC_SOURCES)), "Default: all."),
  }),
  narrow: { rows: ["days", "countries", "trafficSources"] },
  output: v.strictObject({
    ...reportFields,
    dayZone: described(
      v.nullable(v.literal(REPORT_ZONE)),
      "Null: Apple does not publish the time zone of these days. Compare them with other sources over weeks, not " +
        "over single days.",
    ),
    source: described(v.nullable(v.picklist(TRAFFIC_SOURCES)), "The requested source. Null for all."),
    completeTo: described(
      v.nullable(ReportDay),
      "The last day with complete counts. Later days still grow. Null if there is none.",
    ),
    totals: described(
      v.strictObject(funnelFields),
      "Each count covers the days that its own report covers; rates cover days with all counts.",
    ),
    days: described(
      v.array(
        v.strictObject({
          day: ReportDay,
          complete: described(v.boolean(), "False if the day still grows or is unknown."),
          ...funnelFields,
        }),
      ),
      "Every requested day, oldest first.",
    ),
    countries: described(
      v.array(
        v.strictObject({
          country: described(v.nullable(v.string()), "Null if the report names no country."),
          ...funnelFields,
        }),
      ),
      "Storefronts with impressions or visitors, most first. A storefront not listed had none on the reported days.",
    ),
    trafficSources: described(
      v.array(v.strictObject({ source: v.picklist(TRAFFIC_SOURCES), ...funnelFields })),
      "Traffic sources, most impressions first. other: any source that is not named here.",
    ),
  }),
}).run(async ({ app, source = null, platform, ...rest }, ctx) => {
  const { sql } = ctx
  const query = reportQuery(rest, ctx.now())
  const store = requestedStore(app, platform)
  const account = await findReportingAccount(app, ctx, store)
  if (store === "android") return await funnelOnPlay(sql, account, { ...query, days: rest.days, source })
  const [standing, missing, all] = await Promise.all([
    readFunnelStanding(sql, account, { ...query, days: rest.days }),
    readWhyNoAnalytics(sql, account),
    readFunnel(sql, account, query),
  ])
  requireFunnel(account, standing, missing)
  const rows = all.filter((row) => source === null || row.source === source)
  const days = daysUpTo(query.to, rest.days)
  const completeTo = completeIn(standing)
  const shape = (group: readonly FunnelRow[], of = days) => funnelOf(group, of, standing)
  const byDay = Map.groupBy(rows, ({ day }) => day)
  const explainedAccount = { ...account, why: account.why ?? missing }
  return {
    ...query,
    dayZone: null,
    source,
    sources: (["engagement", "downloads"] as const).map((report) =>
      sourceShape(explainedAccount, report, standing[report], rest.days),
    ),
    completeTo,
    totals: shape(rows),
    days: days.map((day) => {
      return {
        day,
        complete: completeTo !== null && day <= completeTo && isWhole(day, standing),
        ...shape(byDay.get(day) ?? [], [day]),
      }
    }),
    countries: [...Map.groupBy(rows, ({ country }) => country)]
      .map(([country, group]) => ({ country, ...shape(group) }))
      .sort((a, b) => byImpressions(a, b) || ((a.country ?? "") < (b.country ?? "") ? -1 : 1)),
    trafficSources: [...Map.groupBy(rows, ({ source }) => source)]
      .map(([source, group]) => ({ source, ...shape(group) }))
      .sort((a, b) => byImpressions(a, b) || (a.source < b.source ? -1 : 1)),
  }
})

async function funnelOnPlay(
  sql: Sql,
  account: AppAccount,
  query: ReportQuery & { days: number; source: TrafficSource | null },
) {
  const { standings, completeTo, totals, days, countries, trafficSources } = await readPlayFunnel(sql, account, query)
  requireReported({ ...account, expects: "a running server reads the files of a month within minutes" }, ...standings)
  const rated = <Row extends Counts>(row: Row) => ({ ...row, rates: ratesOf(row) })
  const byVisitors = (a: Counts, b: Counts) => (b.pageViews ?? -1) - (a.pageViews ?? -1)
  const { days: count, ...rest } = query
  return {
    ...rest,
    dayZone: "America/Los_Angeles" as const,
    sources: standings.map((standing) => sourceShape(account, standing.report, standing, count)),
    completeTo,
    totals: rated(totals),
    days: days.map(rated),
    countries: countries
      .map(rated)
      .sort((a, b) => byVisitors(a, b) || ((a.country ?? "") < (b.country ?? "") ? -1 : 1)),
    trafficSources: trafficSources.map(rated).sort((a, b) => byVisitors(a, b) || (a.source < b.source ? -1 : 1)),
  }
}

/**
 * Throws not_measured when there is no data yet. The text names the action that a person must take, or when data will
 * arrive.
 */
function requireFunnel(account: AppAccount, { engagement, downloads }: FunnelStanding, missing: string | null): void {
  if (missing !== null && !engagement.isKnown && !downloads.isKnown)
    throw new Fault("not_measured", { detail: `The account is connected, but ${missing}.` })
  requireReported(
    { ...account, expects: "the console creates the first file within two days of the request" },
    { ...engagement, report: "engagement" },
    { ...downloads, report: "downloads" },
  )
}

function completeIn({ engagement, downloads }: FunnelStanding): string | null {
  if (engagement.wholeTo === null || downloads.wholeTo === null) return null
  return earlier(engagement.wholeTo, downloads.wholeTo)
}

function isWhole(day: string, { engagement, downloads }: FunnelStanding): boolean {
  return engagement.reported.includes(day) && downloads.reported.includes(day)
}

const REPORT_OF = {
  impressions: "engagement",
  pageViews: "engagement",
  taps: "engagement",
  firstDownloads: "downloads",
  redownloads: "downloads",
} as const satisfies Record<keyof typeof countFields, AnalyticsReport>

type Counts = Record<keyof typeof countFields, number | null>

/** Sums rows over days. A count is known if the report with it covers at least one of the days. */
function funnelOf(rows: readonly FunnelRow[], days: readonly string[], standing: FunnelStanding) {
  const isReported = (report: AnalyticsReport) => days.some((day) => standing[report].reported.includes(day))
  const counts = countsOf(rows, (event) => isReported(REPORT_OF[event]))
  const both = new Set(days.filter((day) => isWhole(day, standing)))
  return {
    ...counts,
    rates: ratesOf(
      countsOf(
        rows.filter(({ day }) => both.has(day)),
        () => both.size > 0,
      ),
    ),
  }
}

function countsOf(rows: readonly FunnelRow[], isReported: (event: keyof Counts) => boolean): Counts {
  const sum = (name: keyof Counts) => rows.reduce((total, row) => total + row[name], 0)
  const names = keysOf(REPORT_OF)
  return Object.fromEntries(names.map((name) => [name, isReported(name) ? sum(name) : null])) as Counts
}

function ratesOf({ impressions, pageViews, firstDownloads }: Counts) {
  return {
    viewed: { value: funnelRate(pageViews, impressions), denominator: "impressions" as const, count: impressions },
    downloaded: { value: funnelRate(firstDownloads, pageViews), denominator: "pageViews" as const, count: pageViews },
    converted: {
      value: funnelRate(firstDownloads, impressions),
      denominator: "impressions" as const,
      count: impressions,
    },
  }
}

function byImpressions(a: Counts, b: Counts): number {
  return (b.impressions ?? 0) - (a.impressions ?? 0)
}
