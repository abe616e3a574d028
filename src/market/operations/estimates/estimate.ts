import * as v from "valibot"
import { type Context, nothing, operation, pending } from "../../../core/operation.ts"
import { READING_DEADLINE_MS, READING_FAULTS, readOnRequest, throwUnlessAnswer } from "../../../core/read-on-request.ts"
import type { Sql } from "../../../database/types.ts"
import { Fault } from "../../../lib/faults.ts"
import { described, named } from "../../../lib/schema.ts"
import { DAY_MS } from "../../../lib/time.ts"
import { Count, Day, Store, Storefront, Time } from "../../../tracking/shapes.ts"
import { LEVEL } from "../../formulas/downloads.ts"
import { isKnown, type StoredEstimate } from "../../read/estimates.ts"
import { readFollowedMarket } from "../../read/followed.ts"
import { readGradedMonth } from "../../read/grades.ts"
import { BASES, Estimate } from "../estimates.ts"
import { MarketCountry, platformOfChecked, StoreAppId } from "../inputs.ts"
import { findStoreApp, marketAppFields, readMarketApps } from "../market-apps.ts"
import { readFigures, type ShownEstimate, shownFigure } from "./figures.ts"
import { GradedMonth, OwnMonth, readOwnMonths } from "./graded-figures.ts"

const CREDITS = 500
const KEPT_DAYS = 1
/** Maximum number of storefronts that are read for one app. Each of them costs a request to the store. */
const MAX_STOREFRONTS = 10
/** Seconds from recording the counts to the new estimate. */
const MAKING_S = 3
/** Counts recorded within these minutes trigger a new estimate at once. */
const WANTED_MINUTES = 10

/** Measured by `bun test/bench/estimates.ts` with the store's prior and eleven months between the readings. */
export const RATINGS_TEST = { month: "2021-06", n: 26, medianError: 86, coverage: 0.69 }

const Growth = named(
  "DownloadsGrowth",
  v.strictObject({ percent: v.number(), low: v.number(), high: v.number() }),
  "Compared with the 30 days before.",
)

const BackTest = named(
  "EstimateBackTest",
  v.strictObject({
    month: described(v.string(), "Month of the true values."),
    n: described(Count, "Number of apps."),
    medianError: described(v.number(), "Median error in percent."),
    coverage: described(v.number(), "Share of the true values within the interval."),
  }),
  "Accuracy of such figures on Google Play, where true counts are known. No true values are public for the App Store.",
)

export const hiveEstimateApp = operation({
  id: "hive_estimate_app",
  method: "GET",
  path: "/hive/estimate/:id",
  group: "Hive",
  toolset: "hive",
  summary: "Estimates the monthly downloads and revenue of any app, with intervals.",
  description:
    "Downloads on Google Play are the store's own counts; those of the App Store are estimated from ratings " +
    "gained. The first call reads the app: 202 with eta, for 1 credit. Unknown values are null, never 0.",
  effect: "measures",
  scope: "hive:estimate",
  hive: "pack",
  price: CREDITS,
  faults: READING_FAULTS,
  deadlineMs: READING_DEADLINE_MS,
  pending: true,
  appInput: "id",
  input: v.strictObject({ id: StoreAppId, country: MarketCountry }),
  output: v.strictObject({
    ...marketAppFields,
    platform: Store,
    country: described(Storefront, "Storefront of the name, read first."),
    downloads: described(v.nullable(Estimate), "Over 30 days, or over `days` if measured. Null if unknown."),
    revenue: described(v.nullable(Estimate), "US dollars over 30 days. Null if unknown."),
    revenueBasis: described(
      v.nullable(v.picklist(BASES)),
      "Basis of the revenue, with the values of basis if it is downloads times price. own: ranks on the grossing " +
        "chart, calibrated with your own apps' sales, for your workspace only. Null if unknown.",
    ),
    revenueMarkets: described(v.nullable(Count), "Storefronts of the revenue. Null if unknown."),
    growth: described(v.nullable(Growth), "Change of the downloads. Null if unknown."),
    level: described(v.number(), "Intended probability that an interval contains the true value."),
    basis: described(
      v.nullable(v.picklist(BASES)),
      "Basis of the downloads. measured: counted by the store; prior: typical figures of the store.",
    ),
    markets: described(
      Count,
      "Storefronts whose counts were used. Other storefronts are not included in the downloads.",
    ),
    days: described(v.nullable(Count), "Days between the compared counts. Null with one count or none."),
    day: described(v.nullable(Day), "Day of the newest count."),
    pairs: described(
      v.nullable(Count),
      "Known true values behind the interval. 0: none; its width comes from the prior.",
    ),
    coverage: described(v.nullable(v.number()), "Share of those values within their intervals. Null if not tested."),
    formula: described(
      v.nullable(Count),
      "Version of the formula. Another version gives another figure for the same counts.",
    ),
    madeAt: described(v.nullable(Time), "Null if not calculated yet."),
    backTest: described(v.nullable(BackTest), "Null if measured or not tested (a single count)."),
    graded: described(v.nullable(GradedMonth), "Null if measured, or if fewer than 20 such apps are read."),
    ownRecord: described(
      v.nullable(v.array(OwnMonth)),
      "For your own app: each month's figure and the figure reported by your console, newest first. Visible to " +
        "your workspace only and used for no other figure. Null if no connected console reports the app, or the key " +
        "cannot read revenue.",
    ),
    eta: v.optional(described(Count, "With 202: expected seconds until the figure.")),
  }),
}).run(async ({ id, country }, ctx) => {
  const platform = platformOfChecked(id)
  const { eta, why } = await readCounts(ctx, { platform, id }, country)
  const app = await findStoreApp(ctx.sql, { platform, id })
  const [stored] = app === null ? [] : (await readFigures(ctx, [app])).values()
  const named = app === null ? undefined : (await readMarketApps(ctx.sql, [app], country)).get(app)
  const about = { publisher: null, publisherId: null, name: id, ...named, id, platform, country }
  const ownRecord = app === null ? null : await readOwnMonths(ctx, { platform, id })
  const graded = stored?.basis === "prior" && stored.days !== null ? await readGradedMonth(ctx.sql) : null
  const answer = { ...about, ...shown(stored), graded, ownRecord }
  if (stored && isKnown(stored)) return answer
  if (eta !== null) return pending({ eta }, answer)
  throwUnlessAnswer(why)
  const left = app === null ? null : await readSecondsToFigure(ctx, app, why ? undefined : stored)
  if (left !== null) return pending({ eta: left }, answer)
  return nothing(why ?? new Fault("not_measured", { detail: NOTHING_COUNTED }))
})

