import type { Side } from "../../core/observation/provenance.ts"
import { ownId, type RankedApp } from "../../core/ranked-app.ts"
import type { Db } from "../../database/types.ts"
import { latestAnswer } from "./latest-answer.ts"

export interface SideApp extends Side {
  appId: string
  /** The app's store_app id in this store. Null if nothing is measured for it. */
  storeAppId: number | null
}

export function sideOf(app: RankedApp, { platform, storefront }: Side): SideApp {
  return { platform, storefront, appId: app.id, storeAppId: ownId(app, { platform, storefront }) }
}

/** Returns the sides of an app: each of its storefronts in each of its stores, in the app's order. */
export function sidesOf(app: RankedApp): SideApp[] {
  const sides = app.countries.flatMap((storefront) =>
    (["ios", "android"] as const).map((platform) => sideOf(app, { platform, storefront })),
  )
  return sides.filter(({ storeAppId }) => storeAppId !== null)
}

interface AnswersFilter {
  /**
   * The maximum number of keywords: the first of each side, alternating between sides. The day shown is still that of
   * all keywords.
   */
  lists?: number
  /** Only the results of this keyword. The day shown is still that of all keywords. */
  term?: string
}

/**
 * Returns two queries for a `with`: `term`, the tracked keywords with the latest day of their side, and `answer`, that
 * day's results.
 */
export function dayAnswers(sql: Db, sides: readonly SideApp[], { lists, term }: AnswersFilter = {}) {
  return sql`
    ${dayTerms(sql, sides, lists)}, answer as materialized (
      select t.tracked, t.side, t.store_app_id, t.term, t.position, t.list_id, t.day, r.source, r.depth, r.seen_at,
        r.app_ids, array_position(r.app_ids, t.store_app_id) as our_rank
      from term t
      cross join lateral (
        select source, depth, seen_at, app_ids
        from list_now
        where list_id = t.list_id and day = t.day
        offset 0
      ) r
      where ${term ?? null}::text is null or t.term = ${term ?? null}
    )`
}

/** Returns the query `term` alone. `list_id` and `last_day` are null if a keyword's results were never read. */
export function dayTerms(sql: Db, sides: readonly SideApp[], lists?: number) {
  const keyword = { platform: sql`k.platform`, storefront: sql`k.storefront`, term: sql`k.term` }
  return sql`
    term as materialized (
      select k.*, l.list_id, l.day as last_day, max(l.day) over (partition by k.side) as day
      from (
        select s.*, k.term, k.position
        from ${rowsOf(sql, sides)}
        -- Fenced with offset 0: the planner does not know the length of arrays. It would expect ten sides and scan the
        -- table.
        cross join lateral (
          select term, position
          from tracked_term
          where (app_id, country) = (s.tracked, s.storefront)
          offset 0
        ) k
        where s.store_app_id is not null
      ) k
      left join lateral (${latestAnswer(sql, sql`list_id, day`, keyword)}) l on true
      ${lists === undefined ? sql`` : sql`order by k.position, k.side, k.term limit ${lists}`}
    )`
}

/**
 * Returns the sides as rows. A single side is a row, not arrays: for arrays the planner assumes ten rows, so that a
 * generic plan seems expensive and each statement is planned anew.
 */
function rowsOf(sql: Db, sides: readonly SideApp[]) {
  const [first, ...rest] = sides
  if (first && rest.length === 0)
    return sql`(
          select ${first.appId}::text as tracked, ${first.platform}::text as platform,
            ${first.storefront}::text as storefront, ${first.storeAppId}::int as store_app_id, 1::bigint as side
        ) s`
  return sql`unnest(
          ${sides.map(({ appId }) => appId)}::text[],
          ${sides.map(({ platform }) => platform)}::text[],
          ${sides.map(({ storefront }) => storefront)}::text[],
          ${sides.map(({ storeAppId }) => storeAppId)}::int[]
        ) with ordinality s (tracked, platform, storefront, store_app_id, side)`
}
