import { type DayRank, moveBetween } from "./rank-moves.ts"

/** `rank_drop` and `rank_rise`: the fewest places. A rule's own threshold narrows what is delivered, never what is told. */
export const RANK_PLACES = 3

/**
 * What a keyword's measured day shows against the measured day before it; null = nothing worth telling. What can be
 * compared, and when an absence counts, is said at moveBetween.
 */
export function rankMove(before: DayRank, after: DayRank) {
  const move = moveBetween(before, after)
  if (move?.direction === "entered") return "entered"
  if (move?.direction === "dropped") return "dropped_out"
  if (!move || (move.places ?? 0) < RANK_PLACES) return null
  return move.direction === "down" ? "rank_drop" : "rank_rise"
}

/** Where an app and one of its rivals stand on a keyword's measured day; null = absent, as far as was read. */
export interface Meeting {
  source: string
  ours: number | null
  theirs: number | null
}

/**
 * `rival_passed` and `rival_beaten`: the place that was won is among so many, of rivals named by hand and of those that
 * were found. One fall lets many pass, and below lists are shuffled day by day.
 */
export const RIVAL_PLACES = { manual: 50, found: 10 }

/**
 * Who went above whom between two measured days; null = neither, or nothing worth telling. Days of different sources are
 * not compared. Who is absent from a reading stands below whoever is in it; of two that are absent nothing is known.
 */
export function passing(
  before: Meeting,
  after: Meeting,
  { manual }: { manual: boolean },
): "rival_passed" | "rival_beaten" | null {
  const places = manual ? RIVAL_PLACES.manual : RIVAL_PLACES.found
  if (before.source !== after.source) return null
  if (before.ours !== null && isAbove(before.ours, before.theirs) && isAbove(after.theirs, after.ours))
    return (after.theirs as number) <= places ? "rival_passed" : null
  if (isAbove(before.theirs, before.ours) && isAbove(after.ours, after.theirs))
    return (after.ours as number) <= places ? "rival_beaten" : null
  return null
}

function isAbove(one: number | null, other: number | null): boolean {
  return one !== null && (other === null || one < other)
}

/** `chart_drop`: an app that stays on the chart falls so many places at least, and so much of the place it had. */
export const CHART_FALL = { places: 10, share: 0.25 }
/** `chart_drop`: an app that leaves stood within so much of what was read. Below it apps come and go every day. */
export const CHART_EDGE = 0.9
/** `chart_enter`: among the first so many. */
export const CHART_TOP = 100

/** What a chart's measured day shows against the measured day before it; null = nothing worth telling. */
export function chartMove(before: DayRank, after: DayRank): "chart_drop" | "chart_enter" | null {
  const move = moveBetween(before, after)
  const from = move?.from ?? Number.POSITIVE_INFINITY
  const to = move?.to ?? Number.POSITIVE_INFINITY
  switch (move?.direction) {
    case "entered":
    case "up":
      return from > CHART_TOP && to <= CHART_TOP ? "chart_enter" : null
    case "dropped":
      return from <= CHART_EDGE * after.depth ? "chart_drop" : null
    case "down":
      return to - from >= Math.max(CHART_FALL.places, CHART_FALL.share * from) ? "chart_drop" : null
    default:
      return null
  }
}

/**
 * `review_wave`: so many reviews of one star on a day at least, and so many times the mean of the days before it, up to
 * `days` of them. Fewer than `leastDays` that are known are too few for a mean.
 */
export const WAVE = { least: 5, times: 3, days: 28, leastDays: 7 }

/** Whether a day's reviews of one star are a wave; `earlier` were given on the `days` days before it. */
export function isWave(count: number, earlier: number, days: number): boolean {
  return count >= WAVE.least && days >= WAVE.leastDays && count * days >= WAVE.times * earlier
}

/** `off_topic`: so many of the first ten results must have categories that are known. */
export const TOPIC = { first: 10, known: 8 }

/**
 * Whether none of the first ten results shares a category with the app, main or not; null = of too few of them is any
 * known. Categories are the store's ids; none of an app = not known.
 */
export function isOffTopic(own: readonly string[], results: readonly (readonly string[])[]): boolean | null {
  const known = results.slice(0, TOPIC.first).filter(({ length }) => length > 0)
  if (own.length === 0 || known.length < TOPIC.known) return null
  return !known.some((categories) => categories.some((one) => own.includes(one)))
}
