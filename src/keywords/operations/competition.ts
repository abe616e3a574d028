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
    name: described(v.nullable(v.string()), "Null = the store showed none yet."),
    rank: described(Rank, "From 1, in the order shown."),
    ...latestRatingsFields,
    inTitle: described(v.nullable(v.boolean()), "Its name holds the keyword; null where the name is."),
  }),
)

const Reading = named(
  "MeasuredKeyword",
  v.strictObject({
    term: described(v.string(), "The keyword, as it was normalised."),
    day: described(Day, "The latest UTC day on which the keyword's results were read: the figures are of that day."),
    measuredAt: described(Time, "When that day's answer was seen."),
    source: described(RankSource, "Where that answer comes from."),
    depth: described(Rank, "How many places were read: more apps than these were not looked for."),
    apps: described(Count, "How many different apps the results read hold."),
  }),
)

const Competition = named(
  "KeywordCompetition",
  extending(
    Reading,
    v.strictObject({
      ...Reading.entries,
      rank: described(v.nullable(Rank), "Where the app stands among them; null = it does not."),
      named: described(Count, `Of the first ${FIRST} results, those whose name is known.`),
      inTitle: described(
        v.nullable(Count),
        "Of those named, how many hold the keyword in their name, word by word: who aims at it. Null where none is named.",
      ),
      difficulty: described(
        v.nullable(v.number()),
        "How strong the first ten are, 0 to 100, the higher the harder: the latest known, as in list_keyword_ranks. Null = not measured yet, or none can be given (difficultyNone).",
      ),
      difficultyBand: described(v.nullable(DifficultyBand), "A fifth of the scale each; null where difficulty is."),
      difficultyNone: described(v.boolean(), `Measured, with fewer than ${MIN_RESULTS} results: too few for one.`),
      difficultyAt: described(
        v.nullable(Time),
        "When the youngest reading behind the difficulty was seen; null = none is young enough.",
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
  summary: "How many apps compete for a keyword, and how strong the first are.",
  description: `Counted over the stored results of each keyword's latest measured day. A keyword has figures once it is seen on ${MIN_APPS} or more apps; the others are named in fewer and notMeasured. Nothing is measured by this call.`,
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
      `Keywords, comma-separated; the first ${MAX_TERMS} tracked there when left out. Repeated ones count once.`,
    ),
  }),
  narrow: { rows: ["keywords"] },
  table: "keywords",
  output: v.strictObject({
    country: Storefront,
    platform: Store,
    corpus: described(
      v.nullable(Count),
      "How many different apps stand in the results of all keywords answered: the set behind the counts. Null = none of the keywords is measured.",
    ),
    keywords: described(v.array(Competition), `Those seen on ${MIN_APPS} or more apps, in the order asked.`),
    fewer: described(v.array(Reading), `Measured, and seen on fewer than ${MIN_APPS} apps.`),
    notMeasured: described(
      v.array(v.string()),
      "Keywords whose results nobody read; all of them where the app does not track the storefront or is not in the store.",
    ),
    omitted: described(Count, `Tracked keywords beyond the first ${MAX_TERMS}: name them in terms.`),
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

/** Reads the latest answer and difficulty of each term. */
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
 * Reads each app among the first results once, since the same apps rank for many keywords. Ratings only for the apps
 * shown.
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
      where s.id = any(${leaderIds}::int[]) and app_id = s.id and storefront = ${place.storefront} and ratings is not null
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

/** Returns a function that derives the leaders of an answer from its first results. */
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
