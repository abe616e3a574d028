import { checkApp } from "./check-app.ts"
import { checkIds, checkPlace, checkProvenance, checkTime, hold, isGenre } from "./invariants.ts"
import { CHART_SOURCES, CHARTS, type ChartObservation, DEVICES } from "./types.ts"

/** Throws ObservationProblem unless every invariant of a reading of a top chart holds. */
export function checkChart(reading: ChartObservation, now: Date): void {
  checkPlace(reading, CHART_SOURCES)
  checkTime(reading.seenAt, now)
  const { platform, device, chart, genre, depth, complete, apps } = reading
  hold(platform === "ios", "bad_platform", "charts are the App Store's: the platform must be ios")
  hold(DEVICES.includes(device), "bad_kind", `the device must be ${DEVICES.join(" or ")}`)
  hold(CHARTS.includes(chart), "bad_kind", `the chart must be one of ${CHARTS.join(", ")}`)
  hold(isGenre(genre), "bad_text", "a genre must be a number of the store")
  const whole = Number.isInteger(depth) && depth >= 0 && depth <= 1_000
  hold(whole, "bad_depth", "the depth must be a whole number from 0 to 1000")
  hold(typeof complete === "boolean", "bad_depth", "complete must be true or false")
  hold(apps.length <= depth, "too_many_results", "there are more apps than the depth")
  checkIds(
    platform,
    apps.map(({ id }) => id),
    "apps",
  )
  for (const app of apps) {
    checkApp(app, reading.seenAt)
    hold(app.genre === undefined || isGenre(app.genre), "bad_text", "a genre must be a number of the store")
  }
  checkProvenance(reading)
}
