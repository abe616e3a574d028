import type { Side } from "../../core/observation/provenance.ts"
import type { RankedApp } from "../../core/ranked-app.ts"
import type { Sql } from "../../database/types.ts"
import { addDays, type Days, dayNumber } from "../../lib/days.ts"
import { type RankMonth, type VisibilityDay, visibilityOf } from "../formulas/visibility.ts"
import { figuresOf, SHOWN_DAYS } from "../store/keyword-figures.ts"
import { popularityOrderOf } from "../store/popularity-order.ts"
import { numbersIn, numbersTogether } from "./columns.ts"
import { type SideApp, sideOf } from "./day-answers.ts"
import { rankMonthsIn, storedRanks } from "./stored-months.ts"

interface Visibility {
  tracked: number
  /** Number of keywords with a popularity, on which the score is based. */
  weighed: number
  /** Days with a score, oldest first. */
  days: VisibilityDay[]
}

/**
 * Returns the visibility of an app in a storefront, from its stored ranks and the current popularity of its keywords.
 * On Google Play, which publishes no popularity, there are no days with a score.
 */
export async function readVisibility(
  sql: Sql,
  app: RankedApp,
  { platform, storefront, today, from, to }: Side & Days & { today: string },
): Promise<Visibility> {
  const side = sideOf(app, { platform, storefront })
  if (side.storeAppId === null) return { tracked: 0, weighed: 0, days: [] }
  const { tracked, weights } = await readWeights(sql, side, today)
  if (platform === "android" || weights.size === 0) return { tracked, weighed: 0, days: [] }
  const months = await readMonths(sql, { storeAppId: side.storeAppId, lists: [...weights.keys()] }, { from, to })
  return { tracked, weighed: weights.size, days: visibilityOf(weights, months, { from, to }) }
}

/** Returns the popularity of each keyword that has one, by list. The latest ranks are not read. */
async function readWeights(
  sql: Sql,
  { appId, platform, storefront }: SideApp,
  today: string,
): Promise<{ tracked: number; weights: Map<number, number> }> {
  const popularity = popularityOrderOf(sql, {
    published: sql`n.published`,
    estimate: sql`case when n.estimate_day >= ${addDays(today, -SHOWN_DAYS)}::date then n.estimate end`,
    platform: sql`${platform}`,
  })
  const [row] = await sql<[{ tracked: number; lists: string | null; popularities: string | null }]>`
    select count(*)::int as tracked,
      ${numbersTogether(sql, sql`k.list_id`)} as lists, ${numbersTogether(sql, sql`k.popularity`)} as popularities
    from (
      select l.id as list_id, ${popularity} as popularity
      from tracked_term t
      left join lateral (
        select id
        from list
        where (platform, storefront, term) = (${platform}, ${storefront}, t.term)
        offset 0
      ) l on true
      left join lateral (${figuresOf(sql, sql`l.id`)}) n on true
      where t.app_id = ${appId} and t.country = ${storefront}
    ) k`
  const popularities = numbersIn(row.popularities ?? "")
  const weights = new Map<number, number>()
  for (const [at, list] of numbersIn(row.lists ?? "").entries())
    if (list !== null && popularities[at] != null) weights.set(list, popularities[at])
  return { tracked: row.tracked, weights }
}

/** Rows per statement. More would block other callers of the embedded database. */
const ROWS_AT_ONCE = 2_000

async function readMonths(
  sql: Sql,
  { storeAppId, lists }: { storeAppId: number; lists: readonly number[] },
  days: Days,
): Promise<RankMonth[]> {
  const monthsEach = 1 + (dayNumber(days.to) - dayNumber(days.from)) / 30
  const atOnce = Math.ceil(ROWS_AT_ONCE / monthsEach)
  const months: RankMonth[] = []
  for (let at = 0; at < lists.length; at += atOnce) {
    const part = { storeAppId: sql`${storeAppId}::int`, lists: sql`${lists.slice(at, at + atOnce)}::int[]` }
    const [row] = await sql<[{ ranks: Uint8Array | null }]>`select ${storedRanks(sql, part, days)} as ranks`
    months.push(...rankMonthsIn(row.ranks))
  }
  return months
}
