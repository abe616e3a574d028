import type { Fragment } from "postgres"
import type { Sql } from "../../../database/types.ts"
import { timesOf } from "../../formulas/own-level.ts"
import type { FindQuery } from "../find-filters.ts"
import type { OwnLevel } from "./own-level.ts"

interface FigureRange {
  min?: number | undefined
  max?: number | undefined
}

/** The estimates that apps are filtered by, as a workspace is shown them. */
export interface FigureFilter {
  revenue: FigureRange
  downloads: FigureRange
  growth: FigureRange
  /** The workspace's own sales; null = they change no estimate. */
  level: OwnLevel | null
}

/** Null without a filter of figures. */
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
 * Whether the estimates of a row of market_app (m) lie in the ranges: null if unknown. Needs joinOwnLevel. An amount fits as it is
 * shown, rounded. An estimate that is only known to be under an amount lies between zero and it: it fits where that whole
 * range does, and fails where none of it does.
 */
export function figureFit(sql: Sql, { revenue, downloads, growth, level }: FigureFilter): Fragment {
  const own = level && level.known.size > 0 ? sql`coalesce(o.times, g.times, ${defaultTimes(level)}::float8)` : null
  const places = level?.timesOfPlaces ?? null
  const downloaded = own ? sql`downloads * case when by_prior then ${own} else 1 end` : sql`downloads`
  const byPlace = places === null ? sql`` : sql`* case when revenue_by = 'place' then ${places}::float8 else 1 end`
  const byPrice = own ? sql`* case when by_prior and revenue_by = 'price' then ${own} else 1 end` : sql``
  const earned = { value: sql`revenue ${byPlace} ${byPrice}`, under: sql`revenue_under ${byPlace}` }
  return sql`(
    ${amountFit(sql, downloads, { value: downloaded, under: sql`downloads_under` })}
    and ${amountFit(sql, revenue, earned)}
    and ${isLimited(growth) ? sql`growth between ${growth.min ?? -Infinity}::float8 and ${growth.max ?? Infinity}::float8` : sql`true`}
  )`
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

/** Joins what own sales change downloads by: of own apps (o) and of their genres (g). */
export function joinOwnLevel(sql: Sql, level: OwnLevel | null): Fragment {
  if (level === null || level.known.size === 0) return sql``
  const apps = [...level.known]
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

/** Of apps of a genre in which the workspace sells nothing. */
function defaultTimes(level: OwnLevel): number {
  return timesOf(level.ratioOf(0, null))
}

/** Names the version of the estimates that a workspace is shown. */
export function figureState(version: string | null, level: OwnLevel | null): string {
  const own = level === null ? [] : [...level.known.values()].map(({ downloads, ratings }) => downloads / ratings)
  return [version, ...own, level?.timesOfPlaces ?? ""].join(" ")
}
