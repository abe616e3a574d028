import type { Outcome } from "../../core/observation/attempt.ts"
import type { ListKey } from "../../core/observation/subjects.ts"
import type { Sql } from "../../database/types.ts"
import { CHART_SOURCE_CODES } from "../../lib/charts.ts"
import { quarterOf } from "../../lib/days.ts"
import { SOURCE_CODES, sourceOf } from "../../lib/rank-sources.ts"
import { RANK_SOURCES, type SourceName } from "../../lib/upstreams.ts"
import { bestFirst } from "../../measuring/record/best-first.ts"
import { outcomeOfDue } from "../../measuring/rescheduling.ts"
import { nameIn } from "../../stores/store/app-names.ts"

export interface FigureProvenance {
  source: SourceName
  seenAt: Date
  /** Null if only the time of the reading is stored. */
  parser: number | null
  /** SHA-256 of the body, in hexadecimal digits. */
  sha256: string | null
  /** The country it was read from. Null if unknown or irrelevant. */
  egress: string | null
  origin: string
}

export interface ReadingEvidence extends FigureProvenance {
  depth: number
  complete: boolean
  /** The app's rank in it. Null if absent. */
  rank: number | null
}

/**
 * Returns the readings of a list on a day: first the one that provides the day's results, incomplete ones last. `app`
 * is a store_app id.
 */
export async function readReadingsOn(sql: Sql, { list, day, app }: { list: ListKey; day: string; app: number }) {
  const rows = await sql<(Omit<ReadingEvidence, "source"> & { code: number })[]>`
    select r.source as code, r.seen_at as "seenAt", r.parser, encode(r.sha256, 'hex') as sha256, r.egress, r.origin,
      r.depth, r.complete, array_position(r.app_ids, ${app}::int) as rank
    from list l
    join search_results r on r.list_id = l.id and r.day = ${day}
    where (l.platform, l.storefront, l.term) = (${list.platform}, ${list.storefront}, ${list.term})
    order by complete desc, ${bestFirst(sql)}
    limit 1000`
  return rows.map(({ code, ...row }): ReadingEvidence => ({ source: sourceOf(code), ...row }))
}

/** Returns the latest day with a complete reading of a list. Null if there is none. */
export async function readLastDay(sql: Sql, { platform, storefront, term }: ListKey): Promise<string | null> {
  const [row] = await sql<{ day: string | null }[]>`
    select last_day as day
    from list
    where (platform, storefront, term) = (${platform}, ${storefront}, ${term})`
  return row?.day ?? null
}

export interface MetricEvidence {
  metric: string
  /** The figure's UTC day; for a published figure, the first day of its month. */
  day: string
  source: string
  seenAt: Date
  score: number | null
  formula: number
  parts: Record<string, unknown>
}

/** Returns a keyword's figures as of a day: the latest of each metric and source. */
export async function readMetricsUntil(sql: Sql, list: ListKey, day: string): Promise<MetricEvidence[]> {
  return await sql<MetricEvidence[]>`
    select distinct on (m.metric, m.source) m.metric, m.day, m.source, m.seen_at as "seenAt", m.score, m.formula,
      m.parts
    from list l
    join keyword_metric m on m.list_id = l.id
    where (l.platform, l.storefront, l.term) = (${list.platform}, ${list.storefront}, ${list.term}) and m.day <= ${day}
    order by m.metric, m.source, m.day desc
    limit 100`
}

export interface RatingsEvidence extends FigureProvenance {
  day: string
  ratings: number | null
  rating: number | null
  /** The term whose search results contained the counts. Null if the counts were not read from search results. */
  term: string | null
}

/**
 * Returns the latest ratings of each source up to a day. For counts from search results, also returns one of the
 * readings that contained them.
 */
export async function readRatingsUntil(
  sql: Sql,
  { app, storefront, day }: { app: number; storefront: string; day: string },
): Promise<RatingsEvidence[]> {
  const codes = RANK_SOURCES.map((source) => SOURCE_CODES[source])
  return await sql<RatingsEvidence[]>`
    select c.source, c.day, c.seen_at as "seenAt", c.ratings, c.rating, c.origin,
      coalesce(c.parser, r.parser) as parser, encode(coalesce(c.sha256, r.sha256), 'hex') as sha256, r.egress, r.term
    from (
      select distinct on (source) *
      from rating_day
      where app_id = ${app} and storefront = ${storefront} and day <= ${day} and quarter <= ${quarterOf(day)}::date
      order by source, day desc
      limit 100
    ) c
    left join lateral (
      select s.parser, s.sha256, s.egress, l.term
      from list l
      join search_results s on s.list_id = l.id and s.day = c.day
      join unnest(${[...RANK_SOURCES]}::text[], ${codes}::smallint[]) k (source, code) on k.code = s.source
      where c.sha256 is null and l.storefront = c.storefront and s.seen_at = c.seen_at
        and k.source = c.source and ${app}::int = any(s.app_ids)
      order by l.id
      limit 1
    ) r on true
    order by c.source
    limit 100`
}

