import * as v from "valibot"
import type { Context } from "../../core/operation.ts"
import type { TrackedApp } from "../../core/tracked-app.ts"
import type { Sql } from "../../database/types.ts"
import { AdsPopularity, readAdsPopularity } from "../../keywords/operations/ads-popularity.ts"
import { dayAnswers, type SideApp, sideOf } from "../../keywords/read/day-answers.ts"
import { readRankSeries } from "../../keywords/read/series.ts"
import { UNMEASURED } from "../../keywords/store/keyword-figures.ts"
import { readKeywordMetrics } from "../../keywords/store/keyword-metrics.ts"
import { addDays, dayOf } from "../../lib/days.ts"
import { sourceOf } from "../../lib/rank-sources.ts"
import { keywordRecordId, type RecordId } from "../../lib/record-ids.ts"
import { described, named } from "../../lib/schema.ts"
import { sourceRuns } from "../../lib/source-runs.ts"
import { STORES, searchPage } from "../../lib/store-pages.ts"
import { preferredRating } from "../../stores/read/rating-days.ts"
import { nameIn } from "../../stores/store/app-names.ts"
import { platformOf, type RecordAnswer } from "../../tracking/records.ts"
import { Day, Rank, RankRuns, RankSource, RatedApp, Store, Storefront, Time } from "../../tracking/shapes.ts"

const MAX_ABOVE = 50

export const KeywordRecord = named(
  "KeywordRecord",
  v.strictObject({
    term: described(v.string(), "The keyword."),
    country: Storefront,
    platform: described(Store, "ios if the app is in the App Store, else android."),
    current: described(
      v.strictObject({
        term: described(v.string(), "The keyword."),
        measured: described(
          v.boolean(),
          "False if the results of this keyword were not read on the latest measured day of the app there.",
        ),
        rank: described(
          v.nullable(Rank),
          "Rank of the app. Null if absent from the results read (measured is true) or unknown (measured is " +
            "false).",
        ),
        day: described(v.nullable(Day), "The UTC day. Null if never measured."),
        measuredAt: described(v.nullable(Time), "Time of that day's reading. Null if measured is false."),
        source: described(v.nullable(RankSource), "Source of the results. Null if measured is false."),
        demand: described(
          v.nullable(v.number()),
          "0 to 100, from the rating counts of the first ten results. Null if not measured or without results.",
        ),
        demandAt: described(v.nullable(Time), "Time of the newest reading behind the demand. Null if all are too old."),
        depth: described(v.nullable(Rank), "Number of results read. Null if measured is false."),
        above: described(
          v.array(RatedApp),
          `Apps above the app in that day's results, in order, at most ${MAX_ABOVE}. If the app is absent, the ` +
            `first ${MAX_ABOVE} results. Empty if measured is false.`,
        ),
      }),
      "Figures of the latest measured day.",
    ),
    adsPopularity: AdsPopularity,
    sources: RankRuns,
    history: described(
      v.array(v.strictTuple([Day, v.nullable(Rank)])),
      "[day, rank] pairs within the history that the plan includes, oldest first. A null rank means measured and " +
        "absent. Days without a pair were not measured.",
    ),
  }),
)

type FetchedKeyword = RecordAnswer<v.InferOutput<typeof KeywordRecord>>

