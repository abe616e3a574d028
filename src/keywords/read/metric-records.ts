import type { Outcome } from "../../core/observation/attempt.ts"
import type { ListKey } from "../../core/observation/subjects.ts"
import type { Sql } from "../../database/types.ts"
import { type Days, monthOf } from "../../lib/days.ts"
import { sourceOf } from "../../lib/rank-sources.ts"
import type { SourceName } from "../../lib/upstreams.ts"
import { ladder } from "../formulas/hint-ladder.ts"
import { outcomeOfDue, type ReadPart } from "./keyword-standing.ts"

type RecordedMetric = "popularity" | "difficulty"

/** A stored result of a metric, or a reading that it needs and that came to nothing. */
export interface MetricRecord {
  /** The UTC day it is of; of a published figure its month's first. */
  day: string
  /** When the youngest reading behind it was seen, or the reading was tried. */
  at: Date
  /** Its place among the others of the metric, which no other has. */
  place: string
  result: { score: number | null; formula: number } | null
  /** What was to be read; null = a result. */
  of: ReadPart | null
  /** How it ended; null = a result. */
  outcome: "incomplete" | Outcome | null
  /** Who was asked, or published it; null = calculated here, or several were asked. */
  source: SourceName | null
}

interface Page extends Days {
  /** The place of the record before; null = from the first on. */
  after: string | null
  limit: number
}

/**
 * What is stored of a metric of a keyword on these days, the latest first. A published month counts where any of its days
 * does. A day of which nothing is stored has no record.
 */
export async function readMetricRecords(
  sql: Sql,
  { platform, storefront, term }: ListKey,
  metric: RecordedMetric,
  { from, to, after, limit }: Page,
): Promise<MetricRecord[]> {
  const days = { from, to, prefixes: metric === "popularity" ? ladder(term) : [] }
  const rows = await sql<RecordRow[]>`
    with list_here as materialized (
      select id
      from list
      where (platform, storefront, term) = (${platform}, ${storefront}, ${term})
    ), recorded as (
      ${resultsOf(sql, metric, { from, to })}
      union all
      ${failuresOf(sql, { platform, storefront, term }, days)}
    ), placed as (
      select *, concat_ws(' ', to_char(day, 'YYYY-MM-DD'), to_char(at at time zone 'utc', 'YYYY-MM-DD HH24:MI:SS.US'), of, source, code, about)
        collate "C" as place
      from recorded
    )
    select day, at, place, score, formula, of, outcome, source, code
    from placed
    where ${after}::text is null or place < ${after}
    order by place desc
    limit ${limit}`
  return rows.map(({ score, formula, source, code, ...row }) => ({
    ...row,
    result: formula === null ? null : { score, formula },
    source: code === null ? source : sourceOf(code),
  }))
}

type RecordRow = Omit<MetricRecord, "result"> & { score: number | null; formula: number | null; code: number | null }

function resultsOf(sql: Sql, metric: RecordedMetric, { from, to }: Days) {
  return sql`
    select m.day, m.seen_at as at, m.score, m.formula, null as of, null as outcome,
      case when m.formula = 0 then m.source end as source, null::smallint as code, m.source as about
    from list_here l
    join keyword_metric m on m.list_id = l.id
    where m.metric = ${metric} and m.day between ${monthOf(from)}::date and ${to}::date
      and (m.formula = 0 or m.day >= ${from}::date)`
}

/** Readings that failed, and those that broke off. Ratings are asked for by apps: of them the schedule says the last alone. */
function failuresOf(
  sql: Sql,
  { platform, storefront, term }: ListKey,
  { from, to, prefixes }: Days & { prefixes: readonly string[] },
) {
  const within = sql`at >= ${from}::date::timestamp at time zone 'utc' and at < (${to}::date + 1)::timestamp at time zone 'utc'`
  return sql`
    select (at at time zone 'utc')::date, at, null, null, 'results', outcome, source, null, md5(subject)
    from attempt
    where (kind, platform, storefront, subject) = ('search', ${platform}, ${storefront}, ${term}) and ${within}
    union all
    select (at at time zone 'utc')::date, at, null, null, 'suggestions', outcome, source, null, md5(subject)
    from attempt
    where kind = 'hints' and platform = ${platform} and storefront = ${storefront}
      and subject = any(${prefixes as string[]}::text[]) and ${within}
    union all
    select (at at time zone 'utc')::date, at, null, null, 'ratings', failure, null, null, 'due'
    from (
      select failed_at as at, ${outcomeOfDue(sql)} as failure
      from due
      where (kind, platform, storefront, subject) = ('difficulty', ${platform}, ${storefront}, ${term})
    ) d
    where ${within}
    union all
    select r.day, r.seen_at, null, null, 'results', 'incomplete', null, r.source, 'broken off'
    from list_here l
    join search_results r on r.list_id = l.id and r.day between ${from} and ${to}
    where not r.complete`
}
