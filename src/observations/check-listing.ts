import { checkFacts, isDate, isInOrder } from "./app-facts.ts"
import { checkApp } from "./check-app.ts"
import { addressProblem, checkIds, checkPlace, checkProvenance, checkText, checkTime, hold } from "./invariants.ts"
import { LISTING_SOURCES, type Listing, type ListingObservation, type ResultApp } from "./types.ts"

/** Throws ObservationProblem unless every invariant of what an app's page says holds. */
export function checkListing({ id, listing, ...reading }: ListingObservation, now: Date): void {
  checkPlace(reading, LISTING_SOURCES)
  checkTime(reading.seenAt, now)
  checkIds(reading.platform, [id], "listings")
  checkParts(reading, listing)
  checkText(listing.name, LONGEST, "the name of a listing")
  const { rating, ratings, price, currency, ratingsByStar, icon, developerId } = listing
  checkFacts({ rating, ratings, price, currency, ratingsByStar, icon, developerId }, reading.seenAt)
  checkProvenance(reading)
}

/** Throws ObservationProblem unless the parts of a listing can be stored, whichever there are. */
export function checkParts(page: Page, parts: Partial<Listing>): void {
  checkStorable(parts)
  checkOthers(page, parts.similar ?? [], "similar apps")
  checkOthers(page, parts.moreByDeveloper ?? [], "apps of the developer")
  for (const address of Object.values(parts.screenshots ?? {}).flat()) {
    const problem = addressProblem(address)
    hold(problem === null, "bad_text", `a screenshot ${problem}`)
  }
  hold((parts.events ?? []).every(isInOrder), "bad_time", "an event must not end before it begins")
}

type Page = Pick<ListingObservation, "platform" | "seenAt">

// Apple's own limits are far below; a page holds some hundreds of versions.
const LONGEST = 200_000
const MOST_ITEMS = 5_000

/** Every text says something and can be stored, every list has an end and every moment is one. */
function checkStorable(value: unknown): void {
  if (typeof value === "string") checkText(value, LONGEST, "a text of a listing")
  if (value instanceof Date) hold(isDate(value), "bad_time", "a time of a listing must be a valid moment")
  if (Array.isArray(value)) hold(value.length <= MOST_ITEMS, "too_many_results", "a list of a listing is too long")
  if (typeof value === "object" && value !== null) for (const part of Object.values(value)) checkStorable(part)
}

function checkOthers({ platform, seenAt }: Page, apps: readonly ResultApp[], what: string): void {
  checkIds(
    platform,
    apps.map(({ id }) => id),
    what,
  )
  for (const app of apps) checkApp(app, seenAt)
}
