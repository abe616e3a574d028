import type { Platform, Side } from "../../core/observation/provenance.ts"
import type { Db } from "../../database/types.ts"
import type { FactSource } from "../../lib/upstreams.ts"
import { readLatestMarketFacts, readPageParts } from "../../listings/read/store-pages.ts"

/** Facts of an app's store page on a shared page. Null if unknown; `readAt` is null if the page was never read. */
export interface SharedStorePage {
  /** Time of the latest read. Null if never read. */
  readAt: string | null
  source: FactSource | null
  /** Whether the store's look-up found the app. Null if it was not looked up. */
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
  /**
   * Number of screenshots for phones and tablets. Google Play does not distinguish devices: all count as phone
   * screenshots.
   */
  screenshotsPhone: number | null
  screenshotsPad: number | null
  rating: number | null
  ratings: number | null
  ratingsAt: string | null
  /** Total over all countries. */
  installs: number | null
  installsAt: string | null
}

/**
 * Reads the stored facts of an app's page (by its store_app id) in one store. All fields are null if `appId` is null.
 */
export async function readStorePage(
  sql: Db,
  appId: number | null,
  { platform, storefront }: Side,
): Promise<SharedStorePage> {
  const {
    page: reading,
    looked,
    counts,
    market,
    release,
  } = appId === null ? NOTHING : await readParts(sql, appId, platform, storefront)
  const page = reading?.page
  return {
    readAt: reading?.seenAt.toISOString() ?? null,
    source: reading?.source ?? null,
    available: looked?.available ?? null,
    availableAt: looked?.availableAt.toISOString() ?? null,
    version: page?.version ?? null,
    versionAt: release?.releasedAt?.toISOString() ?? null,
    price: page?.price ?? null,
    currency: page?.currency ?? null,
    category: page?.category ?? null,
    ageRating: page?.ageRating ?? null,
    inAppPurchases: page?.hasInAppPurchases ?? null,
    languages: page?.languages?.length ?? null,
    screenshotsPhone: page?.screenshots?.phone?.length ?? null,
    screenshotsPad: page?.screenshots?.pad?.length ?? null,
    rating: counts?.rating ?? null,
    ratings: counts?.ratings ?? null,
    ratingsAt: counts?.ratingsAt?.toISOString() ?? null,
    installs: market?.installs ?? null,
    installsAt: market?.installs == null ? null : market.seenAt.toISOString(),
  }
}

async function readParts(sql: Db, appId: number, platform: Platform, storefront: string) {
  const parts = await readPageParts(sql, appId, platform, storefront)
  const market = platform === "android" ? await readLatestMarketFacts(sql, appId, storefront, "play-details") : null
  return { ...parts, market }
}

const NOTHING: Partial<Awaited<ReturnType<typeof readParts>>> = {}
