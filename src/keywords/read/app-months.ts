import type { RankedApp } from "../../core/ranked-app.ts"
import type { Sql } from "../../database/types.ts"
import { addDays, monthsOf } from "../../lib/days.ts"
import { LINE_DAYS, type RankMonth, rankMonthOf } from "../formulas/rank-month.ts"
import { sidesOf } from "./day-answers.ts"
import { readSidesRankMonths } from "./rank-months.ts"

/** Returns the RankMonth of each app, in the order of `apps`. */
export async function readAppRankMonths(sql: Sql, apps: readonly RankedApp[], today: string): Promise<RankMonth[]> {
  const sides = apps.map(sidesOf)
  const months = monthsOf({ from: addDays(today, 1 - LINE_DAYS), to: today })
  const read = (await readSidesRankMonths(sql, sides.flat(), months)).values()
  return sides.map((ofApp) => {
    const terms = ofApp.flatMap(({ storefront, platform }) => {
      const stored = read.next().value ?? []
      return stored.map((term) => ({ ...term, country: storefront, platform }))
    })
    return rankMonthOf(terms, today)
  })
}
