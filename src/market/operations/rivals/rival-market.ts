import * as v from "valibot"
import { type Context, ofApp, operation, pending } from "../../../core/operation.ts"
import { READING_DEADLINE_MS, READING_FAULTS, readOnRequest, retainedSince } from "../../../core/read-on-request.ts"
import type { Sql } from "../../../database/types.ts"
import { Fault } from "../../../lib/faults.ts"
import { AppCountry, Platform } from "../../../lib/fields.ts"
import type { LiveSubject } from "../../../lib/live-read.ts"
import { described, named } from "../../../lib/schema.ts"
import type { SourceName } from "../../../lib/upstreams.ts"
import { LOOKUP_SOURCES } from "../../../stores/kinds/apps-shape.ts"
import { latestRatings } from "../../../stores/read/rating-days.ts"
import { nameIn } from "../../../stores/store/app-names.ts"
import { Count, Day, Store, Storefront, Time } from "../../../tracking/shapes.ts"
import { type MarketDay, tellingDays } from "../../read/market-facts.ts"
import { findRival, type Rival, RivalId, rivalFields } from "./find-rival.ts"
import { ratingFields, ratingsOf } from "./rival-ratings.ts"

const KEPT_DAYS = 7

const Prices = named(
  "PurchasePrices",
  v.strictObject({
    least: described(v.number(), "Lowest price, in units of the currency."),
    most: described(v.number(), "Highest price."),
    currency: described(v.string(), "ISO 4217 code."),
  }),
)

const Change = named(
  "RivalMarketChange",
  v.strictObject({
    change: described(v.pipe(v.number(), v.integer()), "Change of installs since the previous measurement."),
    from: described(Day, "UTC day of the previous measurement, from the same source."),
    to: described(Day, "UTC day of the latest measurement."),
  }),
)

export const getRivalMarket = operation({
  id: "get_rival_market",
  method: "GET",
  path: "/apps/:appId/rivals/:rivalId/market",
  group: "Your apps",
  toolset: "rivals",
  summary: "Returns a rival's store data: price, ratings and release, and installs on Google Play.",
  description:
    `Read on request and cached for ${KEPT_DAYS} days. If it takes longer than a few seconds, the answer is 202 ` +
    "with the stored data and eta.",
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
      "False if the store does not sell it in this storefront; the other fields then have earlier values. Null if " +
        "not read.",
    ),
    price: described(v.nullable(v.number()), "In units of the currency; 0 means free. Null if unknown."),
    currency: described(v.nullable(v.string()), "ISO 4217 code. Null if unknown."),
    ...ratingFields,
    releasedAt: described(v.nullable(Time), "First release in the store. Null if unknown."),
    hasInAppPurchases: described(v.nullable(v.boolean()), "Null if unknown or the App Store page was not read."),
    inAppPrices: described(v.nullable(Prices), "In-app prices on Google Play. Null if unknown or in the App Store."),
    installs: described(
      v.nullable(Count),
      "Exact installs on Google Play, of all time and all countries. Null if unknown or in the App Store, which " +
        "publishes none.",
    ),
    installsDay: described(v.nullable(Day), "UTC day of the installs."),
    installsChange: described(v.nullable(Change), "Null until installs of two days were read, and in the App Store."),
    measuredAt: described(
      v.nullable(Time),
      "Time of the look-up of price, release and availability. Null if not read.",
    ),
    eta: v.optional(described(Count, "With 202: expected seconds until the answer.")),
  }),
}).run(async ({ app, storefront, platform, rivalId }, ctx) => {
  const rival = await findRival(ctx, app, { rivalId, platform, storefront })
  const stored = await readStored(ctx.sql, rival, storefront)
  const { eta, isRead } = await renewed(ctx, rival, storefront, stored)
  const market = marketOf(rival, isRead ? await readStored(ctx.sql, rival, storefront) : stored)
  const answer = { country: storefront, platform, ...market }
  return eta === null ? answer : pending({ eta }, answer)
})

interface Renewal {
  /**
   * Seconds until everything missing may be read. Null if nothing is missing. Does not wait for details that only the
   * App Store page has: these may still be missing afterwards.
   */
  eta: number | null
  /** True if this call may have stored something. */
  isRead: boolean
}

async function renewed(
  ctx: Context,
  rival: Rival,
  storefront: string,
  stored: StoredMarket | undefined,
): Promise<Renewal> {
  const { platform, storeId: subject } = rival
  const since = retainedSince(ctx.now(), KEPT_DAYS)
  const { saidAt = null, pageAt = null } = stored ?? {}
  const read = async (kind: LiveSubject["kind"], seenAt: Date | null): Promise<Renewal> => {
    if (seenAt && seenAt >= since) return { eta: null, isRead: false }
    const wanted = { kind, platform, storefront, subject }
    return { eta: await readOnRequest(ctx, wanted, { keptDays: KEPT_DAYS }), isRead: true }
  }
  const all = await Promise.all([
    read("app", saidAt),
    ...(platform === "ios" ? [read("listing", pageAt).catch(orNothing)] : []),
  ])
  const left = all.flatMap(({ eta }) => eta ?? [])
  return { eta: left.length > 0 ? Math.max(...left) : null, isRead: all.some(({ isRead }) => isRead) }
}

