import type { RankedApp } from "../core/ranked-app.ts"
import { json } from "../database/json.ts"
import type { Sql } from "../database/types.ts"
import { type SideApp, sidesOf } from "../keywords/read/day-answers.ts"
import { readRatingsOn, readWrittenReviews } from "../keywords/read/day-facts.ts"
import { readSideWeeks } from "../keywords/read/side-weeks.ts"
import { addDays, dayOf, mondayOf } from "../lib/days.ts"
import { readChanges } from "../listings/read/changes.ts"
import { readStorefrontFeeds } from "../reviews/read/feeds.ts"
import { MAX_CHANGES, type Week, type WeekMove } from "./week.ts"

/** A week that is over, from Monday to Sunday in UTC days. */
interface WeekSpan {
  from: string
  to: string
  /** Time of its summary: the Monday after it, 08:00 UTC. */
  tellAt: Date
}

const HOUR_MS = 3_600_000
const TOLD_AT_HOUR = 8
/** A summary may be up to 72 hours late, so that a server that was down on Monday still writes it. */
const LATEST_HOURS = 72

/** Returns the week whose summary is due: from Monday 08:00 UTC for three days. Null at other times. */
export function weekToTell(now: Date): WeekSpan | null {
  const monday = mondayOf(dayOf(now))
  const tellAt = new Date(Date.parse(monday) + TOLD_AT_HOUR * HOUR_MS)
  const late = now.getTime() - tellAt.getTime()
  if (late < 0 || late >= LATEST_HOURS * HOUR_MS) return null
  return { from: addDays(monday, -7), to: addDays(monday, -1), tellAt }
}

/**
 * Returns apps that were tracked before the week ended and have no summary of it. At most `limit`, with ids after
 * `after`.
 */
export async function findAppsToTell(sql: Sql, week: WeekSpan, { after, limit }: { after: string; limit: number }) {
  return await sql<RankedApp[]>`
    select a.id, a.countries, a.ios_app as "iosApp", a.android_app as "androidApp"
    from tracked_app a
    join workspace w on w.id = a.workspace_id
    where a.id > ${after} and a.origin = 'own' and w.deleted_at is null and w.suspended_at is null
      and a.created_at < ${`${addDays(week.to, 1)}T00:00:00Z`}::timestamptz
      and not exists (
        select
        from alert s
        where s.app_id = a.id and s.at = ${week.tellAt} and s.type = 'weekly'
      )
    order by a.id
    limit ${limit}`
}

/** Adds the summary of a week. Returns false if it exists, the app was deleted, or nothing was measured. */
export async function tellWeek(sql: Sql, app: RankedApp, week: WeekSpan, now: Date): Promise<boolean> {
  const facts = await readWeek(sql, app, week, now)
  if (facts.keywords.measured + facts.ratings.length + facts.reviews.length === 0) return false
  const rows = await sql`
    insert into alert (workspace_id, app_id, type, subject, day, at, facts)
    select workspace_id, id, 'weekly', '', ${week.to}::date, ${week.tellAt}, ${json(sql, facts)}
    from tracked_app
    where id = ${app.id}
    for key share
    on conflict do nothing
    returning id`
  return rows.length > 0
}

async function readWeek(sql: Sql, app: RankedApp, week: WeekSpan, now: Date): Promise<Week> {
  const { from, to } = week
  const sides = sidesOf(app)
  return {
    from,
    to,
    ...(await readKeywords(sql, sides, week)),
    ratings: await readRatings(sql, sides, week),
    reviews: await readReviews(sql, sides, week, now),
    changes: await countChanges(sql, app, week),
    alerts: await countAlerts(sql, app, week),
  }
}

type WeekRanks = Pick<Week, "keywords" | "best" | "worst">