/** Returns the record of a tracked keyword. Null if the app does not track it there. */
export async function fetchKeyword(
  ctx: Context,
  app: TrackedApp,
  { country, terms }: RecordId & { kind: "keyword" },
): Promise<FetchedKeyword | null> {
  const { sql, now, caller } = ctx
  const term = app.countries.includes(country) ? await findTrackedTerm(sql, app.id, country, terms) : undefined
  if (term === undefined) return null
  const side = sideOf(app, { platform: platformOf(app), storefront: country })
  const to = dayOf(now())
  const from = addDays(to, 1 - caller.entitlements.historyDays)
  const [current, [series], metrics, adsPopularity] = await Promise.all([
    readCurrent(sql, side, term, app.countries),
    readRankSeries(sql, app, { ...side, from, to, terms: [term] }),
    readKeywordMetrics(sql, { ...side, terms: [term], today: to }),
    side.platform === "ios" ? readAdsPopularity([term], country, ctx) : null,
  ])
  const { platform } = side
  const { day, source, seenAt, depth, rank, above } = current
  const { demand, demandAt } = metrics.get(term) ?? UNMEASURED
  const measured = { measured: depth !== null, day, measuredAt: seenAt?.toISOString() ?? null }
  return {
    id: keywordRecordId(app.id, country, term),
    title: term,
    url: searchPage(platform, term, country),
    text: `"${term}" in ${country} on ${STORES[platform]}, for ${app.name}: ${state(current)}.`,
    metadata: {
      term,
      country,
      platform,
      current: {
        term,
        ...measured,
        source: source === null ? null : sourceOf(source),
        rank,
        demand,
        demandAt,
        depth,
        above,
      },
      adsPopularity,
      sources: sourceRuns(series?.points ?? []),
      history: (series?.points ?? []).map(({ day, rank }): [string, number | null] => [day, rank]),
    },
  }
}

/** Returns the first of the terms that the app tracks there. */
async function findTrackedTerm(sql: Sql, appId: string, country: string, terms: string[]): Promise<string | undefined> {
  const [row] = await sql<{ term: string }[]>`
    select term
    from tracked_term
    where app_id = ${appId} and country = ${country} and term = any(${terms}::text[])
    order by array_position(${terms}::text[], term)
    limit 1`
  return row?.term
}

interface CurrentRank {
  /** The day of the ranks. Null if that storefront and store were never measured. */
  day: string | null
  source: number | null
  seenAt: Date | null
  /** Null if the keyword was not measured on that day. */
  depth: number | null
  /** Null if absent or not measured. */
  rank: number | null
  above: v.InferOutput<typeof RatedApp>[]
}

async function readCurrent(sql: Sql, side: SideApp, term: string, countries: readonly string[]): Promise<CurrentRank> {
  const name = nameIn(sql, sql`s.id`, { storefront: side.storefront, countries })
  const rows = await sql<(Omit<CurrentRank, "above"> & { app: v.InferOutput<typeof RatedApp> | null })[]>`
    with ${dayAnswers(sql, [side], { term })}
    select t.day, a.source, a.seen_at as "seenAt", a.depth, a.our_rank as rank, u.app
    from term t
    left join answer a on a.term = t.term
    left join lateral (
      select p.place, json_build_object(
          'id', s.store_id, 'name', coalesce(${name}, s.store_id), 'ratings', c.ratings, 'ratingsDay', c.day,
          'ratingsSource', c.source
        ) as app
      from unnest(a.app_ids[1:least(a.our_rank - 1, ${MAX_ABOVE}::int)]) with ordinality p (app_id, place)
      join store_app s on s.id = p.app_id
      left join lateral (
        select ratings, day, source
        from rating_count
        where app_id = s.id and storefront = ${side.storefront} and ratings is not null
        order by day desc, ${preferredRating(sql)}
        limit 1
      ) c on true
    ) u on true
    where t.term = ${term}
    order by u.place
    limit ${MAX_ABOVE}`
  const [first] = rows
  const above = rows.flatMap(({ app }) => app ?? [])
  const { day = null, source = null, seenAt = null, depth = null, rank = null } = first ?? {}
  return { day, source, seenAt, depth, rank, above }
}

function state({ day, depth, rank }: CurrentRank): string {
  if (day === null) return "not measured yet"
  if (depth === null) return `not measured on ${day}, the latest day measured there`
  if (rank === null) return `not among the ${depth} places read on ${day}`
  return `rank ${rank} of the ${depth} places read on ${day}`
}
