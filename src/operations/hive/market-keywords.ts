import * as v from "valibot"
import { Fault, type FaultCode } from "../../faults.ts"
import type { MarketKeyword } from "../../history/searches/keywords-of-apps.ts"
import type { MarketDay } from "../../history/searches/market-lists.ts"
import type { Side } from "../../observations/provenance.ts"
import { addDays, dayOf } from "../../vocabulary/days.ts"
import { coded, described } from "../../vocabulary/schema.ts"
import { placeIn } from "../cursor.ts"
import { Count, Day, popularityFields, Rank, RankSource } from "../shapes.ts"
import { platformOf } from "./inputs.ts"

/** Older answers are left out: they do not show the market as it is. */
const ANSWER_DAYS = 30
/** Keywords of one page. */
export const MOST_KEYWORDS = 1_000
const LONGEST_CURSOR = 2_000

/** The scope of the search, stated once for all keywords. */
export const searchedFields = {
  since: described(Day, `Answers from this UTC day on count: the latest of each keyword, of ${ANSWER_DAYS} days.`),
  searched: described(
    Count,
    "Keywords of this storefront that were looked into: all that this instance holds such an answer to, for whomever it was read. Above 5,000 counted within the last minute.",
  ),
}

/** The fields of every row about a keyword of the market. */
export const answerFields = {
  depth: described(Rank, "How many places were read: below it may stand anybody."),
  day: described(Day, "Of the answer: the keyword's latest."),
  source: described(RankSource, "Who read it: compare ranks of one source only."),
  origin: described(v.string(), "Who brought it: own = this instance."),
  ...popularityFields,
  popularityWeek: described(v.nullable(v.string()), "YYYY-MM that a published popularity stands for; else null."),
  difficulty: described(v.nullable(v.number()), "0 to 100; null = not measured, or none can be given."),
}

export const KeywordsCursor = v.optional(
  coded(
    v.pipe(v.string(), v.minLength(1), v.maxLength(LONGEST_CURSOR), v.description("nextCursor; same input.")),
    "bad_cursor",
  ),
)

export const NextCursor = described(
  v.nullable(v.string()),
  `Asks for the next ${MOST_KEYWORDS} keywords; null = there are no more.`,
)

/** Returns the place that a cursor of the same call encodes; null without one. Throws bad_cursor. */
export function placeAfter<Place>(
  called: unknown,
  cursor: string | undefined,
  schema: v.GenericSchema<unknown, Place>,
): Place | null {
  if (cursor === undefined) return null
  const place = v.safeParse(schema, placeIn(called, cursor))
  if (place.success) return place.output
  throw new Fault("bad_cursor", { field: "cursor", detail: NO_CURSOR })
}

const NO_CURSOR = "cursor must be the nextCursor of a page of this very call. Leave it out for the first page."

export function marketLists(side: Side, now: Date): MarketDay {
  const today = dayOf(now)
  return { ...side, since: addDays(today, 1 - ANSWER_DAYS), today }
}

/** Throws if an id belongs to the other store. */
export function refuseOtherStore(
  ids: readonly string[],
  platform: Side["platform"],
  { code, field }: { code: FaultCode; field: string },
): void {
  const other = ids.find((id) => platformOf(id) !== platform)
  if (other === undefined) return
  const [store, asked] = platform === "ios" ? ["Google Play", "android"] : ["the App Store", "ios"]
  throw new Fault(code, { field, detail: `${other} is an id of ${store}: ask with platform=${asked}.` })
}

/** The values of answerFields. */
export function keywordAnswer({ depth, day, source, origin, figures }: MarketKeyword) {
  const { popularity, popularityLow, popularityHigh, popularitySource, popularityWeek, difficulty } = figures
  return {
    depth,
    day,
    source,
    origin,
    popularity,
    popularityLow,
    popularityHigh,
    popularitySource,
    popularityWeek,
    difficulty,
  }
}
