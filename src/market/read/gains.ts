import type { Db } from "../../database/types.ts"
import { addDays, quarterOf } from "../../lib/days.ts"
import type { SourceName } from "../../lib/upstreams.ts"
import { RATING_SOURCES } from "../../stores/read/rating-days.ts"
import {
  type CountReading,
  daysBetween,
  type Gain,
  longestGain,
  MONTH_DAYS,
  WEEK_DAYS,
} from "../formulas/count-readings.ts"
import type { StorefrontRatings } from "../formulas/downloads.ts"
import { type MeasuredDownloads, measureDownloads } from "../formulas/install-gain.ts"

/** An app's rating gain in a storefront, from the most reliable source. */
export interface RatingGain extends StorefrontRatings {
  source: SourceName
  /** The day of the newest count. */
  day: string
  /** The gain of the 30 days before those of `gain`. Null if unknown. */
  before: Gain | null
}

/**
 * Returns an app's (a store_app id) rating gain over the best span of the 30 days that end with `asOf`, for each
 * storefront with a reading in them, ordered by storefront. Compares only counts of the same source, as sources round
 * and count differently. Prefers a source that spans at least a week, then the order of RATING_SOURCES.
 */
export async function readRatingGains(sql: Db, app: number, asOf: string): Promise<RatingGain[]> {
  const counts = await readCounts(sql, app, asOf)
  const released = await readReleases(sql, app)
  const storefronts = Map.groupBy(counts, ({ storefront }) => storefront)
  return [...storefronts].flatMap(([storefront, bySource]) => {
    const [best] = bySource.flatMap((item) => gainOf(item, asOf) ?? []).sort(bestGainFirst)
    if (!best) return []
    const day = released.get(storefront)
    return [{ storefront, ...best, ageDays: day && day <= asOf ? daysBetween(day, asOf) : null }]
  })
}

/**
 * Returns the installs that Google Play counted for an app (a store_app id) within the 30 days that end with `asOf`,
 * over the longest span. Null if no two counts are comparable. The count is worldwide on every storefront's page, but
 * pages are not refreshed together, so only counts of the same storefront are compared.
 */
export async function readMeasuredDownloads(sql: Db, app: number, asOf: string): Promise<MeasuredDownloads | null> {
  const rows = await sql<DatedCounts[]>`
    select storefront, source, array_agg(day::text order by day) as days,
      array_agg(installs::float8 order by day) as counts
    from market_fact
    where app_id = ${app} and installs is not null
      and day between ${addDays(asOf, -MONTH_DAYS)}::date and ${asOf}::date
    group by storefront, source
    order by storefront, source`
  const measured = rows.flatMap((row) => measureDownloads(readingsOf(row), asOf) ?? [])
  return measured.reduce<MeasuredDownloads | null>((best, item) => (best && best.days >= item.days ? best : item), null)
}

interface DatedCounts {
  storefront: string
  source: SourceName
  days: string[]
  counts: number[]
}

async function readCounts(sql: Db, app: number, asOf: string): Promise<DatedCounts[]> {
  const rows = await sql<DatedCounts[]>`
    select c.storefront, c.source, array_agg(c.day::text order by c.day) as days,
      array_agg(c.ratings::float8 order by c.day) as counts
    from rating_day c
    where c.app_id = ${app} and c.ratings is not null
      and c.quarter between ${quarterOf(addDays(asOf, -2 * MONTH_DAYS))}::date and ${quarterOf(asOf)}::date
      and c.until >= ${addDays(asOf, -2 * MONTH_DAYS)}::date
      and c.day between ${addDays(asOf, -2 * MONTH_DAYS)}::date and ${asOf}::date
    group by c.storefront, c.source
    order by c.storefront, c.source`
  return [...rows]
}

/** Returns the day of an app's release, by storefront. */
async function readReleases(sql: Db, app: number): Promise<Map<string, string>> {
  const rows = await sql<{ storefront: string; day: string }[]>`
    select storefront, min((released_at at time zone 'utc')::date)::text as day
    from app_storefront
    where app_id = ${app} and released_at is not null
    group by storefront
    order by storefront`
  return new Map(rows.map(({ storefront, day }) => [storefront, day]))
}

/** Returns the gain that one source measured. Null if the source read nothing within the 30 days. */
function gainOf(counts: DatedCounts, asOf: string) {
  const readings = readingsOf(counts)
  const newest = readings.at(-1) as CountReading
  if (newest.day < addDays(asOf, -MONTH_DAYS)) return null
  const gain = longestGain(readings, asOf)
  const before = longestGain(readings, addDays(asOf, -MONTH_DAYS))
  return { source: counts.source, day: newest.day, ratings: newest.count, gain, before }
}

function readingsOf({ days, counts }: DatedCounts): CountReading[] {
  return days.map((day, at) => ({ day, count: counts[at] as number }))
}

type SourceGain = Pick<RatingGain, "source" | "gain">

function bestGainFirst(a: SourceGain, b: SourceGain): number {
  return trust(b) - trust(a) || RATING_SOURCES.indexOf(a.source) - RATING_SOURCES.indexOf(b.source)
}

function trust({ gain }: SourceGain): number {
  if (!gain) return 0
  return gain.days >= WEEK_DAYS ? 2 : 1
}
