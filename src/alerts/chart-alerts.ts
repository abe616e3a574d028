import type { Tx } from "../database/types.ts"
import { chartMove } from "../formulas/alerts.ts"
import { bestFirst } from "../observations/answers.ts"
import { CHARTS, type Chart, chartSourceOf, DEMO, DEVICES, type Device } from "../observations/types.ts"
import type { Finding, Looked } from "./alert.ts"

/** chart_drop and chart_enter, on the free, paid and grossing charts of the app's genre, of either device (see chartMove). */
export async function chartFindings(tx: Tx, looked: Looked): Promise<Finding[]> {
  const { genre } = looked.place
  return genre === null ? [] : (await readDays(tx, looked, genre)).flatMap((day) => findingOf(day, genre))
}

interface Day {
  device: Device
  chart: Chart
  genreName: string | null
  day: string
  at: Date
  source: number
  depth: number
  rank: number | null
  wasDay: string
  wasSource: number
  wasDepth: number
  wasRank: number | null
}

/** Days beside the measured day before them: so none is a chart's first. */
async function readDays(tx: Tx, { place, from, to }: Looked, genre: string): Promise<Day[]> {
  const { platform, storefront, own, since } = place
  return await tx<Day[]>`
    with measured as materialized (
      select c.id, c.device, c.chart, r.*, array_position(r.app_ids, ${own}::int) as rank
      from chart c
      cross join lateral (
        (
          select distinct on (day) day, source, depth, seen_at, origin, app_ids
          from chart_results
          where chart_id = c.id and day between ${from}::date and ${to}::date and complete
          order by day, ${bestFirst(tx)}
        )
        union all
        (
          select day, source, depth, seen_at, origin, app_ids
          from chart_results
          where chart_id = c.id and day < ${from}::date and complete
          order by day desc, ${bestFirst(tx)}
          limit 1
        )
      ) r
      where c.platform = ${platform} and c.storefront = ${storefront} and c.genre = ${genre}
        and c.device in ${tx([...DEVICES])} and c.chart in ${tx([...CHARTS])} and c.last_day >= ${from}::date
    ), pair as (
      select *, lag(day) over before as was_day, lag(source) over before as was_source, lag(depth) over before as was_depth,
        lag(origin) over before as was_origin, lag(rank) over before as was_rank
      from measured
      window before as (partition by id order by day)
    )
    select p.device, p.chart, g.name as "genreName", p.day, p.seen_at as at, p.source, p.depth, p.rank,
      p.was_day as "wasDay", p.was_source as "wasSource", p.was_depth as "wasDepth", p.was_rank as "wasRank"
    from pair p
    left join genre g on (g.platform, g.storefront, g.genre) = (${platform}, ${storefront}, ${genre})
    where p.day >= greatest(${since}::date, ${from}::date) and p.source = p.was_source and p.origin <> ${DEMO}
      and p.was_origin <> ${DEMO} and p.rank is distinct from p.was_rank
    order by p.device, p.chart, p.day
    limit 100`
}

function findingOf(one: Day, genre: string): Finding[] {
  const { device, chart, genreName, day, at, depth, rank, wasDay, wasDepth, wasRank } = one
  const source = chartSourceOf(one.source)
  const type = chartMove(
    { day: wasDay, source: chartSourceOf(one.wasSource), depth: wasDepth, rank: wasRank },
    { day, source, depth, rank },
  )
  if (type === null) return []
  const facts = { device, chart, genre, genreName, rank, was: wasRank, depth, wasDepth, source, against: wasDay }
  return [{ type, subject: `${device} ${chart} ${genre}`, day, at, facts }]
}
