import type { Sql } from "../../database/types.ts"
import {
  latestCounts,
  latestMarketFacts,
  latestPage,
  lookedUp,
  PAGE_SOURCES,
  type PageReading,
  releaseOf,
} from "../../observations/listing-reads.ts"
import type { Side } from "../../observations/ranks.ts"
import type { FactSource } from "../../observations/types.ts"

/** What a shared page shows of the app's page in a store. Null is not known: `readAt` says whether the page was ever read. */
export interface SharedStorePage {
  /** When the page was read last; null = never. */
  readAt: string | null
  source: FactSource | null
  /** Whether the store's look-up found the app; null = it was not looked up. */
  available: boolean | null
  availableAt: string | null
  version: string | null
  versionAt: string | null
  price: number | null
  currency: string | null
  category: string | null
  ageRating: string | null
  inAppPurchases: boolean | null
  languages: number | null
  /** Screenshots for phones and tablets. Google Play does not tell devices apart: all count as phones'. */
  screenshotsPhone: number | null
  screenshotsPad: number | null
  rating: number | null
  ratings: number | null
  ratingsAt: string | null
  /** Of all countries. */
  installs: number | null
  installsAt: string | null
}

/** What is known of the page of an app (a store_app id) in one store; all null for none. */
export async function sharedStorePage(
  sql: Sql,
  appId: number | null,
  { platform, storefront }: Side,
): Promise<SharedStorePage> {
  if (appId === null) return UNKNOWN
  const android = platform === "android"
  const reading = await latestPage(sql, appId, storefront, PAGE_SOURCES[platform])
  const looked = await lookedUp(sql, appId, storefront, android ? "play-details" : "itunes-lookup")
  const { rating, ratings, ratingsAt } = await latestCounts(sql, appId, storefront)
  const market = android ? await latestMarketFacts(sql, appId, storefront, "play-details") : null
  return {
    ...UNKNOWN,
    ...(reading && (await pageOf(sql, appId, storefront, reading))),
    available: looked?.available ?? null,
    availableAt: looked?.availableAt.toISOString() ?? null,
    rating,
    ratings,
    ratingsAt: ratingsAt?.toISOString() ?? null,
    installs: market?.installs ?? null,
    installsAt: market?.installs == null ? null : market.seenAt.toISOString(),
  }
}

const UNKNOWN: SharedStorePage = {
  readAt: null,
  source: null,
  available: null,
  availableAt: null,
  version: null,
  versionAt: null,
  price: null,
  currency: null,
  category: null,
  ageRating: null,
  inAppPurchases: null,
  languages: null,
  screenshotsPhone: null,
  screenshotsPad: null,
  rating: null,
  ratings: null,
  ratingsAt: null,
  installs: null,
  installsAt: null,
}

async function pageOf(
  sql: Sql,
  appId: number,
  storefront: string,
  { page, source, seenAt }: PageReading,
): Promise<Partial<SharedStorePage>> {
  const { version = null, price = null, currency = null, category = null, ageRating = null } = page
  const release = version === null ? null : await releaseOf(sql, { appId, storefront, source, version })
  return {
    readAt: seenAt.toISOString(),
    source,
    version,
    versionAt: release?.releasedAt?.toISOString() ?? null,
    price,
    currency,
    category,
    ageRating,
    inAppPurchases: page.hasInAppPurchases ?? null,
    languages: page.languages?.length ?? null,
    screenshotsPhone: page.screenshots?.phone?.length ?? null,
    screenshotsPad: page.screenshots?.pad?.length ?? null,
  }
}
