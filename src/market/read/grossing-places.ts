import type { Sql } from "../../database/types.ts"
import { ALL_APPS } from "../../lib/charts.ts"
import type { Days } from "../../lib/days.ts"
import { bestFirst } from "../../measuring/record/best-first.ts"

/** An App Store app's rank on a UTC day. */
interface GrossingPlace {
  /** App Store id. */
  id: string
  day: string
  place: number
}

/**
 * Returns the days on which any of the apps was on the overall grossing chart for iPhone in the United States, the
 * chart that revenue estimates use.
 */
export async function readGrossingPlaces(
  sql: Sql,
  iosIds: readonly string[],
  { from, to }: Days,
): Promise<GrossingPlace[]> {
  return await sql<GrossingPlace[]>`
    select s.store_id as id, r.day, array_position(r.app_ids, s.id) as place
    from store_app s
    cross join chart c
    join chart_first_seen f on (f.app_id, f.chart_id) = (s.id, c.id)
    cross join lateral (
      select distinct on (day) day, app_ids
      from chart_results
      where chart_id = c.id and day between ${from}::date and ${to}::date and complete
      order by day, ${bestFirst(sql)}
    ) r
    where s.platform = 'ios' and s.store_id = any(${iosIds as string[]}::text[])
      and (c.platform, c.storefront, c.device, c.chart, c.genre) = ('ios', 'us', 'iphone', 'grossing', ${ALL_APPS})
      and array_position(r.app_ids, s.id) is not null
    order by s.id, r.day`
}