/** Returns whether an app tracks a keyword in a storefront. */
export async function isTracked(sql: Sql, appId: string, storefront: string, term: string): Promise<boolean> {
  const rows = await sql`
    select
    from tracked_term
    where app_id = ${appId} and country = ${storefront} and term = ${term}
    limit 1`
  return rows.length > 0
}

interface ReadingApp {
  place: number
  /** A store_app id. */
  id: number
  storeId: string
  name: string | null
}

/** Returns the first places of one reading of a list, with the names in its storefront. */
export async function readReadingApps(
  sql: Sql,
  { platform, storefront, term, day, seenAt }: ListKey & { day: string; seenAt: Date },
  { most, countries }: { most: number; countries: readonly string[] },
): Promise<ReadingApp[]> {
  return await sql<ReadingApp[]>`
    select p.place::int as place, s.id, s.store_id as "storeId",
      ${nameIn(sql, sql`s.id`, { storefront, countries })} as name
    from list l
    join search_results r on r.list_id = l.id and r.day = ${day} and r.seen_at = ${seenAt}
    join unnest(r.app_ids[1:${most}::int]) with ordinality p (id, place) on true
    join store_app s on s.id = p.id
    where (l.platform, l.storefront, l.term) = (${platform}, ${storefront}, ${term})
    order by r.source, p.place
    limit ${most}`
}

/** A reading about an app; `of` names its subject. */
interface AppReading extends Omit<FigureProvenance, "source" | "egress"> {
  of: string
  source: string
  /** The time since which the content has been unchanged. Null if that is not stored. */
  sameSince: Date | null
}

/**
 * Returns the latest readings of an app's page, its reviews and the charts that it may be on, in a storefront of its
 * store. Omits the hidden review feeds.
 */
export async function readAppReadings(
  sql: Sql,
  {
    app,
    storefront,
    platform,
    hiddenFeeds,
  }: { app: number; storefront: string; platform: "ios" | "android"; hiddenFeeds: readonly string[] },
): Promise<AppReading[]> {
  return await sql<AppReading[]>`
    select 'page, ' || section as of, source, seen_at as "seenAt", parser,
      encode(sha256s[cardinality(sha256s)], 'hex') as sha256, origin, first_seen_at as "sameSince"
    from (
      select distinct on (section, source) *
      from listing_run
      where app_id = ${app} and storefront = ${storefront}
      order by section, source, seen_at desc
      limit 50
    ) p
    union all
    select 'reviews, ' || feed || case when complete then '' else ' (broken off)' end, source, seen_at, parser,
      encode(sha256, 'hex'), origin, null
    from review_read
    where app_id = ${app} and feed <> all(${hiddenFeeds as string[]}::text[])
    union all
    select 'chart, ' || c.chart || ', ' || c.device || ', ' || case c.genre when '36' then 'all apps'
      else 'genre ' || c.genre end,
      coalesce(k.source, r.source::text), r.seen_at, r.parser, encode(r.sha256, 'hex'), r.origin, null
    from store_app s
    join chart c on c.platform = ${platform} and c.storefront = ${storefront} and c.genre in ('36', s.genre)
      and c.last_day is not null
    join lateral (
      select *
      from chart_results
      where chart_id = c.id and day = c.last_day
      order by seen_at desc, source
      limit 1
    ) r on true
    left join unnest(${Object.keys(CHART_SOURCE_CODES)}::text[],
      ${Object.values(CHART_SOURCE_CODES)}::smallint[]) k (source, code)
      on k.code = r.source
    where s.id = ${app}
    order by of, source, "seenAt"
    limit 200`
}

/** The last attempt to read an app's page or reviews, if it failed. */
interface FailedReading {
  of: "page" | "reviews"
  failedAt: Date
  outcome: Outcome
}

/** Returns the parts of an app, page and reviews, whose last attempt in a storefront failed. */
export async function readFailedReadings(
  sql: Sql,
  { id, storefront, platform }: { id: string; storefront: string; platform: "ios" | "android" },
): Promise<FailedReading[]> {
  return await sql<FailedReading[]>`
    select case kind when 'reviews' then kind else 'page' end as of, max(failed_at) as "failedAt",
      (array_agg(${outcomeOfDue(sql)} order by failed_at desc))[1] as outcome
    from due
    where (platform, storefront, subject) = (${platform}, ${storefront}, ${id})
      and kind in ('app', 'listing', 'reviews') and failure is not null
    group by 1
    order by 1`
}
