import * as v from "valibot"
import { ownId } from "../../core/ranked-app.ts"
import type { TrackedApp } from "../../core/tracked-app.ts"
import type { Sql } from "../../database/types.ts"
import { described, extending, named } from "../../lib/schema.ts"
import { appPage } from "../../lib/store-pages.ts"
import { Count, Time } from "../../tracking/shapes.ts"
import { NO_SHELVES, readSimilarShelves, type ShelfOwner, type Shelves } from "../read/placements.ts"
import { type MarketFacts, NO_PAGE, type PageParts, readLatestMarketFacts, readPageParts } from "../read/store-pages.ts"
import { shelfShape } from "./listing-shapes.ts"
import {
  countShape,
  pageFields,
  pageShape,
  StorePage,
  shownFields,
  starsFields,
  starsShape,
} from "./store-page-shapes.ts"

export const AndroidPage = named(
  "AndroidStorePage",
  extending(
    StorePage,
    v.strictObject({
      ...pageFields,
      releasedAt: described(v.nullable(Time), "First release of the app. Null if unknown."),
      updatedAt: described(v.nullable(Time), "Latest update of the app. Null if unknown."),
      screenshots: described(
        v.nullable(v.array(v.string())),
        "URLs in the order shown; the page does not separate devices. Null if not shown.",
      ),
      installs: described(
        v.nullable(Count),
        "Installs in all countries, as exact as the page shows them. Null if unknown.",
      ),
      inAppLeast: described(v.nullable(v.number()), "Lowest in-app price. Null if unknown."),
      inAppMost: described(v.nullable(v.number()), "Highest in-app price. Null if unknown."),
      inAppCurrency: described(v.nullable(v.string()), "ISO 4217 code of inAppLeast and inAppMost."),
      marketAt: described(
        v.nullable(Time),
        "Time of the latest reading of installs and in-app prices. Null if never read.",
      ),
      ...shownFields,
      ...starsFields,
    }),
  ),
)

interface AndroidPageFacts extends PageParts {
  market: MarketFacts | null
  shelves: Shelves
}

/** Returns the latest reading of the app's Google Play page. Null if the app is not on Google Play. */
export async function readAndroidPage(
  sql: Sql,
  app: TrackedApp,
  { storefront }: { storefront: string },
): Promise<v.InferInput<typeof AndroidPage> | null> {
  if (app.androidApp === null || app.androidPkg === null) return null
  const tracked = ownId(app, { platform: "android", storefront }) !== null
  const { looked, page, release, market, shelves, counts } = tracked
    ? await readPage(sql, { appId: app.androidApp, countries: app.countries }, storefront)
    : UNREAD
  const similarAt = shelves.readAt.get(storefront)
  const facts = pageShape({ looked, page, release })
  return {
    storeId: app.androidPkg,
    url: appPage("android", app.androidPkg, storefront),
    ...facts,
    hasInAppPurchases: facts.hasInAppPurchases ?? market?.hasInAppPurchases ?? null,
    releasedAt: looked?.releasedAt?.toISOString() ?? null,
    updatedAt: looked?.updatedAt?.toISOString() ?? null,
    screenshots: page?.page.screenshots?.phone ?? null,
    installs: market?.installs ?? null,
    inAppLeast: market?.inAppLeast ?? null,
    inAppMost: market?.inAppMost ?? null,
    inAppCurrency: market?.inAppCurrency ?? null,
    marketAt: market?.seenAt.toISOString() ?? null,
    similarAt: similarAt?.toISOString() ?? null,
    similar: similarAt ? shelves.apps.map(shelfShape) : null,
    ...countShape(counts),
    ...starsShape(counts),
  }
}

const UNREAD: AndroidPageFacts = { ...NO_PAGE, market: null, shelves: NO_SHELVES }

async function readPage(sql: Sql, app: Omit<ShelfOwner, "platform">, storefront: string): Promise<AndroidPageFacts> {
  const { appId } = app
  const [parts, market, shelves] = await Promise.all([
    readPageParts(sql, appId, "android", storefront),
    readLatestMarketFacts(sql, appId, storefront, "play-details"),
    readSimilarShelves(sql, { platform: "android", ...app }, [storefront]),
  ])
  return { ...parts, market, shelves }
}
