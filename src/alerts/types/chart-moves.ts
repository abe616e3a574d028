import * as v from "valibot"
import type { Tx } from "../../database/types.ts"
import { type DayRank, moveBetween } from "../../keywords/formulas/rank-moves.ts"
import { CHARTS, type Chart, chartSourceOf, DEVICES, type Device } from "../../lib/charts.ts"
import { bestFirst } from "../../measuring/record/best-first.ts"
import { alertType, type FindingOf } from "../alert-type.ts"
import { compared } from "../compared.ts"
import type { DayStep, PlaceDays } from "../search-days.ts"
import { placeIn, sinceIn, type Wording } from "../wording.ts"

/** `chart_drop`: a fall on the chart must be at least 10 ranks and 25% of the earlier rank. */
const CHART_FALL = { places: 10, share: 0.25 }
/** `chart_drop`: an app that left the chart must have been in the upper 90%. Below that, apps come and go every day. */
const CHART_EDGE = 0.9
/** `chart_enter`: the app must be in the top 100. */
const CHART_TOP = 100

/** Compares a chart's measured day with the previous one. Null if the change is too small for an alert. */
export function chartMove(before: DayRank, after: DayRank): "chart_drop" | "chart_enter" | null {
  const move = moveBetween(before, after)
  const from = move?.from ?? Number.POSITIVE_INFINITY
  const to = move?.to ?? Number.POSITIVE_INFINITY
  switch (move?.direction) {
    case "entered":
    case "up":
      return from > CHART_TOP && to <= CHART_TOP ? "chart_enter" : null
    case "dropped":
      return from <= CHART_EDGE * after.depth ? "chart_drop" : null
    case "down":
      return to - from >= Math.max(CHART_FALL.places, CHART_FALL.share * from) ? "chart_drop" : null
    default:
      return null
  }
}

const facts = v.strictObject({
  device: v.picklist(DEVICES),
  chart: v.picklist(CHARTS),
  genre: v.string(),
  genreName: v.nullable(v.string()),
  rank: v.nullable(v.number()),
  was: v.nullable(v.number()),
  ...compared,
})
type Facts = v.InferOutput<typeof facts>

const example = {
  ...({ device: "iphone", chart: "free", genre: "6015", genreName: "Finance" } as const),
  depth: 200,
  wasDepth: 200,
  source: "apple-charts",
  against: "2025-11-19",
}

/** Covers the free, paid and grossing charts of the app's genre, for iPhone and iPad. */
const chartType = {
  facts,
  options: [],
  appStoreOnly: true,
  find: findMoves,
  sentence({ device, chart, genre, genreName, rank, was, depth, wasDepth }: Facts, place: Wording) {
    const name = `the ${chart} ${device === "ipad" ? "iPad" : "iPhone"} chart of ${genreName ?? `genre ${genre}`}`
    const where = sinceIn(place)
    if (rank === null) return `You left ${name} ${where}: ${placeIn(rank, depth)} (before: ${was})`
    if (was === null) return `You entered ${name} ${where} at ${rank} (before: ${placeIn(was, wasDepth)})`
    return `You ${rank > was ? "fell" : "rose"} from ${was} to ${rank} on ${name} ${where}`
  },
  fields({ device, chart, genre, rank, was, against, depth, source }: Facts) {
    return { device, chart, genre, before: was, after: rank, against, depth, source }
  },
} as const

export const chartDrop = alertType({ ...chartType, name: "chart_drop", example: { ...example, rank: 75, was: 40 } })

export const chartEnter = alertType({ ...chartType, name: "chart_enter", example: { ...example, rank: 40, was: 130 } })

async function findMoves(tx: Tx, days: PlaceDays): Promise<FindingOf[]> {
  const found: FindingOf[] = []
  for (const genre of days.genres) {
    const isOwn = genre === days.place.genre
    for (const day of await readDays(tx, days, genre)) found.push(...findingOf(day, genre, isOwn))
  }
  return found
}

interface ChartStep extends DayStep {
  device: Device
  chart: Chart
  genreName: string | null
  at: Date
  rank: number | null
  wasRank: number | null
}

/** Returns days with their previous measured day. A chart's first measured day has none and is left out. */
async function readDays(tx: Tx, { place, from, to }: PlaceDays, genre: string): Promise<ChartStep[]> {
  const { platform, storefront, storeAppId, origin } = place
  return await tx<ChartStep[]>`
    with measured as materialized (
      select c.id, c.device, c.chart, r.*, array_position(r.app_ids, ${storeAppId}::int) as rank
      from chart c
      cross join lateral (
        (
          select distinct on (day) day, source, depth, seen_at, app_ids
          from chart_results
          where chart_id = c.id and day between ${from}::date and ${to}::date and complete and origin = ${origin}
          order by day, ${bestFirst(tx)}
        )
        union all
        (
          select day, source, depth, seen_at, app_ids
          from chart_results
          where chart_id = c.id and day < ${from}::date and complete and origin = ${origin}
          order by day desc, ${bestFirst(tx)}
          limit 1
        )
      ) r
      where c.platform = ${platform} and c.storefront = ${storefront} and c.genre = ${genre}
        and c.device in ${tx([...DEVICES])} and c.chart in ${tx([...CHARTS])} and c.last_day >= ${from}::date
    ), pair as (
      select *, lag(day) over before as was_day, lag(source) over before as was_source,
        lag(depth) over before as was_depth, lag(rank) over before as was_rank
      from measured
      window before as (partition by id order by day)
    )
    select p.device, p.chart, g.name as "genreName", p.day, p.seen_at as at, p.source, p.depth, p.rank,
      p.was_day as "wasDay", p.was_source as "wasSource", p.was_depth as "wasDepth", p.was_rank as "wasRank"
    from pair p
    left join genre g on (g.platform, g.storefront, g.genre) = (${platform}, ${storefront}, ${genre})
    where p.day >= ${from}::date and p.source = p.was_source and p.rank is distinct from p.was_rank
    order by p.device, p.chart, p.day`
}

function findingOf(one: ChartStep, genre: string, isOwn: boolean): FindingOf[] {
  const { device, chart, genreName, day, at, depth, rank, wasDay, wasDepth, wasRank } = one
  const source = chartSourceOf(one.source)
  const type = chartMove(
    { day: wasDay, source: chartSourceOf(one.wasSource), depth: wasDepth, rank: wasRank },
    { day, source, depth, rank },
  )
  if (type === null) return []
  const facts = { device, chart, genre, genreName, rank, was: wasRank, depth, wasDepth, source, against: wasDay }
  return [{ type, subject: `${device} ${chart} ${genre}`, day, at, facts, ...(!isOwn && { keepsOnly: true }) }]
}
