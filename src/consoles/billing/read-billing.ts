import type { Db } from "../../database/types.ts"
import type { Days } from "../../lib/days.ts"
import { addDays } from "../../lib/days.ts"
import { BILLING_SOURCES, type BillingSource } from "../../lib/upstreams.ts"
import type { CountedStore } from "../kinds/billing-shape.ts"
import type { OwnApp, ReportQuery } from "../read/app-accounts.ts"
import type { AccountState } from "../state.ts"

/**
 * A billing account with messages about purchases of a tracked app, and how many messages of the requested days it has.
 */
export interface BillingAccount {
  id: string
  kind: BillingSource
  state: AccountState
  createdAt: Date
  /**
   * Times of the first and last message. For Google Play, only messages about that store count. Null if there are none.
   */
  firstAt: Date | null
  asOf: Date | null
  /** Messages of the requested days: `events` are counted in the figures, the others are listed separately. */
  events: number
  sandbox: number
  otherStores: number
  /** Messages about members of buyers' families, who pay nothing. */
  familyShared: number
  unknownTypes: number
}

/** Sources that include the storefront come first. If two report the same purchases, only one is counted. */
export const PREFERRED: readonly BillingSource[] = ["app-store-notifications", "adapty", "revenuecat", "superwall"]

/**
 * Returns the app's billing accounts, the preferred one first: its figures are used. Accounts that have not received a
 * message yet come last. Days are UTC. For Google Play, `firstAt` and `asOf` count only messages about that store,
 * because a service may begin to report a store long after its first message.
 */
export async function findBillingAccounts(
  sql: Db,
  {
    workspaceId,
    app,
    days,
    store = "app_store",
  }: { workspaceId: number; app: OwnApp; days: Days; store?: CountedStore },
): Promise<BillingAccount[]> {
  // The literal lets the planner use the index of this store.
  const isAbout = store === "play_store" ? sql`store = 'play_store'` : sql`true`
  return await sql<BillingAccount[]>`
    select c.id, c.kind, c.state, c.created_at as "createdAt", a.first_at as "firstAt", a.last_at as "asOf", e.events,
      e.sandbox, e.other_stores as "otherStores", e.family_shared as "familyShared", e.unknown_types as "unknownTypes"
    from connected_account c
    join account_app m on m.account_id = c.id
    cross join lateral (
      select min(seen_at) as first_at, max(seen_at) as last_at
      from billing_event
      where account_id = c.id and ${isAbout}
    ) a
    cross join lateral (
      select count(*) filter (
          where environment = 'production' and store = ${store} and counts_as <> 'family_shared'
        )::int as events,
        count(*) filter (where environment = 'production' and counts_as = 'family_shared')::int as family_shared,
        count(*) filter (where environment = 'sandbox')::int as sandbox,
        count(*) filter (where environment = 'production' and store <> ${store})::int as other_stores,
        count(*) filter (where environment = 'production' and counts_as = 'other')::int as unknown_types
      from billing_event
      where account_id = c.id and happened_at >= ${`${days.from}T00:00:00Z`}::timestamptz
        and happened_at < ${`${addDays(days.to, 1)}T00:00:00Z`}::timestamptz
    ) e
    where c.workspace_id = ${workspaceId} and c.kind = any(${[...BILLING_SOURCES]}::text[]) and (
      m.app_id = ${app.id} or (m.app_id is null and not m.by_hand and m.outside_id in (${app.iosId}, ${app.androidPkg}))
    )
    order by a.first_at is null, array_position(${PREFERRED as string[]}::text[], c.kind), c.created_at, c.id
    limit 20`
}

interface BillingQuery extends ReportQuery {
  product: string | null
}

/**
 * Events of one product in one country at one price. Currency and price are null if the message has no price, as for a
 * trial or a cancellation.
 */
export interface PaidRow {
  product: string
  country: string | null
  countryIs: "storefront" | "last_contact" | null
  currency: string | null
  price: string | null
  countsAs: string
  events: number
  firstDay: string
  lastDay: string
}

/**
 * Returns the events of production purchases in the App Store, by product, country and price. A refund is counted at
 * the price that was refunded.
 */
export async function readPaid(sql: Db, account: string, query: BillingQuery): Promise<PaidRow[]> {
  return await sql<PaidRow[]>`
    select product, country, country_is as "countryIs", currency, nullif(abs(price), 0)::text as price,
      counts_as as "countsAs", sum(quantity)::int as events,
      min((happened_at at time zone 'utc')::date) as "firstDay",
      max((happened_at at time zone 'utc')::date) as "lastDay"
    from billing_event
    where ${matchesQuery(sql, account, query)}
    group by product, country, country_is, currency, nullif(abs(price), 0), counts_as
    order by product, country, country_is, currency, nullif(abs(price), 0), counts_as`
}

interface OfferRow {
  offer: string
  product: string
  firstDay: string
  lastDay: string
  redemptions: number
}

const MAX_OFFERS = 200

/** Returns the offers with which a purchase or subscription began. */
export async function readOffers(sql: Db, account: string, query: BillingQuery): Promise<OfferRow[]> {
  return await sql<OfferRow[]>`
    select offer, product, min((happened_at at time zone 'utc')::date) as "firstDay",
      max((happened_at at time zone 'utc')::date) as "lastDay", count(*)::int as redemptions
    from billing_event
    where ${matchesQuery(sql, account, query)} and offer is not null
      and counts_as in ('trial_start', 'paid_start', 'trial_conversion', 'renewal', 'one_time', 'upgrade')
    group by offer, product
    order by redemptions desc, offer, product
    limit ${MAX_OFFERS}`
}

function matchesQuery(sql: Db, account: string, { from, to, country, product }: BillingQuery) {
  return sql`
    account_id = ${account} and happened_at >= ${`${from}T00:00:00Z`}::timestamptz
    and happened_at < ${`${addDays(to, 1)}T00:00:00Z`}::timestamptz
    and environment = 'production' and store = 'app_store' and product is not null
    and (${country}::text is null or country = ${country}) and (${product}::text is null or product = ${product})`
}

/** A price as the seller's console lists it, and the first day on which it applied. */
export interface ListedPrice {
  sku: string
  name: string
  soldAs: "app" | "purchase" | "subscription"
  country: string
  from: string
  sinceKnown: boolean
  /** Null if the product is no longer sold in the storefront. */
  currency: string | null
  price: string | null
  proceeds: string | null
  automatic: boolean | null
}

/** Returns the prices in these storefronts that applied on any of the days. */
export async function readListedPrices(
  sql: Db,
  { account, app }: { account: string; app: string },
  { from, to, product, countries }: Days & { product: string | null; countries: readonly string[] },
): Promise<ListedPrice[]> {
  return await sql<ListedPrice[]>`
    select p.sku, p.name, p.sold_as as "soldAs", d.country, d.from_day as "from", d.since_known as "sinceKnown",
      d.currency, d.price::text as price, d.proceeds::text as proceeds, d.automatic
    from account_product p
    cross join lateral (
      select *, lead(from_day) over (partition by country order by from_day) as until
      from price_period
      where account_id = p.account_id and app = p.app and product = p.product
        and country = any(${countries as string[]}::text[])
    ) d
    where p.account_id = ${account} and p.app = ${app} and (${product}::text is null or p.sku = ${product})
      and d.from_day <= ${to}::date and (d.until is null or d.until > ${from}::date)
    order by p.sku, d.country, d.from_day`
}
