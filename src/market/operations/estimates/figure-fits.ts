import type { Fragment } from "postgres"
import type { Sql } from "../../../database/types.ts"
import { timesOf } from "../../formulas/own-level.ts"
import type { FindQuery } from "../find-filters.ts"
import type { OwnLevel } from "./own-level.ts"

interface FigureRange {
  min?: number | undefined
  max?: number | undefined
}

/** Filter by estimates, as the workspace sees them. */
export interface FigureFilter {
  revenue: FigureRange
  downloads: FigureRange
  growth: FigureRange
  /** Corrections from the workspace's own sales. Null if they change no estimate. */
  level: OwnLevel | null
}

/** Null if the query does not filter by figures. */
export function figureFilter(query: FindQuery, level: OwnLevel | null): FigureFilter | null {
  const ranges = {
    revenue: { min: query.revenueMin, max: query.revenueMax },
    downloads: { min: query.downloadsMin, max: query.downloadsMax },
    growth: { min: query.growthMin, max: query.growthMax },
  }
  return Object.values(ranges).some(isLimited) ? { ...ranges, level } : null
}

function isLimited({ min, max }: FigureRange): boolean {
  return (min ?? max) !== undefined
}

/**
 * SQL: whether the estimates of a row of market_app (m) lie in the ranges. Null if unknown. Needs `joinOwnLevel`.
 * Compares the rounded amounts that are displayed. The true amount of an estimate with only an upper bound may be
 * anything from zero to that bound: the estimate matches if this whole span lies in the range, and fails if no part of
 * it does.
 */
export function figureFit(sql: Sql, { revenue, downloads, growth, level }: FigureFilter): Fragment {
  const { downloaded, earned, earnedUnder } = amountsSeen(sql, level)
  const { min = -Infinity, max = Infinity } = growth
  return sql`(
    ${amountFit(sql, downloads, { value: downloaded, under: sql`downloads_under` })}
    and ${amountFit(sql, revenue, { value: earned, under: earnedUnder })}
    and ${isLimited(growth) ? sql`growth between ${min}::float8 and ${max}::float8` : sql`true`}
  )`
}

/** SQL: the estimates of a row of market_app (m) as the workspace sees them. Needs `joinOwnLevel`. */
export function amountsSeen(sql: Sql, level: OwnLevel | null) {
  const times =
    level && level.knownApps.size > 0 ? sql`coalesce(o.times, g.times, ${defaultTimes(level)}::float8)` : null
  const places = level?.timesOfPlaces ?? null
  const downloaded = times ? sql`downloads * case when by_prior then ${times} else 1 end` : sql`downloads`
  const byPlace = places === null ? sql`` : sql`* case when revenue_by = 'place' then ${places}::float8 else 1 end`
  const byPrice = times ? sql`* case when by_prior and revenue_by = 'price' then ${times} else 1 end` : sql``
  return {
    downloaded,
    earned: sql`revenue ${byPlace} ${byPrice}`,
    earnedUnder: sql`revenue_under ${byPlace}`,
  }
}

function amountFit(sql: Sql, range: FigureRange, { value, under }: { value: Fragment; under: Fragment }): Fragment {
  if (!isLimited(range)) return sql`true`
  const { min: least = -Infinity, max: most = Infinity } = range
  const whole = sql`floor(${under} + 0.5)`
  return sql`case
    when ${value} is not null
    then ${value} >= ${Math.ceil(least) - 0.5}::float8 and ${value} < ${Math.floor(most) + 0.5}::float8
    when ${under} is null then null
    when ${least}::float8 >= ${whole} or ${most}::float8 < 0 then false
    when ${least}::float8 <= 0 and ${most}::float8 >= ${whole} then true
  end`
}

/**
 * Joins the factors by which the workspace's own sales change downloads: one for each of its apps (o) and one for each
 * of their genres (g).
 */
export function joinOwnLevel(sql: Sql, level: OwnLevel | null): Fragment {
  if (level === null || level.knownApps.size === 0) return sql``
  const apps = [...level.knownApps]
  const genres = [...new Set(apps.flatMap(([, { genre }]) => genre ?? []))]
  return sql`
    left join unnest(
      ${apps.map(([app]) => app)}::int[],
      ${apps.map(([app, { genre }]) => timesOf(level.ratioOf(app, genre)))}::float8[]
    ) o (app_id, times) on o.app_id = m.app_id
    left join unnest(
      ${genres}::text[], ${genres.map((genre) => timesOf(level.ratioOf(0, genre)))}::float8[]
    ) g (genre, times) on g.genre = m.genre`
}

/** The factor for genres in which the workspace sells no app. */
function defaultTimes(level: OwnLevel): number {
  return timesOf(level.ratioOf(0, null))
}

/** Returns the version of the estimates that a workspace sees. */
export function figureState(version: string | null, level: OwnLevel | null): string {
  const ratios =
    level === null ? [] : [...level.knownApps.values()].map(({ downloads, ratings }) => downloads / ratings)
  return [version, ...ratios, level?.timesOfPlaces ?? ""].join(" ")
}
