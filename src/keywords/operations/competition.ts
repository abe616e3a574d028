import * as v from "valibot"
import type { Side } from "../../core/observation/provenance.ts"
import { ofApp, operation } from "../../core/operation.ts"
import { ownId } from "../../core/ranked-app.ts"
import type { Sql } from "../../database/types.ts"
import { dayOf } from "../../lib/days.ts"
import { AppCountry, Platform, Term } from "../../lib/fields.ts"
import { FIRST } from "../../lib/figure.ts"
import { sourceOf } from "../../lib/rank-sources.ts"
import { described, extending, named } from "../../lib/schema.ts"
import type { SourceName } from "../../lib/upstreams.ts"
import { preferredRating } from "../../stores/read/rating-days.ts"
import { nameIn } from "../../stores/store/app-names.ts"
import {
  Count,
  Day,
  DifficultyBand,
  latestRatingsFields,
  Rank,
  RankSource,
  Store,
  Storefront,
  Time,
} from "../../tracking/shapes.ts"
import { MIN_RESULTS } from "../formulas/difficulty.ts"
import { titleHolder } from "../formulas/title-match.ts"
import { latestAnswer } from "../read/latest-answer.ts"
import { readTrackedTerms } from "../read/ranks.ts"
import { difficultyOf, figuresOf } from "../store/keyword-figures.ts"

const MAX_TERMS = 100
/** Terms found on fewer apps are listed without figures. */
const MIN_APPS = 2
const SHOWN = 3

const Leader = named(
  "KeywordLeader",
  v.strictObject({
    id: described(v.string(), "Store id."),
    name: described(v.nullable(v.string()), "Null if unknown."),
    rank: described(Rank, "Position, from 1."),
    ...latestRatingsFields,
    inTitle: described(v.nullable(v.boolean()), "True if the name contains the keyword. Null if the name is unknown."),
  }),
)

const Reading = named(
  "MeasuredKeyword",
  v.strictObject({
    term: described(v.string(), "The normalised keyword."),
    day: described(Day, "The latest UTC day with results of the keyword; the figures are from that day."),
    measuredAt: described(Time, "Time of that day's reading."),
    source: described(RankSource, "Source of that reading."),
    depth: described(Rank, "Number of places read. Apps below are unknown."),
    apps: described(Count, "Number of different apps in the results read."),
  }),
)

const Competition = named(
  "KeywordCompetition",
  extending(
    Reading,
    v.strictObject({
      ...Reading.entries,
      rank: described(v.nullable(Rank), "Rank of the app. Null if absent from the results read."),
      named: described(Count, `Number of the first ${FIRST} results with a known name.`),
      inTitle: described(
        v.nullable(Count),
        "Number of them with every word of the keyword in the name, that is, apps that target it. Null if no name " +
          "is known.",
      ),
      difficulty: described(
        v.nullable(v.number()),
        "Strength of the first ten results, 0 to 100; higher is harder. The latest known figure, as in " +
          "list_keyword_ranks. Null if not measured or not available (see difficultyNone).",
      ),
      difficultyBand: described(v.nullable(DifficultyBand), "A fifth of the scale. Null if difficulty is null."),
      difficultyNone: described(
        v.boolean(),
        `True if there are fewer than ${MIN_RESULTS} results, too few for a difficulty.`,
      ),
      difficultyAt: described(
        v.nullable(Time),
        "Time of the newest reading behind the difficulty. Null if all are too old.",
      ),
      top: described(v.array(Leader), `The first ${SHOWN} results.`),
    }),
  ),
)

export const getKeywordCompetition = operation({
  id: "get_keyword_competition",
  method: "GET",
  path: "/apps/:appId/competition",
  group: "Your apps",
  toolset: "keywords",
  summary: "Returns how many apps compete for each keyword and how strong the first results are.",
  description:
    `Based on the stored results of each keyword's latest measured day. Keywords seen on ${MIN_APPS} or more apps ` +
    "have figures; the others are listed in fewer and notMeasured. Measures nothing.",
  effect: "reads",
  scope: "apps:read",
  plan: "free",
  price: 1,
  faults: [],
  input: ofApp({
    country: AppCountry,
    platform: Platform,
    terms: described(
      v.optional(v.pipe(v.array(Term), v.minLength(1), v.maxLength(MAX_TERMS))),
      `Comma-separated keywords; duplicates count once. Default: the first ${MAX_TERMS} tracked there.`,
    ),
  }),
  narrow: { rows: ["keywords"] },
  table: "keywords",
  output: v.strictObject({
    country: Storefront,
    platform: Store,
    corpus: described(
      v.nullable(Count),
      "Number of different apps in the results of all listed keywords, the basis of the counts. Null if no " +
        "keyword is measured.",
    ),
    keywords: described(v.array(Competition), `Keywords seen on ${MIN_APPS} or more apps, in the requested order.`),
    fewer: described(v.array(Reading), `Measured keywords seen on fewer than ${MIN_APPS} apps.`),
    notMeasured: described(
      v.array(v.string()),
      "Keywords without results read; all of them if the app does not track the storefront or is not in the store.",
    ),
    omitted: described(Count, `Tracked keywords beyond the first ${MAX_TERMS}. Request them with terms.`),
  }),
}).run(async ({ app, storefront, platform, terms }, { sql, now }) => {
  const side = { storefront, platform }
  const tracked = () => readTrackedTerms(sql, app, storefront)
  const requested = terms ? [...new Set(terms)] : await tracked()
  const looked = requested.slice(0, MAX_TERMS)
  const storeAppId = ownId(app, side)
  const { corpus, rows } =
    storeAppId === null ? { corpus: null, rows: [] } : await readAnswers(sql, side, storeAppId, looked)
  const leaders = leadersIn(await readFirstApps(sql, { storefront, countries: app.countries }, rows))
  const today = dayOf(now())
  const measured = new Set(rows.map(({ term }) => term))
  return {
    country: storefront,
    platform,
    corpus,
    keywords: rows
      .filter(({ apps }) => apps >= MIN_APPS)
      .map((row) => ({ ...readingOf(row), rank: row.rank, ...leaders(row), ...difficultyOf(row, today) })),
    fewer: rows.filter(({ apps }) => apps < MIN_APPS).map(readingOf),
    notMeasured: looked.filter((term) => !measured.has(term)),
    omitted: requested.length - looked.length,
  }
})