function orNothing(error: unknown): Renewal {
  if (error instanceof Fault) return { eta: null, isRead: false }
  throw error
}

type StoredDay = Omit<MarketDay, "seenAt">

/** The stored facts of a rival in a storefront, whichever workspace caused the reading. Null if unknown. */
interface StoredMarket {
  name: string | null
  /** Time at which the rival's store page was last read. */
  pageAt: Date | null
  /** Time of the latest look-up. */
  saidAt: Date | null
  available: boolean | null
  price: number | null
  currency: string | null
  releasedAt: Date | null
  marketDays: StoredDay[] | null
  ratings: number | null
  rating: number | null
  ratingsDay: string | null
  ratingsSource: SourceName | null
}

/** Returns the stored facts. Undefined if no reading contains the app. */
async function readStored(
  sql: Sql,
  { platform, storeId, place }: Rival,
  storefront: string,
): Promise<StoredMarket | undefined> {
  // the App Store does not publish installs
  const days = { storefront, installs: platform === "android" }
  const [stored] = await sql<StoredMarket[]>`
    select ${nameIn(sql, sql`a.id`, place)} as name, p.seen_at as "pageAt", s.seen_at as "saidAt", s.available,
      s.price::float8 as price, s.currency, s.released_at as "releasedAt", m.days as "marketDays", r.ratings,
      r.rating::numeric::float8 as rating, r.day as "ratingsDay", r.source as "ratingsSource"
    from store_app a
    left join lateral (
      select seen_at
      from listing_run
      where app_id = a.id and storefront = ${storefront} and source = 'apple-app-page' and section = 'page'
      order by first_seen_at desc
      limit 1
    ) p on true
    left join lateral (
      select available, price, currency, released_at, seen_at
      from app_storefront
      where app_id = a.id and storefront = ${storefront} and source = any(${LOOKUP_SOURCES as string[]}::text[])
      order by seen_at desc, source
      limit 1
    ) s on true
    left join lateral (
      select json_agg(d order by d.day desc, d."seenAt" desc, d.source) as days
      from (${tellingDays(sql, sql`a.id`, days)}) d
    ) m on true
    left join lateral (${latestRatings(sql, sql`a.id`, storefront)}) r on true
    where (a.platform, a.store_id) = (${platform}, ${storeId})`
  return stored
}

const UNREAD = {
  available: null,
  price: null,
  currency: null,
  releasedAt: null,
  hasInAppPurchases: null,
  inAppPrices: null,
  installs: null,
  installsDay: null,
  installsChange: null,
  measuredAt: null,
}

function marketOf({ storeId, name }: Rival, stored: StoredMarket | undefined) {
  if (!stored) return { id: storeId, name, ...UNREAD, ...ratingsOf(null) }
  const { available, price, currency, releasedAt, saidAt, ratings, rating, ratingsDay, ratingsSource } = stored
  return {
    id: storeId,
    name: stored.name ?? storeId,
    ...UNREAD,
    ...(saidAt && { available, price, currency, releasedAt: releasedAt?.toISOString() ?? null }),
    ...soldIn(stored.marketDays ?? []),
    measuredAt: saidAt?.toISOString() ?? null,
    rating,
    ratings,
    ratingsDay,
    ratingsSource,
  }
}

function soldIn(days: readonly StoredDay[]) {
  const [latest] = days
  if (!latest) return {}
  const { inAppLeast: least, inAppMost: most, inAppCurrency: currency } = latest
  const isPriced = least !== null && most !== null && currency !== null
  const installed = days.find(({ installs }) => installs !== null)
  return {
    hasInAppPurchases: days.find((day) => day.hasInAppPurchases !== null)?.hasInAppPurchases ?? null,
    inAppPrices: isPriced ? { least, most, currency } : null,
    installs: installed?.installs ?? null,
    installsDay: installed?.day ?? null,
    installsChange: installed ? changeTo(installed, days) : null,
  }
}

/** The change since the previous measured day, compared within one source. */
function changeTo(
  { day: to, source, installs }: StoredDay,
  days: readonly StoredDay[],
): v.InferOutput<typeof Change> | null {
  const before = days.find((day) => day.source === source && day.installs !== null && day.day < to)
  return before ? { change: (installs as number) - (before.installs as number), from: before.day, to } : null
}
