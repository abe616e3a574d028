import * as v from "valibot"
import { lookedAt, RangeDay } from "../../core/day-range.ts"
import { ofApp, operation } from "../../core/operation.ts"
import { readAppDays } from "../../keywords/read/app-days.ts"
import { readRankSeries } from "../../keywords/read/series.ts"
import { readImportedLines } from "../../keywords/store/imported-ranks.ts"
import { AppCountry, Platform, Term } from "../../lib/fields.ts"
import { described } from "../../lib/schema.ts"
import { Day, Rank, Store, Storefront } from "../../lib/shapes.ts"
import { sourceRuns } from "../../lib/source-runs.ts"
import { parseRival, STORE_ID_PATTERNS } from "../../lib/store-ids.ts"
import { RankRuns } from "../../tracking/shapes.ts"

/** Maximum number of keywords: the rows of a page and the lines of its chart. */
const MAX_TERMS = 100
/** Maximum number of a rival's keywords, because each requires a read of whole result lists. */
const MAX_RIVAL_TERMS = 8

const Line = v.strictObject({
  term: v.string(),
  sources: RankRuns,
  series: described(v.array(v.strictTuple([Day, v.nullable(Rank)])), "Measured days only. A null rank is absent."),
})

const window = { from: RangeDay("First UTC day."), to: RangeDay("Last UTC day.") }

const terms = (most: number) => v.pipe(v.array(Term), v.minLength(1), v.maxLength(most))

interface Points<Source> {
  term: string
  points: { day: string; rank: number | null; source: Source }[]
}

function lineOf<Source>({ term, points }: Points<Source>) {
  return {
    term,
    sources: sourceRuns(points),
    series: points.map(({ day, rank }): [string, number | null] => [day, rank]),
  }
}

/** Returns the ranks of an app in either store if it is in both, which get_rank_history does not. */
export const listRankLines = operation({
  id: "list_rank_lines",
  method: "GET",
  path: "/page/:appId/rank-lines",
  group: "Your apps",
  toolset: "keywords",
  summary: "Returns the ranks of some keywords over time, for the charts of pages.",
  effect: "reads",
  scope: "apps:read",
  plan: "pro",
  price: 0,
  faults: [],
  input: ofApp({ country: AppCountry, platform: Platform, ...window, terms: terms(MAX_TERMS) }),
  output: v.strictObject({
    country: Storefront,
    platform: Store,
    from: Day,
    to: Day,
    keywords: described(v.array(Line), "The requested keywords that are tracked."),
  }),
}).run(async ({ app, storefront, platform, terms, from, to }, { sql, now, caller }) => {
  const days = lookedAt("history", { from, to }, now(), caller)
  const series = await readRankSeries(sql, app, { platform, storefront, ...days, terms })
  return { country: storefront, platform, ...days, keywords: series.map(lineOf) }
})

/** A rival's ranks are read from the stored results, because only tracked apps have stored ranks. */
export const listRivalLines = operation({
  id: "list_rival_lines",
  method: "GET",
  path: "/page/:appId/rival-lines",
  group: "Your apps",
  toolset: "keywords",
  summary: "Returns another app's ranks for some tracked keywords over time.",
  effect: "reads",
  scope: "apps:read",
  plan: "pro",
  price: 0,
  faults: [],
  input: ofApp({
    country: AppCountry,
    platform: Platform,
    ...window,
    terms: terms(MAX_RIVAL_TERMS),
    rival: v.pipe(v.string(), v.regex(new RegExp(STORE_ID_PATTERNS.rival))),
  }),
  output: v.strictObject({
    country: Storefront,
    platform: Store,
    from: Day,
    to: Day,
    name: described(v.nullable(v.string()), "Name of the rival. Null if unknown."),
    keywords: v.array(Line),
  }),
}).run(async ({ app, storefront, platform, terms, from, to, rival }, { sql, now, caller }) => {
  const days = lookedAt("history", { from, to }, now(), caller)
  const storeId = parseRival(rival)!.id
  const { name, keywords } = await readAppDays(sql, app, { platform, storefront, ...days, terms, storeId })
  return { country: storefront, platform, ...days, name, keywords: keywords.map(lineOf) }
})

/**
 * Ranks that another tool measured. They are drawn as separate lines and never joined with this instance's readings.
 */
export const listImportedLines = operation({
  id: "list_imported_lines",
  method: "GET",
  path: "/page/:appId/imported-lines",
  group: "Your apps",
  toolset: "keywords",
  summary: "Returns the imported ranks of some keywords over time.",
  effect: "reads",
  scope: "apps:read",
  plan: "pro",
  price: 0,
  faults: [],
  input: ofApp({ country: AppCountry, platform: Platform, ...window, terms: terms(MAX_TERMS) }),
  output: v.strictObject({
    lines: v.array(
      v.strictObject({
        term: v.string(),
        tool: described(v.string(), "The tool that measured them, as the person named it."),
        series: described(v.array(v.strictTuple([Day, Rank])), "Days that the file names."),
      }),
    ),
  }),
}).run(async ({ app, storefront, platform, terms, from, to }, { sql, now, caller }) => {
  const days = lookedAt("history", { from, to }, now(), caller)
  return { lines: await readImportedLines(sql, app.id, { platform, storefront, ...days, terms }) }
})
