import type { StoreApp } from "../../core/observation/line-parts.ts"
import { cleanText } from "../store/facts.ts"
import type { AppsObservation } from "./apps-shape.ts"
import { isLookUp } from "./apps-shape.ts"
import { LISTING_SOURCES, type ListingObservation } from "./listing-shape.ts"

/**
 * Returns the listings that these look-ups contain, each with its look-up. An unavailable app has no listing. Rating
 * counts are omitted, because the look-up itself stores them.
 */
export function pagesIn(lookUps: readonly AppsObservation[]): Map<ListingObservation, AppsObservation> {
  return new Map(
    lookUps.flatMap((from) => {
      const source = LISTING_SOURCES.find((name) => name === from.source)
      return source === undefined ? [] : from.apps.flatMap((app) => pageIn(from, source, app))
    }),
  )
}

/**
 * Returns the look-up with a listing for every app that has a name, as a live look-up has it. An added listing contains
 * only the look-up's name, version and price; its missing parts do not count as removed.
 */
export function withPages(lookUp: AppsObservation): AppsObservation {
  if (!isLookUp(lookUp)) return lookUp
  const apps = lookUp.apps.map((app) => (app.listing || app.name === undefined ? app : { ...app, listing: {} }))
  return { ...lookUp, apps }
}

/** Returns the look-up without listings. Listings of untracked apps would fill the database. */
export function withoutPages(lookUp: AppsObservation): AppsObservation {
  return { ...lookUp, apps: lookUp.apps.map(({ listing: _listing, ...app }) => app) }
}

function pageIn(
  from: AppsObservation,
  source: ListingObservation["source"],
  app: StoreApp,
): [ListingObservation, AppsObservation][] {
  const { platform, storefront, seenAt, parser, origin, sha256 } = from
  const name = cleanText(app.name)
  if (app.listing === undefined || name === undefined) return []
  const { id, price, currency } = app
  const parts = {
    icon: cleanText(app.icon),
    developer: cleanText(app.developer),
    developerId: app.developerId,
    bundleId: cleanText(app.bundleId),
    version: cleanText(app.version),
    price,
    currency,
    updatedAt: app.updatedAt,
    hasInAppPurchases: app.market?.hasInAppPurchases,
    ...app.listing,
  }
  const listing = { name, ...Object.fromEntries(Object.entries(parts).filter(([, part]) => part !== undefined)) }
  const about = { platform, storefront, seenAt, parser, origin, sha256 }
  return [[{ kind: "listing", source, id, listing, ...about }, from]]
}
