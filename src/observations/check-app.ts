import { checkRatings, hold, isGenre, isText } from "./invariants.ts"
import { type MarketFacts, MOST_APP_GENRES, type Platform, type StoreApp } from "./types.ts"

/** Throws ObservationProblem unless the facts that a store shows of an app can be stored. */
export function checkApp(app: StoreApp): void {
  checkRatings(app)
  const { price, currency, genre, developerId, developerSite, releasedAt, updatedAt, market } = app
  const priced = price === undefined || (price >= 0 && price < 1e12)
  hold(priced, "bad_figure", "a price must be a number from 0")
  hold(currency === undefined || /^[A-Z]{3}$/.test(currency), "bad_figure", "a currency must be a code of ISO 4217")
  hold(genre === undefined || isText(genre, 100), "bad_text", "a genre must have 1 to 100 characters")
  checkGenresOf(app)
  hold(
    developerId === undefined || isText(developerId, 200),
    "bad_text",
    "a developer's id must have 1 to 200 characters",
  )
  const isSite = developerSite === undefined || (isText(developerSite, 2_000) && /^https?:\/\/\S+$/.test(developerSite))
  hold(isSite, "bad_text", "a developer's site must be an address")
  hold([releasedAt, updatedAt].every(isDate), "bad_time", "a release or update must be a valid moment")
  if (market) checkMarket(market)
}

function checkGenresOf({ genre, genres }: StoreApp): void {
  if (genres === undefined) return
  hold(genres.length <= MOST_APP_GENRES, "too_many_results", `an app has more than ${MOST_APP_GENRES} genres`)
  hold(genre !== undefined && genres[0] === genre, "bad_text", "the first of an app's genres must be its main one")
  const named = new Set(genres).size === genres.length && genres.every((id) => isText(id, 20))
  hold(named, "bad_text", "each of an app's genres must have 1 to 20 characters, and stand once")
}

/** Throws ObservationProblem for a genre that is no number of the App Store: its charts would be asked for by it. */
export function checkGenre(platform: Platform, { genre, genres = [] }: StoreApp): void {
  const known = platform !== "ios" || ((genre === undefined || isGenre(genre)) && genres.every(isGenre))
  hold(known, "bad_text", "a genre of the App Store must be a number of the store")
}

function checkMarket({ installs, inAppLeast, inAppMost, inAppCurrency, hasInAppPurchases }: MarketFacts): void {
  const counted = installs === undefined || (Number.isSafeInteger(installs) && installs >= 0)
  hold(counted, "bad_figure", "installs must be a whole number from 0")
  const told = hasInAppPurchases === undefined || typeof hasInAppPurchases === "boolean"
  hold(told, "bad_figure", "whether anything is sold within an app must be true or false")
  const both = (inAppLeast === undefined) === (inAppMost === undefined)
  const priced = inAppLeast === undefined || inAppMost === undefined || (inAppLeast >= 0 && inAppLeast <= inAppMost)
  hold(
    both && priced && (inAppMost ?? 0) < 1e12,
    "bad_figure",
    "prices within an app must be two numbers from 0 in order",
  )
  const sold = inAppLeast === undefined || hasInAppPurchases !== false
  hold(sold, "bad_figure", "an app that sells nothing has no prices within it")
  const known = inAppCurrency === undefined || /^[A-Z]{3}$/.test(inAppCurrency)
  hold(known, "bad_figure", "a currency must be a code of ISO 4217")
}

// what a store shows may lie ahead: an app can be ordered before its release
const EARLIEST = Date.parse("1970-01-01")
const LATEST = Date.parse("2200-01-01")

/** A moment that a store can show. */
export function isDate(at: Date | undefined): boolean {
  return at === undefined || (at.getTime() >= EARLIEST && at.getTime() < LATEST)
}
