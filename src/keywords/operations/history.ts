import * as v from "valibot"
import { ENTITLEMENTS } from "../../access/plans.ts"
import { inOrder, LAST_DAY, lookedAt, RangeDay } from "../../core/day-range.ts"
import { ofApp, operation } from "../../core/operation.ts"
import type { TrackedApp } from "../../core/tracked-app.ts"
import type { Sql } from "../../database/types.ts"
import { cursorOf, placeIn } from "../../lib/cursor.ts"
import { addDays, type Days, dayOf } from "../../lib/days.ts"
import { Fault } from "../../lib/faults.ts"
import { AppCountry, Term, wholeNumber } from "../../lib/fields.ts"
import type { TableRow } from "../../lib/list-table.ts"
import { coded, described, named } from "../../lib/schema.ts"
import { sourceOn, sourceRuns } from "../../lib/source-runs.ts"
import { isStorable } from "../../lib/text.ts"
import { isRealDay } from "../../lib/time.ts"
import { Day, Rank, RankRuns, Store, Storefront } from "../../tracking/shapes.ts"
import { readRankSeries, type SeriesPlace, type TermSeries } from "../read/series.ts"

/** The longest history that any plan includes; a longer range is requested by its days. */
const MAX_DAYS = ENTITLEMENTS.enterprise.historyDays
const MAX_TERMS = 100
const MAX_KEYWORDS = 1_000
const LONGEST_CURSOR = 2_000

const Point = described(
  v.strictTuple([Day, v.nullable(Rank)]),
  "[day, rank] pairs. A null rank means measured and absent from the results read. Days without a pair were not " +
    "measured.",
)

const Keyword = named(
  "KeywordHistory",
  v.strictObject({
    term: described(v.string(), "The keyword."),
    sources: RankRuns,
    series: described(v.array(Point), "Measured days only, oldest first."),
  }),
)

export const getRankHistory = operation({
  id: "get_rank_history",
  method: "GET",
  path: "/apps/:appId/history",
  group: "Your apps",
  toolset: "keywords",
  summary: "Returns the rank of every tracked keyword over time.",
  description:
    "Covers all history that the plan includes unless days or from is given. Uses the iOS app if there is one, else " +
    "the Android app. list_keyword_ranks has only the latest ranks.",
  effect: "reads",
  scope: "apps:read",
  plan: "pro",
  price: 1,
  faults: [],
  input: ofApp({
    country: AppCountry,
    days: v.optional(wholeNumber(1, MAX_DAYS, "Number of UTC days up to today, instead of from and to.", "bad_days")),
    from: RangeDay("First UTC day, YYYY-MM-DD. Default: start of the plan's history."),
    to: RangeDay(LAST_DAY),
    terms: described(v.optional(v.pipe(v.array(Term), v.minLength(1), v.maxLength(MAX_TERMS))), "Only these keywords."),
    limit: v.optional(wholeNumber(1, MAX_KEYWORDS, "Maximum number of keywords per page. Default: all.")),
    cursor: v.optional(
      coded(
        v.pipe(
          v.string(),
          v.minLength(1),
          v.maxLength(LONGEST_CURSOR),
          v.description("nextCursor of the previous page, with the same country, days, from, to and terms."),
        ),
        "bad_cursor",
      ),
    ),
  }),
  instead: { days: ["from", "to"] },
  refine: inOrder,
  toolDefaults: { days: 30 },
  narrow: { rows: ["keywords"] },
  output: v.strictObject({
    country: Storefront,
    platform: Store,
    from: described(Day, "First UTC day of the window."),
    to: described(Day, "Last UTC day of the window. Default: today."),
    keywords: described(v.array(Keyword), "Every tracked keyword of the storefront, in its order."),
    notTracked: v.optional(
      described(v.array(v.string()), "With terms: the requested keywords that the app does not track there."),
    ),
    nextCursor: v.optional(
      described(
        v.nullable(v.string()),
        "With limit or cursor: cursor of the next page. Null if this is the last page.",
      ),
    ),
  }),
  table: {
    columns: ["day", "term", "measured", "rank", "source"],
    *rows({ keywords }) {
      for (const keyword of keywords) yield* historyRows(keyword)
    },
  },
}).run(async ({ app, storefront, days, from, to, terms, limit, cursor }, { sql, now, caller }) => {
  const platform = app.iosApp === null ? ("android" as const) : ("ios" as const)
  const called = [app.id, storefront, days, from, to, terms]
  const start = cursor === undefined ? undefined : startIn(called, cursor)
  const range = days === undefined ? { from, to } : { from: addDays(dayOf(now()), 1 - days) }
  const window = lookedAt("history", start?.window ?? range, now(), caller)
  // Reads one series more than is shown, to find out whether there is a next page.
  const most = limit && limit + 1
  const read = await readRankSeries(sql, app, {
    platform,
    storefront,
    ...window,
    terms,
    limit: most,
    after: start?.after,
  })
  const page = read.slice(0, limit)
  const isWhole = limit === undefined && cursor === undefined
  const untracked = async (requestedTerms: readonly string[]) => {
    const tracked = isWhole ? read.map(({ term }) => term) : await findTracked(sql, app, storefront, requestedTerms)
    return [...new Set(requestedTerms).difference(new Set(tracked))]
  }
  return {
    country: storefront,
    platform,
    ...window,
    keywords: page.map(keywordOf),
    ...(terms && { notTracked: await untracked(terms) }),
    ...((limit || cursor) && { nextCursor: read.length > page.length ? nextCursor(called, window, page) : null }),
  }
})

