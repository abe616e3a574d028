import { monthOf } from "../formulas/days.ts"
import { checkApp } from "./check-app.ts"
import {
  checkIds,
  checkPlace,
  checkProvenance,
  checkRankPlace,
  checkTerm,
  checkTime,
  hold,
  isText,
} from "./invariants.ts"
import { HINTS_SOURCES, type HintsObservation, type PopularityObservation, type SearchObservation } from "./types.ts"

export function checkSearch(reading: SearchObservation, now: Date): void {
  checkRankPlace(reading)
  checkTerm(reading.term)
  checkTime(reading.seenAt, now)
  const { platform, depth, complete, results } = reading
  const whole = Number.isInteger(depth) && depth >= 1 && depth <= 250
  hold(whole, "bad_depth", "the depth must be a whole number from 1 to 250")
  hold(typeof complete === "boolean", "bad_depth", "complete must be true or false")
  hold(results.length <= depth, "too_many_results", "there are more results than the depth")
  checkIds(
    platform,
    results.map(({ id }) => id),
    "results",
  )
  for (const result of results) checkApp(result, reading.seenAt)
  checkProvenance(reading)
}

const MOST_HINTS = 100

export function checkHints(answer: HintsObservation, now: Date): void {
  checkPlace(answer, HINTS_SOURCES)
  checkTerm(answer.prefix, "beginning")
  checkTime(answer.seenAt, now)
  const { terms } = answer
  hold(terms.length <= MOST_HINTS, "too_many_results", `there are more than ${MOST_HINTS} terms`)
  for (const term of terms) checkTerm(term, "suggested term")
  hold(new Set(terms).size === terms.length, "duplicate_term", "a term is suggested twice")
  checkProvenance(answer)
}

const MOST_GENRES = 100

export function checkPopularity(figure: PopularityObservation, now: Date): void {
  checkPlace(figure, ["apple-ads-report"])
  checkTerm(figure.term)
  checkTime(figure.seenAt, now)
  const { month, popularity, genres } = figure
  const first = /^\d{4}-\d\d-\d\d$/.test(month) && !Number.isNaN(Date.parse(month)) && monthOf(month) === month
  hold(first, "bad_month", "the month must be given by its first day")
  hold(endOf(month) <= figure.seenAt.getTime(), "bad_month", "the month was not over when the figure was seen")
  hold(isPopularity(popularity), "bad_figure", "the popularity must be a whole number from 1 to 100")
  hold(genres.length <= MOST_GENRES, "too_many_results", `there are more than ${MOST_GENRES} genres`)
  const named = new Set(genres.map(({ genre }) => genre)).size === genres.length
  hold(named && genres.every(({ genre }) => isText(genre, 100)), "bad_text", "each genre must be named, and once")
  for (const { rank, popularity } of genres) {
    hold(Number.isSafeInteger(rank) && rank >= 1, "bad_figure", "a rank in a genre must be a whole number from 1")
    hold(isPopularity(popularity), "bad_figure", "a popularity in a genre must be a whole number from 1 to 100")
  }
  checkProvenance(figure)
}

function endOf(month: string): number {
  const [year, number] = month.split("-").map(Number) as [number, number]
  return Date.UTC(year, number)
}

function isPopularity(figure: number): boolean {
  return Number.isInteger(figure) && figure >= 1 && figure <= 100
}
