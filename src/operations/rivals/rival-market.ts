import * as v from "valibot"
import type { Sql } from "../../database/types.ts"
import { Fault } from "../../faults.ts"
import { type MarketDay, readMarketDays } from "../../history/market-facts.ts"
import { readLatestRatings } from "../../history/rating-days.ts"
import { LOOKUP_SOURCES } from "../../observations/types.ts"
import { type Context, ofApp, operation, pending } from "../../operation.ts"
import { AppCountry, Platform } from "../../vocabulary/fields.ts"
import type { LiveSubject } from "../../vocabulary/live-read.ts"
import { described, named } from "../../vocabulary/schema.ts"
import { keptSince, READING_DEADLINE_MS, READING_FAULTS, readOnRequest } from "../read-on-request.ts"
import { Count, Day, Store, Storefront, Time } from "../shapes.ts"
import { findRival, type Rival, RivalId, readStoreApp, rivalFields } from "./find-rival.ts"
import { ratingFields, ratingsOf } from "./rival-ratings.ts"

const KEPT_DAYS = 7

const Prices = named(
  "PurchasePrices",
  v.strictObject({
    least: described(v.number(), "The cheapest, in the currency's units."),
    most: described(v.number(), "The dearest."),
    currency: described(v.string(), "ISO 4217."),
  }),
)

const Change = named(
  "RivalMarketChange",
  v.strictObject({
    change: described(
      v.pipe(v.number(), v.integer()),
      "Installs more than at the measurement before; less than 0 = fewer.",
    ),
    from: described(Day, "The UTC day of the measurement before, by the same source."),
    to: described(Day, "The UTC day of the latest."),
  }),
)

export const getRivalMarket = operation({
  id: "get_rival_market",
  method: "GET",
  path: "/apps/:appId/rivals/:rivalId/market",
  group: "Your apps",
  toolset: "rivals",
  summary: "What a store says of a rival: price, ratings and release; on Google Play its installs.",
  description: `Read on request and kept ${KEPT_DAYS} days; what takes longer than a few seconds answers 202 with what is stored so far and eta.`,
  effect: "measures",
  scope: "apps:read",
  plan: "free",
  price: 1,
  faults: READING_FAULTS,
  pending: true,
  deadlineMs: READING_DEADLINE_MS,
  input: ofApp({ rivalId: RivalId, country: AppCountry, platform: Platform }),
  output: v.strictObject({
    country: Storefront,
    platform: Store,
    ...rivalFields,
    available: described(
      v.nullable(v.boolean()),
      "False = the store does not sell it in this storefront: what stands beside is of before. Null = not read yet.",
    ),
    price: described(v.nullable(v.number()), "In the currency's units, 0 = free; null = not said."),
    currency: described(v.nullable(v.string()), "ISO 4217; null = not said."),
    ...ratingFields,
    releasedAt: described(v.nullable(Time), "When it first came to the store; null = not said."),
    hasInAppPurchases: described(
      v.nullable(v.boolean()),
      "Null = not said, or the App Store's page of it was not read.",
    ),
    inAppPrices: described(
      v.nullable(Prices),
      "What is sold within it, on Google Play; null = not said, or App Store.",
    ),
    installs: described(
      v.nullable(Count),
      "Of all time and all countries, exact, on Google Play; null = not said, or App Store: it tells none.",
    ),
    installsDay: described(v.nullable(Day), "The UTC day of that figure."),
    installsChange: described(v.nullable(Change), "Null until two days' installs were read, or App Store."),
    measuredAt: described(
      v.nullable(Time),
      "When the store was asked for price, release and availability; null = not yet.",
    ),
    eta: v.optional(described(Count, "With 202: seconds until the answer may be there.")),
  }),
}).run(async ({ app, storefront, platform, rivalId }, ctx) => {
  const rival = await findRival(ctx, app, { rivalId, platform, storefront })
  const eta = await renewed(ctx, rival, storefront)
  const answer = { country: storefront, platform, ...(await readRivalMarket(ctx.sql, rival, storefront)) }
  return eta === null ? answer : pending({ eta }, answer)
})

