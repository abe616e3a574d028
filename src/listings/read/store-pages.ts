import type { RatingsByStar } from "../../core/observation/line-parts.ts"
import type { Platform } from "../../core/observation/provenance.ts"
import type { Db } from "../../database/types.ts"
import type { FactSource } from "../../lib/upstreams.ts"
import type { Listing } from "../../stores/kinds/listing-shape.ts"
import { preferredRating } from "../../stores/read/rating-days.ts"
import { type ChangesQuery, readChanges, type StoredChange } from "./changes.ts"

/** Sources of an app's own page, in order of preference. */
export const PAGE_SOURCES: Record<Platform, readonly FactSource[]> = {
  ios: ["apple-app-page", "itunes-lookup"],
  android: ["play-details"],
}

/** The stored content of a page, without names and description. Times are strings. */
type StoredPage = Partial<
  Omit<Listing, "name" | "subtitle" | "description" | "versions" | "rating" | "ratings" | "ratingsByStar" | "similar">
>

export interface PageState {
  storefront: string
  source: FactSource
  /** The first reading by any of the sources. */
  firstReadAt: Date
  /** The first of the latest consecutive readings with the same content. */
  unchangedSince: Date
  seenAt: Date
  origin: string
  /** Whether the page showed cards of the store's editors. */
  hasEditorial: boolean
  hasEvents: boolean
}

export interface PageReading extends PageState {
  page: StoredPage
}

/**
 * Returns when an app's page (store_app id) was read in each storefront. Uses the most preferred of the sources that
 * read the page there.
 */
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

/**
 * Returns the latest content of an app's page (store_app id) in a storefront, from the most preferred of the sources
 * that read the page there.
 */
export async function readLatestPage(
  sql: Db,
  appId: number,
  storefront: string,
  sources: readonly FactSource[],
): Promise<PageReading | undefined> {
  const rows = await sql<PageReading[]>`
    select ${pageColumns(sql)}
    ${latestRuns(sql, appId, [storefront], sources)}
    order by s.place, u.preference
    limit 1000`
  return firstOfEach(rows).get(storefront)
}

function pageColumns(sql: Db) {
  return sql`${stateColumns(sql)}, c.content - '{name,subtitle,description}'::text[] as page`
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

interface Release {
  releasedAt: Date | null
  notes: string | null
}

export interface LatestCounts {
  rating: number | null
  ratings: number | null
  ratingsAt: Date | null
  stars: RatingsByStar | null
  starsAt: Date | null
}

interface StoreFacts {
  available: boolean
  availableAt: Date
  price: number | null
  currency: string | null
  genre: string | null
  releasedAt: Date | null
  updatedAt: Date | null
}

/** All readings of an app's page in a storefront. */
export interface PageParts {
  /** The result of readLatestPage. */
  page: PageReading | undefined
  /** The release of the page's version. */
  release: Release
  /** The latest look-up. Null if the app was never looked up there. */
  looked: StoreFacts | null
  /** The latest rating count, and the latest count by star, which only some readings contain. */
  counts: LatestCounts
}

export const NO_PAGE: PageParts = {
  page: undefined,
  release: { releasedAt: null, notes: null },
  looked: null,
  counts: { rating: null, ratings: null, ratingsAt: null, stars: null, starsAt: null },
}

/** One statement, because four separate statements took 50% longer. */
export async function readPageParts(
  sql: Db,
  appId: number,
  platform: Platform,
  storefront: string,
): Promise<PageParts> {
  const [row] = await sql<[PartsRow]>`
    select p.*, v.released_at as "versionAt", v.notes, f.available, f.seen_at as "availableAt",
      f.price::float8 as price, f.currency, f.genre, f.released_at as "releasedAt", f.updated_at as "updatedAt",
      c.rating, c.ratings, c.seen_at as "ratingsAt", to_json(s.stars) as stars, s.seen_at as "starsAt"
    from (select) nothing
    left join lateral (
      select ${pageColumns(sql)}
      ${latestRuns(sql, appId, [storefront], PAGE_SOURCES[platform])}
      order by u.preference
      limit 1
    ) p on true
    left join lateral (
      select released_at, notes
      from listing_version
      where (app_id, storefront, source, version) = (${appId}, ${storefront}, p.source, p.page ->> 'version')
      order by parser desc, first_seen_at desc, digest
      limit 1
    ) v on true
    left join app_storefront f on (f.app_id, f.storefront, f.source) = (${appId}, ${storefront},
      ${LOOKED_UP_BY[platform]})
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
  const { source, availableAt, ...parts } = row
  const { rating, ratings, ratingsAt, stars, starsAt } = parts
  return {
    page: source === null ? undefined : { ...parts, source },
    release: { releasedAt: parts.versionAt, notes: parts.notes },
    looked: availableAt === null ? null : { ...parts, availableAt },
    counts: { rating, ratings, ratingsAt, stars, starsAt },
  }
}

/** The source of look-ups per store. */
const LOOKED_UP_BY: Record<Platform, FactSource> = { ios: "itunes-lookup", android: "play-details" }

type PartsRow = Omit<PageReading, "source"> &
  Omit<StoreFacts, "availableAt"> &
  LatestCounts & { source: FactSource | null; availableAt: Date | null; versionAt: Date | null; notes: string | null }

export interface MarketFacts {
  installs: number | null
  hasInAppPurchases: boolean | null
  inAppLeast: number | null
  inAppMost: number | null
  inAppCurrency: string | null
  seenAt: Date
}

/** Returns the latest installs and in-app prices of a page. Null if never read. */
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
  /** True if there are more changes than `limit`. */
  truncated: boolean
}

export async function readNewestChanges(sql: Db, { limit, ...query }: ChangesQuery): Promise<NewestChanges> {
  const changes = await readChanges(sql, { ...query, limit: limit + 1 })
  return { changes: changes.slice(0, limit), truncated: changes.length > limit }
}