interface AnswerRow {
  term: string
  day: string
  seenAt: Date
  source: number
  depth: number
  apps: number
  rank: number | null
  /** store_app ids of the first results. */
  first: number[]
  difficulty: number | null
  difficultyDay: string | null
  difficultyAt: Date | null
}

interface ShownApp {
  id: string
  name: string | null
  ratings: number | null
  ratingsDay: string | null
  ratingsSource: SourceName | null
}

/** Reads the latest search results and difficulty of each term. */
async function readAnswers(sql: Sql, { platform, storefront }: Side, storeAppId: number, terms: readonly string[]) {
  const keyword = { platform: sql`${platform}`, storefront: sql`${storefront}`, term: sql`k.term` }
  const rows = await sql<(AnswerRow & { corpus: number })[]>`
    with answer as materialized (
      select k.term, k.place, r.*
      from unnest(${terms as string[]}::text[]) with ordinality k (term, place)
      cross join lateral (${latestAnswer(sql, sql`list_id, day, source, depth, seen_at, app_ids`, keyword)}) r
    )
    select t.term, t.day, t.seen_at as "seenAt", t.source, t.depth, cardinality(t.app_ids) as apps,
      array_position(t.app_ids, ${storeAppId}::int) as rank, t.app_ids[1:${FIRST}] as first, c.corpus,
      n.difficulty, n.difficulty_day as "difficultyDay", n.difficulty_at as "difficultyAt"
    from answer t
    left join lateral (${figuresOf(sql, sql`t.list_id`)}) n on true
    cross join (
      select count(distinct u.app_id)::int as corpus
      from answer
      cross join lateral unnest(app_ids) u (app_id)
    ) c
    order by t.place
    limit ${MAX_TERMS}`
  return { corpus: rows[0]?.corpus ?? null, rows }
}

/**
 * Reads each app among the first results once, since the same apps rank for many keywords. Reads ratings only of the
 * apps shown.
 */
async function readFirstApps(
  sql: Sql,
  place: { storefront: string; countries: readonly string[] },
  rows: readonly AnswerRow[],
): Promise<ReadonlyMap<number, ShownApp>> {
  const ids = [...new Set(rows.flatMap(({ first }) => first))]
  const leaderIds = [...new Set(rows.flatMap(({ first }) => first.slice(0, SHOWN)))]
  const apps = await sql<(ShownApp & { app: number })[]>`
    select s.id as app, s.store_id as id, ${nameIn(sql, sql`s.id`, place)} as name, c.ratings, c.day as "ratingsDay",
      c.source as "ratingsSource"
    from unnest(${ids}::int[]) u (app_id)
    -- Fenced with offset 0: the planner does not know the array's length and would scan the whole table.
    cross join lateral (
      select id, store_id
      from store_app
      where id = u.app_id
      offset 0
    ) s
    left join lateral (
      select ratings, day, source
      from rating_count
      where s.id = any(${leaderIds}::int[]) and app_id = s.id and storefront = ${place.storefront}
        and ratings is not null
      order by day desc, ${preferredRating(sql)}
      limit 1
    ) c on true
    order by s.id
    limit ${MAX_TERMS * FIRST}`
  return new Map(apps.map(({ app, ...of }) => [app, of]))
}

function readingOf({ term, day, seenAt, source, depth, apps }: AnswerRow) {
  return { term, day, measuredAt: seenAt.toISOString(), source: sourceOf(source), depth, apps }
}

/** Returns a function that derives a keyword's leaders from its first results. */
function leadersIn(apps: ReadonlyMap<number, ShownApp>) {
  const holds = titleHolder()
  return ({ term, first }: AnswerRow) => {
    const leaders = first.map((id, at) => {
      const app = apps.get(id) as ShownApp
      const inTitle = app.name === null ? null : holds(term, app.name)
      return { ...app, rank: at + 1, inTitle }
    })
    const named = leaders.flatMap(({ inTitle }) => inTitle ?? [])
    return {
      named: named.length,
      inTitle: named.length === 0 ? null : named.filter(Boolean).length,
      top: leaders.slice(0, SHOWN),
    }
  }
}
