import type { Side } from "../../core/observation/provenance.ts"
import type { RankedApp } from "../../core/ranked-app.ts"
import type { Sql } from "../../database/types.ts"
import { addDays, type Days, monthOf } from "../../lib/days.ts"
import { type VisibilityDay, visibilityOf } from "../formulas/visibility.ts"
import { sideOf } from "./day-answers.ts"
import { readSidesRankMonths } from "./rank-months.ts"
import { readStandings } from "./standings.ts"

interface Visibility {
  tracked: number
  /** Number of keywords with a popularity, which the score is about. */
  weighed: number
  /** Days with a score, oldest first. */
  days: VisibilityDay[]
}

/**
 * Returns the visibility of an app in a storefront, from its stored ranks and the current popularity of its keywords.
 * Google Play publishes no popularity, so nothing is weighed there.
 */
export async function readVisibility(
  sql: Sql,
  app: RankedApp,
  { platform, storefront, today, from, to }: Side & Days & { today: string },
): Promise<Visibility> {
  const side = sideOf(app, { platform, storefront })
  const { terms } = await readStandings(sql, side, { today, key: "popularity", isMoved: false })
  const popularities = new Map(terms.flatMap(({ term, key }) => (key === null ? [] : [[term, key] as const])))
  if (platform === "android" || popularities.size === 0) return { tracked: terms.length, weighed: 0, days: [] }
  const [stored = []] = await readSidesRankMonths(sql, [side], monthsIn({ from, to }))
  const keywords = stored.flatMap(({ term, months }) => {
    const popularity = popularities.get(term)
    return popularity === undefined ? [] : [{ popularity, months }]
  })
  return { tracked: terms.length, weighed: popularities.size, days: visibilityOf(keywords, { from, to }) }
}

/** Returns the first days of the months, oldest first. */
function monthsIn({ from, to }: Days): string[] {
  const months = [monthOf(from)]
  for (;;) {
    const next = monthOf(addDays(months.at(-1) as string, 31))
    if (next > to) return months
    months.push(next)
  }
}
