import { checkApp } from "./check-app.ts"
import { checkIds, checkPlace, checkProvenance, checkTime, hold, isGenre, isText } from "./invariants.ts"
import { CHART_SOURCES, CHARTS, type ChartObservation, DEVICES, type GenresObservation } from "./types.ts"

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

const MOST_GENRES = 1_000

/** Throws ObservationProblem unless the genres are one tree, each named and after its parent. */
export function checkGenres({ genres, ...reading }: GenresObservation, now: Date): void {
  checkPlace(reading, ["apple-genres"])
  checkTime(reading.seenAt, now)
  hold(genres.length <= MOST_GENRES, "too_many_results", `there are more than ${MOST_GENRES} genres`)
  const known = new Set<string>()
  for (const [place, { id, name, parent }] of genres.entries()) {
    hold(isGenre(id) && !known.has(id), "bad_text", "each genre must have a number of its own")
    hold(isText(name, 200), "bad_text", "each genre must be named")
    const placed = place === 0 ? parent === undefined : parent !== undefined && known.has(parent)
    hold(placed, "bad_text", "each genre but the first must come after its parent")
    known.add(id)
  }
  checkProvenance(reading)
}
