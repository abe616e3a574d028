import { checkIds, checkPlace, checkProvenance, checkRatings, checkTime, hold, isText } from "./invariants.ts"
import { APPS_SOURCES, type AppsObservation, type StoreApp } from "./types.ts"

/** Throws ObservationProblem unless every invariant of what a store said of apps holds. */
export function checkApps(reading: AppsObservation, now: Date): void {
  checkPlace(reading, APPS_SOURCES)
  checkTime(reading.seenAt, now)
  checkIds(reading.platform, reading.asked, "apps that were asked for")
  checkIds(
    reading.platform,
    reading.apps.map(({ id }) => id),
    "apps",
  )
  reading.apps.forEach(checkApp)
  checkProvenance(reading)
}

/** Throws ObservationProblem unless the facts that a store shows of an app can be stored. */
export function checkApp(app: StoreApp): void {
  checkRatings(app)
  const { price, currency, genre, releasedAt, updatedAt } = app
  const priced = price === undefined || (price >= 0 && price < 1e12)
  hold(priced, "bad_figure", "a price must be a number from 0")
  hold(currency === undefined || /^[A-Z]{3}$/.test(currency), "bad_figure", "a currency must be a code of ISO 4217")
  hold(genre === undefined || isText(genre, 100), "bad_text", "a genre must have 1 to 100 characters")
  hold([releasedAt, updatedAt].every(isDate), "bad_time", "a release or update must be a valid moment")
}

// what a store shows may lie ahead: an app can be ordered before its release
const EARLIEST = Date.parse("1970-01-01")
const LATEST = Date.parse("2200-01-01")

/** A moment that a store can show. */
export function isDate(at: Date | undefined): boolean {
  return at === undefined || (at.getTime() >= EARLIEST && at.getTime() < LATEST)
}
