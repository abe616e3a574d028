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

/** Keywords of the storefront that are looked at, in the app's order. */
const MOST_TERMS = 300

interface RankQuery {
  changed: ChangedPage
  storefront: string
  window: number
  plan: Days
  now: Date
}

/**
 * The places of keywords whose words entered or left name or subtitle, beside those of keywords whose words did not, in one
 * storefront; null where no tracked keyword is among the former.
 */
export async function readRankOutcome(
  sql: Sql,
  app: TrackedApp,
  { changed, storefront, window, plan, now }: RankQuery,
): Promise<OutcomeFigures | null> {
  const texts = changed.texts.filter((change) => change.storefront === storefront)
  const today = texts.filter(({ day }) => day === changed.day)
  if (today.length === 0) return null
  const touched = touchedBy()
  // mostly a change touches none: then no month is read
  const terms = await readTrackedTerms(sql, app, storefront, MOST_TERMS)
  if (!terms.some((term) => today.some((change) => touched(change, term)))) return null
  const leftOut = { from: dayOf(changed.notYetAt), to: dayOf(changed.at) }
  const span = spanAround("UTC", leftOut, { window, ownDays: changed.ownDays })
  const from = later(span.first, plan.from)
  const asked = { platform: "ios" as const, storefront, from, to: span.after.to, limit: MOST_TERMS }
  const all = await readRankSeries(sql, app, asked)
  const treated = all.filter(({ term }) => today.some((change) => touched(change, term)))
  if (treated.length === 0) return null
  const others = all.filter(({ term }) => !texts.some((change) => touched(change, term)))
  const figures = (terms: readonly TermSeries[]) => terms.map((term) => placesOf(term, span))
  return {
    ...{ outcome: "ranks", better: "lower", country: storefront, span, isComplete: span.after.to < dayOf(now) },
    treated: treated.map(({ term }) => term),
    comparison: { scale: "places", treated: figures(treated), controls: figures(others) },
  }
}

/** Whether a text is more or less about a keyword than the one before it. */
function touchedBy(): (change: StoredChange, term: string) => boolean {
  const match = titleMatcher()
  return ({ before, after }, term) => match(term, String(before ?? "")) !== match(term, String(after ?? ""))
}

/**
 * Of the source that read most days, no deeper than its shallowest reading: an app below that stands right below it, so
 * that a deeper reading does not look like a fall.
 */
function placesOf({ term, points }: TermSeries, span: OutcomeSpan): DailyFigures {
  const bySource = [...Map.groupBy(points, ({ source }) => source).values()]
  const own = bySource.reduce<RankPoint[]>((most, one) => (one.length > most.length ? one : most), [])
  const below = Math.min(...own.map(({ depth }) => depth)) + 1
  const byDay = new Map(own.map(({ day, rank }) => [day, Math.min(rank ?? below, below)]))
  return { name: term, weight: 1, values: inSpan(span, (day) => byDay.get(day)) }
}
