import type { Platform } from "../../../core/observation/provenance.ts"
import type { TrackedApp } from "../../../core/tracked-app.ts"
import type { Sql } from "../../../database/types.ts"
import { titleMatcher } from "../../../keywords/formulas/title-match.ts"
import { readTrackedTerms } from "../../../keywords/read/ranks.ts"
import { type RankPoint, readRankSeries, type TermSeries } from "../../../keywords/read/series.ts"
import { type Days, dayOf, later } from "../../../lib/days.ts"
import type { StoredChange } from "../../../listings/read/changes.ts"
import type { DailyFigures } from "../../impact/series.ts"
import type { ChangedPage } from "./changed-day.ts"
import { inSpan, type OutcomeFigures, type OutcomeSpan, spanAround } from "./outcome.ts"

/** Maximum number of the storefront's keywords to use, in the app's order. */
const MAX_TERMS = 300

interface RankQuery {
  platform: Platform
  changed: ChangedPage
  storefront: string
  window: number
  plan: Days
  now: Date
}

/**
 * Compares, in one storefront, the ranks of keywords whose words were added to or removed from the name or subtitle
 * with the ranks of other keywords. Null if no tracked keyword was affected.
 */
export async function readRankOutcome(
  sql: Sql,
  app: TrackedApp,
  { platform, changed, storefront, window, plan, now }: RankQuery,
): Promise<OutcomeFigures | null> {
  const texts = changed.texts.filter((change) => change.storefront === storefront)
  const today = texts.filter(({ day }) => day === changed.day)
  if (today.length === 0) return null
  const touched = touchedBy()
  // Most changes affect no keyword, so this is checked before any ranks are read.
  const terms = await readTrackedTerms(sql, app, storefront, MAX_TERMS)
  if (!terms.some((term) => today.some((change) => touched(change, term)))) return null
  const leftOut = { from: dayOf(changed.notYetAt), to: dayOf(changed.at) }
  const span = spanAround("UTC", leftOut, { window, ownDays: changed.ownDays })
  const from = later(span.first, plan.from)
  const query = { platform, storefront, from, to: span.after.to, limit: MAX_TERMS }
  const all = await readRankSeries(sql, app, query)
  const treated = all.filter(({ term }) => today.some((change) => touched(change, term)))
  if (treated.length === 0) return null
  const untouched = all.filter(({ term }) => !texts.some((change) => touched(change, term)))
  const figures = (terms: readonly TermSeries[]) => terms.map((term) => placesOf(term, span))
  return {
    outcome: "ranks",
    better: "lower",
    country: storefront,
    span,
    isComplete: span.after.to < dayOf(now),
    treated: treated.map(({ term }) => term),
    comparison: { scale: "places", treated: figures(treated), controls: figures(untouched) },
  }
}

/** Returns true if the change added the keyword's words to a text or removed them from it. */
function touchedBy(): (change: StoredChange, term: string) => boolean {
  const match = titleMatcher()
  return ({ before, after }, term) => match(term, String(before ?? "")) !== match(term, String(after ?? ""))
}

/**
 * Returns the ranks from the source with the most days, cut to the depth of its shallowest reading. An app that is not
 * found counts as one rank below that depth, so that a deeper reading does not look like a fall.
 */
function placesOf({ term, points }: TermSeries, span: OutcomeSpan): DailyFigures {
  const bySource = [...Map.groupBy(points, ({ source }) => source).values()]
  const longest = bySource.reduce<RankPoint[]>((most, item) => (item.length > most.length ? item : most), [])
  const below = Math.min(...longest.map(({ depth }) => depth)) + 1
  const byDay = new Map(longest.map(({ day, rank }) => [day, Math.min(rank ?? below, below)]))
  return { name: term, weight: 1, values: inSpan(span, (day) => byDay.get(day)) }
}
