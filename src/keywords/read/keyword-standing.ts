import type { Outcome } from "../../core/observation/attempt.ts"
import type { ListKey } from "../../core/observation/subjects.ts"
import type { Sql } from "../../database/types.ts"
import { addDays } from "../../lib/days.ts"
import { outcomeOfDue } from "../../measuring/rescheduling.ts"
import { ladder } from "../formulas/hint-ladder.ts"
import { ESTIMATE, SHOWN_DAYS } from "../store/keyword-figures.ts"
import { CALCULATED } from "../store/keyword-rows.ts"
import { isOwnSearch } from "../store/own-searches.ts"

export interface StoredFigure {
  metric: "popularity" | "difficulty" | "demand" | "hints"
  /** The figure's UTC day; for a published figure, the first day of its month. */
  day: string
  source: string
  /** Time of the latest reading that the figure is based on. */
  seenAt: Date
  /** Null if all inputs were read and give no figure. */
  score: number | null
  /** 0 if the store published it. */
  formula: number
  parts: Record<string, unknown>
}

/**
 * Returns a keyword's figures that are current on a day: the latest of each metric, and the published popularity too.
 */
export async function readFigures(
  sql: Sql,
  { platform, storefront, term }: ListKey,
  today: string,
): Promise<StoredFigure[]> {
  return await sql<StoredFigure[]>`
    select m.metric, m.day, m.source, m.seen_at as "seenAt", m.score, m.formula, m.parts
    from list l
    join keyword_now n on n.list_id = l.id
    cross join lateral (
      values
        ('popularity', n.published_day, n.published_by), ('popularity', n.estimate_day, ${ESTIMATE}),
        ('difficulty', n.difficulty_day, ${CALCULATED}), ('demand', n.demand_day, ${CALCULATED}),
        ('hints', n.hints_day, ${CALCULATED})
    ) f (metric, day, source)
    join keyword_metric m on (m.list_id, m.metric, m.day, m.source) = (l.id, f.metric, f.day, f.source)
    where (l.platform, l.storefront, l.term) = (${platform}, ${storefront}, ${term})
      and (m.formula = 0 or m.day >= ${addDays(today, -SHOWN_DAYS)}::date)
    order by m.metric, m.formula
    limit 5`
}

/** The readings of a keyword: its search results, the store's suggestions, and the ratings of its first ten apps. */
export const READ_PARTS = ["results", "suggestions", "ratings"] as const
export type ReadPart = (typeof READ_PARTS)[number]

export interface ReadAttempt {
  of: ReadPart
  at: Date
  /** `incomplete`: the reading ended early and does not provide the day's results. */
  outcome: "read" | "incomplete" | Outcome
}

/** Returns this instance's latest attempt at each part of a keyword, successful or not. */
export async function readAttempts(sql: Sql, { platform, storefront, term }: ListKey): Promise<ReadAttempt[]> {
  const key = sql`(${platform}, ${storefront}, ${term})`
  return await sql<ReadAttempt[]>`
    select distinct on (of) of, at, outcome
    from (
      select case kind when 'search' then 'results' when 'hints' then 'suggestions' else 'ratings' end as of, t.*
      from due
      cross join lateral (values (measured_at, 'read'), (failed_at, ${outcomeOfDue(sql)})) t (at, outcome)
      where kind in ('search', 'hints', 'difficulty') and (platform, storefront, subject) = ${key}
      union all
      (
        select 'results', at, outcome
        from attempt
        where (kind, platform, storefront, subject) = ('search', ${platform}, ${storefront}, ${term})
        order by at desc, source
        limit 1
      )
      union all
      (
        select 'suggestions', at, outcome
        from attempt
        where kind = 'hints' and platform = ${platform} and storefront = ${storefront}
          and subject = any(${ladder(term)}::text[])
        order by at desc, subject, source
        limit 1
      )
      union all
      (
        select 'results', r.seen_at, case when r.complete then 'read' else 'incomplete' end
        from list l
        join search_results r on r.list_id = l.id and r.day >= (now() - interval '39 days')::date
        where (l.platform, l.storefront, l.term) = ${key} and ${isOwnSearch(sql)}
        order by r.seen_at desc, r.source
        limit 1
      )
      union all
      (
        select 'suggestions', seen_at, 'read'
        from hint_answer
        where (platform, storefront, prefix) = ${key} and origin = 'own'
        order by day desc, seen_at desc, source
        limit 1
      )
    ) a
    where at is not null
    order by of, at desc, outcome
    limit ${READ_PARTS.length}`
}
