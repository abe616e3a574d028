import type { Db } from "../database/types.ts"
import type { FactSource, Listing, Platform, RatingsByStar } from "../observations/types.ts"
import { type ChangesQuery, readChanges, type StoredChange } from "./changes.ts"
import { preferredRating } from "./rating-days.ts"

/** Which sources tell of an app's own page, the preferred first. */
export const PAGE_SOURCES: Record<Platform, readonly FactSource[]> = {
  ios: ["apple-app-page", "itunes-lookup"],
  android: ["play-details"],
}

/** What a page said of its app, as it is stored: without its names and description, and moments as text. */
type StoredPage = Partial<
  Omit<Listing, "name" | "subtitle" | "description" | "versions" | "rating" | "ratings" | "ratingsByStar" | "similar">
>

export interface PageState {
  storefront: string
  source: FactSource
  /** The first reading of all, by whichever of the sources. */
  firstReadAt: Date
  /** The first of the latest readings, one after the other, that said just this. */
  unchangedSince: Date
  seenAt: Date
  origin: string
  /** Whether it showed cards of the store's editors, and a section of events. */
  hasEditorial: boolean
  hasEvents: boolean
}

export interface PageReading extends PageState {
  page: StoredPage
}

/** When an app's page (a store_app id) was read in each storefront, by the first of these sources that read it there. */
export async function readPageStates(
  sql: Db,
  appId: number,
  storefronts: readonly string[],
  sources: readonly FactSource[],
): Promise<Map<string, PageState>> {
  const rows = await sql<PageState[]>`
    select ${stateColumns(sql)}
    ${latestRuns(sql, appId, storefronts, sources)}
    order by s.place, u.preference
    limit 1000`
  return firstOfEach(rows)
}

/** What an app's page (a store_app id) said last in a storefront, by the first of these sources that read it there. */
export async function readLatestPage(
  sql: Db,
  appId: number,
  storefront: string,
  sources: readonly FactSource[],
): Promise<PageReading | undefined> {
  const rows = await sql<PageReading[]>`
    select ${stateColumns(sql)}, c.content - '{name,subtitle,description}'::text[] as page
    ${latestRuns(sql, appId, [storefront], sources)}
    order by s.place, u.preference
    limit 1000`
  return firstOfEach(rows).get(storefront)
}

function stateColumns(sql: Db) {
  return sql`
  s.storefront, u.source, min(f.first_seen_at) over (partition by s.storefront) as "firstReadAt",
  r.first_seen_at as "unchangedSince", r.seen_at as "seenAt", r.origin, c.content ? 'editorial' as "hasEditorial",
  c.content ? 'events' as "hasEvents"`
}

function latestRuns(sql: Db, appId: number, storefronts: readonly string[], sources: readonly FactSource[]) {
  return sql`
    from unnest(${storefronts as string[]}::text[]) with ordinality s (storefront, place)
    cross join unnest(${sources as string[]}::text[]) with ordinality u (source, preference)
    cross join lateral (
      select first_seen_at, seen_at, origin, digest
      from listing_run
      where (app_id, storefront, source, section) = (${appId}, s.storefront, u.source, 'page')
      order by first_seen_at desc
      limit 1
    ) r
    cross join lateral (
      select first_seen_at
      from listing_run
      where (app_id, storefront, source, section) = (${appId}, s.storefront, u.source, 'page')
      order by first_seen_at
      limit 1
    ) f
    join listing_content c
      on (c.app_id, c.storefront, c.source, c.section, c.digest) = (${appId}, s.storefront, u.source, 'page', r.digest)`
}

function firstOfEach<State extends PageState>(rows: readonly State[]): Map<string, State> {
  return new Map(rows.toReversed().map((row) => [row.storefront, row]))
}

export interface Release {
  releasedAt: Date | null
  notes: string | null
}

/** What a source says of a version of an app; the form that counts (sql/0006). Null = nothing. */
export async function readRelease(
  sql: Db,
  { appId, storefront, source, version }: { appId: number; storefront: string; source: string; version: string },
): Promise<Release | null> {
  const [row] = await sql<Release[]>`
    select released_at as "releasedAt", notes
    from listing_version
    where (app_id, storefront, source, version) = (${appId}, ${storefront}, ${source}, ${version})
    order by parser desc, first_seen_at desc, digest
    limit 1`
  return row ?? null
}

export interface LatestCounts {
  rating: number | null
  ratings: number | null
  ratingsAt: Date | null
  stars: RatingsByStar | null
  starsAt: Date | null
}

/** An app's latest rating count in a storefront, and its latest count by star, which fewer readings tell. */
export async function readLatestCounts(sql: Db, appId: number, storefront: string): Promise<LatestCounts> {
  const [row] = await sql<[LatestCounts]>`
    select c.rating, c.ratings, c.seen_at as "ratingsAt", to_json(s.stars) as stars,
      s.seen_at as "starsAt"
    from (select) nothing
    left join lateral (
      select rating::numeric::float8 as rating, ratings, seen_at
      from rating_count
      where (app_id, storefront) = (${appId}, ${storefront}) and ratings is not null
      order by day desc, ${preferredRating(sql)}
      limit 1
    ) c on true
    left join lateral (
      select stars, seen_at
      from rating_count
      where (app_id, storefront) = (${appId}, ${storefront}) and stars is not null
      order by day desc, ${preferredRating(sql)}
      limit 1
    ) s on true`
  return row
}

export interface StoreFacts {
  available: boolean
  availableAt: Date
  version: string | null
  price: number | null
  currency: string | null
  genre: string | null
  releasedAt: Date | null
  updatedAt: Date | null
}

/** What a look-up said last of an app in a storefront; null = nobody looked it up there. */
export async function readStoreFacts(sql: Db, appId: number, storefront: string, source: FactSource) {
  const [row] = await sql<StoreFacts[]>`
    select available, seen_at as "availableAt", version, price::float8 as price, currency, genre,
      released_at as "releasedAt", updated_at as "updatedAt"
    from app_storefront
    where (app_id, storefront, source) = (${appId}, ${storefront}, ${source})`
  return row ?? null
}

export interface MarketFacts {
  installs: number | null
  hasInAppPurchases: boolean | null
  inAppLeast: number | null
  inAppMost: number | null
  inAppCurrency: string | null
  seenAt: Date
}

/** What a page said last of installs and of what is sold within an app; null = never read. */
export async function readLatestMarketFacts(sql: Db, appId: number, storefront: string, source: FactSource) {
  const [row] = await sql<MarketFacts[]>`
    select installs, has_in_app_purchases as "hasInAppPurchases", in_app_least::float8 as "inAppLeast",
      in_app_most::float8 as "inAppMost", in_app_currency as "inAppCurrency", seen_at as "seenAt"
    from market_fact
    where (app_id, storefront, source) = (${appId}, ${storefront}, ${source})
    order by day desc
    limit 1`
  return row ?? null
}

interface NewestChanges {
  changes: StoredChange[]
  /** There are more than so many. */
  truncated: boolean
}

export async function readNewestChanges(sql: Db, { limit, ...asked }: ChangesQuery): Promise<NewestChanges> {
  const changes = await readChanges(sql, { ...asked, limit: limit + 1 })
  return { changes: changes.slice(0, limit), truncated: changes.length > limit }
}