async function readKeywords(sql: Sql, sides: readonly SideApp[], week: WeekSpan): Promise<WeekRanks> {
  const weeks = await readSideWeeks(sql, sides, week)
  const terms = weeks.flatMap(({ platform, storefront: country, terms }) =>
    terms.map((term) => ({ ...term, platform, country })),
  )
  const going = (direction: string) => terms.filter(({ move }) => move?.direction === direction)
  const count = (direction: string) => going(direction).length
  const moves = (...directions: string[]): WeekMove[] =>
    directions
      .flatMap(going)
      .flatMap(({ term, platform, country, move, day, against }) =>
        move && day !== null && against !== null
          ? [{ term, platform, country, was: move.from, rank: move.to, against, day }]
          : [],
      )
      .sort((a, b) => gainOf(b) - gainOf(a) || (a.term < b.term ? -1 : 1))
  const measured = terms.filter((term) => term.measured).length
  return {
    keywords: {
      tracked: terms.length,
      measured,
      up: count("up"),
      down: count("down"),
      entered: count("entered"),
      dropped: count("dropped"),
      same: count("same"),
    },
    best: moves("up", "entered").slice(0, MAX_MOVES),
    worst: moves("down", "dropped").reverse().slice(0, MAX_MOVES),
  }
}

const MAX_MOVES = 5

/**
 * Returns the logarithm of the ratio of the two ranks, so that 12 to 2 counts more than 92 to 82. Positive for a move
 * up. An absent app counts as rank 250.
 */
function gainOf({ was, rank }: WeekMove): number {
  return Math.log((was ?? ABSENT) / (rank ?? ABSENT))
}

const ABSENT = 250

async function readRatings(sql: Sql, sides: readonly SideApp[], { from, to }: WeekSpan): Promise<Week["ratings"]> {
  const places = sides.map(({ storeAppId, storefront }) => ({ app: storeAppId as number, storefront }))
  const [last, earlier] = [await readRatingsOn(sql, places, to), await readRatingsOn(sql, places, addDays(from, -1))]
  return sides.flatMap(({ platform, storefront: country }, place) => {
    const [read, before] = [last[place], earlier[place]]
    if (!read || (read.ratings === null && read.rating === null)) return []
    const { ratings, rating } = read
    const comparable = before && before.source === read.source && before.ratings !== null && ratings !== null
    return [
      {
        platform,
        country,
        ratings,
        rating,
        gained: comparable ? ratings - before.ratings! : null,
      },
    ]
  })
}

async function readReviews(
  sql: Sql,
  sides: readonly SideApp[],
  { from, to }: WeekSpan,
  now: Date,
): Promise<Week["reviews"]> {
  const places = sides.map(({ platform, storefront, storeAppId }) => ({
    platform,
    storefront,
    app: storeAppId as number,
  }))
  const names = await readStorefrontFeeds(sql, places)
  const named = places.flatMap(({ platform, app }, at) => names[at]!.map((feed) => ({ platform, app, feed })))
  // several storefronts may share a language on Google Play
  const feeds = [...new Map(named.map((item) => [`${item.app} ${item.feed}`, item])).values()]
  const span = { from: new Date(`${from}T00:00:00Z`), to: new Date(`${addDays(to, 1)}T00:00:00Z`), now }
  const written = await readWrittenReviews(sql, feeds, span)
  return feeds.flatMap(({ platform, feed }, place) => {
    const { measured, count, low } = written[place]!
    return measured ? [{ platform, feed, count, low }] : []
  })
}

async function countChanges(sql: Sql, { iosApp, androidApp }: RankedApp, { from, to }: WeekSpan): Promise<number> {
  const apps = [iosApp, androidApp].filter((id) => id !== null)
  return (await readChanges(sql, { apps, from, to, limit: MAX_CHANGES })).length
}

async function countAlerts(sql: Sql, { id }: RankedApp, { from, to }: WeekSpan): Promise<Record<string, number>> {
  const rows = await sql<{ type: string; count: number }[]>`
    select type, count(*)::int as count
    from alert
    where app_id = ${id} and at >= ${`${from}T00:00:00Z`}::timestamptz
      and at < ${`${addDays(to, 1)}T00:00:00Z`}::timestamptz and type <> 'weekly' and not history
      and withdrawn_at is null
    group by type
    order by type
    limit 20`
  return Object.fromEntries(rows.map(({ type, count }) => [type, count]))
}
