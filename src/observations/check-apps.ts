import { checkApp, checkGenre } from "./check-app.ts"
import { checkParts } from "./check-listing.ts"
import { checkIds, checkPlace, checkProvenance, checkTime, hold } from "./invariants.ts"
import { APPS_SOURCES, type AppsObservation, LOOKUP_SOURCES, type StoreApp } from "./types.ts"

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
  for (const app of reading.apps) {
    checkApp(app, reading.seenAt)
    checkGenre(reading.platform, app)
    if (app.listing) checkBeside(reading, app)
  }
  checkProvenance(reading)
}

function checkBeside({ source, platform, seenAt }: AppsObservation, { name, listing = {} }: StoreApp): void {
  hold(LOOKUP_SOURCES.includes(source), "bad_source", "only a look-up says what stands on an app's page")
  hold(typeof name === "string" && /\S/.test(name), "bad_text", "a listing must have a name")
  checkParts({ platform, seenAt }, listing)
}
