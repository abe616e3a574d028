import type { Tx } from "../../database/types.ts"
import { bestFirst } from "../../measuring/record/best-first.ts"

/**
 * Writes the latest reading of each chart to chart_now, and returns how many rows changed. Call it once the charts'
 * last days are known. The caller must hold the locks of the charts (lockCharts). Idempotent.
 */
export async function deriveChartNow(tx: Tx, charts: readonly number[]): Promise<number> {
  if (charts.length === 0) return 0
  const [row] = await tx<[{ count: number }]>`
    with answer as materialized (
      select c.id as chart_id, r.day, r.source, r.depth, r.seen_at
      from chart c
      cross join lateral (
        select day, source, depth, seen_at
        from chart_results
        where chart_id = c.id and day = c.last_day and complete
        order by ${bestFirst(tx)}
        limit 1
      ) r
      where c.id = any(${charts as number[]}::int[]) and c.platform = 'ios'
    ), written as (
      insert into chart_now as held (chart_id, day, source, depth, seen_at)
      select chart_id, day, source, depth, seen_at
      from answer
      order by chart_id
      on conflict (chart_id) do update
      set day = excluded.day, source = excluded.source, depth = excluded.depth, seen_at = excluded.seen_at
      where held is distinct from excluded
      returning 1
    ), gone as (
      delete from chart_now
      where chart_id = any(${charts as number[]}::int[]) and chart_id not in (select chart_id from answer)
      returning 1
    )
    select (select count(*) from written)::int + (select count(*) from gone)::int as count`
  return row.count
}