/** Seconds until all is read that is not kept; null when it is. What only an App Store page says may be missing. */
async function renewed(ctx: Context, rival: Rival, storefront: string): Promise<number | null> {
  const { platform, storeId: subject } = rival
  const since = keptSince(ctx.now(), KEPT_DAYS)
  const { said, page } = await readSeen(ctx.sql, rival, storefront)
  const read = (kind: LiveSubject["kind"], seenAt: Date | null) =>
    seenAt && seenAt >= since
      ? null
      : readOnRequest(ctx, { kind, platform, storefront, subject }, { keptDays: KEPT_DAYS })
  const etas = await Promise.all([
    read("app", said),
    platform === "ios" ? Promise.resolve(read("listing", page)).catch(orNothing) : null,
  ])
  const left = etas.filter((eta) => eta !== null)
  return left.length > 0 ? Math.max(...left) : null
}

function orNothing(error: unknown): null {
  if (error instanceof Fault) return null
  throw error
}

/** When a look-up and the app's page were read last; null = never. */
async function readSeen(sql: Sql, { platform, storeId }: Rival, storefront: string) {
  const [row] = await sql<{ said: Date | null; page: Date | null }[]>`
    select
      (select max(seen_at)
        from app_storefront
        where app_id = s.id and storefront = ${storefront}
          and source = any(${LOOKUP_SOURCES as string[]}::text[])) as said,
      (select seen_at
        from listing_run
        where app_id = s.id and storefront = ${storefront} and source = 'apple-app-page' and section = 'page'
        order by first_seen_at desc
        limit 1) as page
    from store_app s
    where (s.platform, s.store_id) = (${platform}, ${storeId})`
  return row ?? { said: null, page: null }
}

const UNREAD = {
  ...{ available: null, price: null, currency: null, releasedAt: null, hasInAppPurchases: null, inAppPrices: null },
  ...{ installs: null, installsDay: null, installsChange: null, measuredAt: null },
}

async function readRivalMarket(sql: Sql, rival: Rival, storefront: string) {
  const { storeId, name } = rival
  const app = await readStoreApp(sql, rival)
  if (!app) return { id: storeId, name, ...UNREAD, ...ratingsOf(null) }
  const said = await readSaid(sql, app.appId, storefront)
  const sold = await readMarket(sql, app.appId, storefront)
  const about = { id: storeId, name: app.name ?? storeId }
  return { ...about, ...UNREAD, ...said, ...sold, ...ratingsOf(await readLatestRatings(sql, app.appId, storefront)) }
}

async function readSaid(sql: Sql, app: number, storefront: string) {
  const [said] = await sql<
    { available: boolean; price: number | null; currency: string | null; releasedAt: Date | null; seenAt: Date }[]
  >`
    select available, price::float8 as price, currency, released_at as "releasedAt", seen_at as "seenAt"
    from app_storefront
    where app_id = ${app} and storefront = ${storefront} and source = any(${LOOKUP_SOURCES as string[]}::text[])
    order by seen_at desc, source
    limit 1`
  if (!said) return {}
  const { releasedAt, seenAt, ...rest } = said
  return { ...rest, releasedAt: releasedAt?.toISOString() ?? null, measuredAt: seenAt.toISOString() }
}

/** Enough days to find one with installs before the latest. */
const MARKET_DAYS = 30

async function readMarket(sql: Sql, appId: number, storefront: string) {
  const days = await readMarketDays(sql, { appId, storefront }, MARKET_DAYS)
  const [latest] = days
  if (!latest) return {}
  const { inAppLeast: least, inAppMost: most, inAppCurrency: currency } = latest
  const isPriced = least !== null && most !== null && currency !== null
  const installed = days.find(({ installs }) => installs !== null)
  return {
    hasInAppPurchases: days.find((one) => one.hasInAppPurchases !== null)?.hasInAppPurchases ?? null,
    inAppPrices: isPriced ? { least, most, currency } : null,
    installs: installed?.installs ?? null,
    installsDay: installed?.day ?? null,
    installsChange: installed ? changeTo(installed, days) : null,
  }
}

/** Against the measured day before, by the same source. */
function changeTo(
  { day: to, source, installs }: MarketDay,
  days: readonly MarketDay[],
): v.InferOutput<typeof Change> | null {
  const before = days.find((one) => one.source === source && one.installs !== null && one.day < to)
  return before ? { change: (installs as number) - (before.installs as number), from: before.day, to } : null
}