function keywordOf({ term, points }: TermSeries) {
  return {
    term,
    sources: sourceRuns(points),
    series: points.map(({ day, rank }): [string, number | null] => [day, rank]),
  }
}

/**
 * The start of a page: the last keyword of the previous page, and the window of the first page, which stays the same
 * even if the day has changed since.
 */
interface PageStart {
  window: Days
  after: SeriesPlace
}

const Place = v.strictTuple([
  v.pipe(v.string(), v.isoDate(), v.check(isRealDay)),
  v.pipe(v.string(), v.isoDate(), v.check(isRealDay)),
  v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(2_147_483_647)),
  v.pipe(v.string(), v.check(isStorable)),
])

/** Throws bad_cursor if the cursor does not belong to this call. */
function startIn(called: unknown, cursor: string): PageStart {
  const place = v.safeParse(Place, placeIn(called, cursor))
  if (!place.success) throw new Fault("bad_cursor", { field: "cursor", detail: NO_CURSOR })
  const [from, to, position, term] = place.output
  return { window: { from, to }, after: { position, term } }
}

const NO_CURSOR =
  "cursor must be the nextCursor of a page with the same app, country, days, from, to and terms; only limit and " +
  "fields may differ. Omit it for the first page."

function nextCursor(called: unknown, { from, to }: Days, shown: readonly SeriesPlace[]): string {
  const { position, term } = shown.at(-1) as SeriesPlace
  return cursorOf(called, [from, to, position, term])
}

/** Returns the terms that the app tracks in the storefront, or in any if the app does not track the storefront. */
async function findTracked(sql: Sql, app: TrackedApp, storefront: string, terms: readonly string[]): Promise<string[]> {
  const anywhere = !app.countries.includes(storefront)
  const rows = await sql<{ term: string }[]>`
    select distinct term
    from tracked_term
    where app_id = ${app.id} and (${anywhere} or country = ${storefront}) and term = any(${terms as string[]}::text[])
    order by term
    limit ${terms.length}`
  return rows.map(({ term }) => term)
}

/**
 * Returns one row per measured day. A keyword without measured days has one row with measured false. Fields that were
 * not requested have no column.
 */
function historyRows({ term, sources, series }: Partial<v.InferOutput<typeof Keyword>>): TableRow[] {
  if (!series) return [{ term }]
  if (series.length === 0) return [{ day: null, term, measured: false, rank: null, source: sources && null }]
  const sourceOf = (day: string) => sources && sourceOn(sources, day)
  return series.map(([day, rank]) => ({ day, term, measured: true, rank, source: sourceOf(day) }))
}
