import type { Platform, Side } from "../../core/observation/provenance.ts"
import type { Db } from "../../database/types.ts"
import type { FactSource } from "../../lib/upstreams.ts"
import { readLatestMarketFacts, readPageParts } from "../../listings/read/store-pages.ts"

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
