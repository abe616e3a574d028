import type { Outcome } from "../../core/observation/attempt.ts"
import type { ListKey } from "../../core/observation/subjects.ts"
import type { Sql } from "../../database/types.ts"
import { type Days, monthOf } from "../../lib/days.ts"
import { sourceOf } from "../../lib/rank-sources.ts"
import type { SourceName } from "../../lib/upstreams.ts"
import { outcomeOfDue } from "../../measuring/rescheduling.ts"
import { ladder } from "../formulas/hint-ladder.ts"
import type { ReadPart } from "./keyword-standing.ts"

type RecordedMetric = "popularity" | "difficulty"

/** A stored value of a metric, or a failed attempt to read one of its inputs. */
export interface MetricRecord {
  /** The record's UTC day; for a published figure, the first day of its month. */
  day: string
  /** Time of the latest reading that the value is based on, or of the attempt. */
  at: Date
  /** A unique key that sorts in the order of the records. */
  place: string
  result: { score: number | null; formula: number } | null
  /** The input that the attempt was to read. Null for a stored value. */
  of: ReadPart | null
  /** How the attempt ended. Null for a stored value. */
  outcome: "incomplete" | Outcome | null
  /**
   * The source that was requested or that published the value. Null if the value was calculated here or several sources
   * were requested.
   */
  source: SourceName | null
}

interface Page extends Days {
  /** The place of the last record of the previous page. Null for the first page. */
  after: string | null
  limit: number
}

/**
 * Returns the records of a keyword's metric on these days, the latest first. A published month is included if any of
 * its days is among them. Days without stored data have no record.
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
      select *,
        concat_ws(' ', to_char(day, 'YYYY-MM-DD'), to_char(at at time zone 'utc', 'YYYY-MM-DD HH24:MI:SS.US'), of,
        source, code, about)
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

/**
 * Returns SQL for failed and incomplete readings. Attempts at ratings are logged by app, so only the last attempt can
 * be returned, from the schedule.
 */
function failuresOf(
  sql: Sql,
  { platform, storefront, term }: ListKey,
  { from, to, prefixes }: Days & { prefixes: readonly string[] },
) {
  const within = sql`
    at >= ${from}::date::timestamp at time zone 'utc' and at < (${to}::date + 1)::timestamp at time zone 'utc'`
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
