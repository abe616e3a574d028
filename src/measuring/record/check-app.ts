import { checkFacts } from "../../core/observation/app-facts.ts"
import { checkText, hold, isGenre, isText } from "../../core/observation/invariants.ts"
import { MAX_APP_GENRES, type StoreApp } from "../../core/observation/line-parts.ts"
import type { Platform } from "../../core/observation/provenance.ts"

/** Throws ObservationProblem if a store could not show these facts of an app at that moment. */
export function checkApp(app: StoreApp, seenAt: Date): void {
  checkFacts(app, seenAt)
  if (app.genre !== undefined) checkText(app.genre, 100, "a genre")
  checkGenresOf(app)
}

function checkGenresOf({ genre, genres }: StoreApp): void {
  if (genres === undefined) return
  hold(genres.length <= MAX_APP_GENRES, "too_many_results", `an app has more than ${MAX_APP_GENRES} genres`)
  hold(genre !== undefined && genres[0] === genre, "bad_text", "the first of an app's genres must be its main one")
  const named = new Set(genres).size === genres.length && genres.every((id) => isText(id, 20))
  hold(named, "bad_text", "each of an app's genres must have 1 to 20 characters, and occur only once")
}

/** Throws ObservationProblem for an App Store genre that is not numeric: chart requests are built from it. */
export function checkGenre(platform: Platform, { genre, genres = [] }: StoreApp): void {
  const isNumeric = platform !== "ios" || ((genre === undefined || isGenre(genre)) && genres.every(isGenre))
  hold(isNumeric, "bad_text", "a genre of the App Store must be a number of the store")
}
