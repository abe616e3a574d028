import { checkApp, checkGenre, isDate } from "./check-app.ts"
import { checkIds, checkPlace, checkProvenance, checkTime, hold, isDeveloperId, isText } from "./invariants.ts"
import {
  type DeveloperAppsObservation,
  LISTING_SOURCES,
  type Listing,
  type ListingObservation,
  type ResultApp,
} from "./types.ts"

/** Throws ObservationProblem unless every invariant of what an app's page says holds. */
export function checkListing({ id, listing, ...reading }: ListingObservation, now: Date): void {
  checkPlace(reading, LISTING_SOURCES)
  checkTime(reading.seenAt, now)
  checkIds(reading.platform, [id], "listings")
  checkParts(reading.platform, listing)
  hold(isText(listing.name, LONGEST), "bad_text", "a listing must have a name")
  const { rating, ratings, price, currency, ratingsByStar } = listing
  checkApp({ id, rating, ratings, price, currency })
  const counted = ratingsByStar === undefined || (ratingsByStar.length === 5 && ratingsByStar.every(isCount))
  hold(counted, "bad_figure", "the ratings by star must be five whole numbers from 0")
  checkProvenance(reading)
}

/** Throws ObservationProblem unless the parts of a listing can be stored, whichever there are. */
export function checkParts(platform: ListingObservation["platform"], parts: Partial<Listing>): void {
  checkStorable(parts)
  checkOthers(platform, parts.similar ?? [], "similar apps")
  checkOthers(platform, parts.moreByDeveloper ?? [], "apps of the developer")
}

// Apple's own limits are far below; a page holds some hundreds of versions.
const LONGEST = 200_000
const MOST_ITEMS = 5_000

/** Every text says something and can be stored, every list has an end and every moment is one. */
function checkStorable(value: unknown): void {
  if (typeof value === "string") hold(isText(value, LONGEST), "bad_text", "a text of a listing cannot be stored")
  if (value instanceof Date) hold(isDate(value), "bad_time", "a time of a listing must be a valid moment")
  if (Array.isArray(value)) hold(value.length <= MOST_ITEMS, "too_many_results", "a list of a listing is too long")
  if (typeof value === "object" && value !== null) for (const part of Object.values(value)) checkStorable(part)
}

function isCount(figure: number): boolean {
  return Number.isSafeInteger(figure) && figure >= 0
}

function checkOthers(platform: ListingObservation["platform"], apps: readonly ResultApp[], what: string): void {
  checkIds(
    platform,
    apps.map(({ id }) => id),
    what,
  )
  apps.forEach(checkApp)
}

/** Throws ObservationProblem unless every invariant of what a store sells of a developer's holds. */
export function checkDeveloper(reading: DeveloperAppsObservation, now: Date): void {
  checkPlace(reading, ["itunes-developer"])
  checkTime(reading.seenAt, now)
  hold(isDeveloperId(reading.developerId), "bad_text", "the developer must be a number of the store")
  hold(typeof reading.complete === "boolean", "bad_depth", "complete must be true or false")
  checkOthers(reading.platform, reading.apps, "apps")
  for (const app of reading.apps) checkGenre(reading.platform, app)
  checkProvenance(reading)
}
