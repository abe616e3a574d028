import type { Side } from "../../core/observation/provenance.ts"
import type { RankedApp } from "../../core/ranked-app.ts"
import type { Sql } from "../../database/types.ts"
import { addDays, type Days, monthOf } from "../../lib/days.ts"
import type { StoredMonth } from "../../lib/month-bytes.ts"
import { type VisibilityDay, visibilityOf } from "../formulas/visibility.ts"
import { sideOf } from "./day-answers.ts"
import { readStandings } from "./standings.ts"
import { type MonthsRow, monthsByList, storedMonths } from "./stored-months.ts"

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
  const popularities = terms.flatMap(({ listId, key }) => (key === null ? [] : [{ listId, popularity: key }]))
  if (platform === "android" || popularities.length === 0) return { tracked: terms.length, weighed: 0, days: [] }
  const lists = popularities.flatMap(({ listId }) => listId ?? [])
  const stored = await readMonths(sql, { own: side.own, lists }, monthsIn({ from, to }))
  const keywords = popularities.map(({ listId, popularity }) => ({ popularity, months: stored.get(listId ?? 0) ?? [] }))
  return { tracked: terms.length, weighed: popularities.length, days: visibilityOf(keywords, { from, to }) }
}

/** Rows per statement. More would block others on the embedded database. */
const ROWS_AT_ONCE = 2_000

async function readMonths(
  sql: Sql,
  { own, lists }: { own: number | null; lists: readonly number[] },
  months: readonly string[],
): Promise<Map<number, StoredMonth[]>> {
  const atOnce = Math.ceil(ROWS_AT_ONCE / months.length)
  const stored = new Map<number, StoredMonth[]>()
  for (let at = 0; at < lists.length; at += atOnce) {
    const part = { own: sql`${own}::int`, lists: sql`${lists.slice(at, at + atOnce)}::int[]` }
    const [row] = await sql<[MonthsRow]>`select ${storedMonths(sql, part, months)}`
    for (const [list, listMonths] of monthsByList(row, months)) stored.set(list, listMonths)
  }
  return stored
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