const NOTHING_COUNTED = "The store page was read, but it shows no count that can be compared."

interface MarketAppId {
  platform: "ios" | "android"
  id: string
}

/**
 * Requests counts that replace those older than a day. Returns the fault of the first storefront if that storefront
 * cannot be read.
 */
async function readCounts(ctx: Context, { platform, id }: MarketAppId, country: string) {
  const storefronts = platform === "ios" ? await readWantedStorefronts(ctx.sql, country) : [country]
  await insertWanted(ctx.sql, { platform, id })
  const reads = storefronts.map((storefront) =>
    readOnRequest(ctx, { kind: "app", platform, storefront, subject: id }, { keptDays: KEPT_DAYS, waitMs: 0 }),
  )
  // failures in other storefronts are ignored; `markets` counts the storefronts that were used
  const ends = await Promise.allSettled(reads)
  const etas = ends.flatMap((end) => (end.status === "fulfilled" && end.value !== null ? [end.value] : []))
  const [first] = ends
  const why = first?.status === "rejected" ? first.reason : null
  if (why !== null && !(why instanceof Fault)) throw why
  return { eta: etas.length > 0 ? Math.max(...etas) + MAKING_S : null, why }
}

/** Returns the requested storefront and the followed ones. */
async function readWantedStorefronts(sql: Sql, country: string): Promise<string[]> {
  const followed = (await readFollowedMarket(sql)).map(({ storefront }) => storefront)
  return [...new Set([country, ...followed])].slice(0, MAX_STOREFRONTS)
}

async function insertWanted(sql: Sql, { platform, id }: MarketAppId): Promise<void> {
  await sql`
    insert into estimate_due as held (app_id, wanted_until)
    select id, clock_timestamp() + ${WANTED_MINUTES}::int * interval '1 minute'
    from store_app
    where (platform, store_id) = (${platform}, ${id})
    on conflict (app_id) do update
    set wanted_until = excluded.wanted_until,
      -- otherwise counts recorded after the last estimate would wait for hours
      next_at = case
        when held.next_at < clock_timestamp() + interval '6 hours' then clock_timestamp()
        else held.next_at
      end
    where held.wanted_until is null or held.wanted_until < clock_timestamp() + interval '1 minute'`
}

/** Returns the seconds until a new estimate. Null if none is expected. */
async function readSecondsToFigure({ sql, now }: Context, app: number, stored: StoredEstimate | undefined) {
  const [row] = await sql<{ isDue: boolean }[]>`
    select coalesce(next_at <= clock_timestamp() + ${MAKING_S}::int * interval '1 second', false) as "isDue"
    from estimate_due
    where app_id = ${app}`
  if (row?.isDue) return MAKING_S
  // with only one count, the next can come tomorrow at the earliest
  if (!stored?.day) return null
  return Math.max(MAKING_S, Math.ceil((Date.parse(stored.day) + 2 * DAY_MS - now().getTime()) / 1_000))
}

function shown(stored: ShownEstimate | undefined) {
  const { downloads = null, revenue = null, growth = null, basis = null, days = null } = stored ?? {}
  return {
    downloads: shownFigure(downloads),
    revenue: shownFigure(revenue),
    revenueBasis: stored?.revenueBasis ?? null,
    revenueMarkets: revenue?.markets ?? null,
    growth,
    level: LEVEL,
    basis,
    markets: stored?.markets ?? 0,
    days,
    day: stored?.day ?? null,
    pairs: stored?.pairs ?? null,
    coverage: stored?.coverage ?? null,
    formula: stored?.formula ?? null,
    madeAt: stored?.madeAt.toISOString() ?? null,
    backTest: basis === "prior" && days !== null ? RATINGS_TEST : null,
  }
}
