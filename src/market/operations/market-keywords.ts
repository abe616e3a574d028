import * as v from "valibot"
import type { Side } from "../../core/observation/provenance.ts"
import type { MarketKeyword } from "../../keywords/read/keywords-of-apps.ts"
import type { MarketDay } from "../../keywords/read/market-lists.ts"
import { placeIn } from "../../lib/cursor.ts"
import { addDays, dayOf } from "../../lib/days.ts"
import { Fault, type FaultCode } from "../../lib/faults.ts"
import { coded, described } from "../../lib/schema.ts"
import { Count, Day, popularityFields, Rank, RankSource } from "../../tracking/shapes.ts"
import { platformOf } from "./inputs.ts"

/** Older results are ignored, because they do not show the current market. */
const ANSWER_DAYS = 30
/** Maximum number of keywords per page. */
export const MAX_KEYWORDS = 1_000
const LONGEST_CURSOR = 2_000

/** The scope of the search, stated once for all keywords. */
export const searchedFields = {
  since: described(
    Day,
    `First UTC day searched. The latest results of each keyword count if they are of the last ${ANSWER_DAYS} days.`,
  ),
  searched: described(
    Count,
    "Keywords of this storefront with results since then, read for any workspace. Above 5,000, the count is up to " +
      "a minute old.",
  ),
}

/** The fields of every row about a keyword of the market. */
export const answerFields = {
  depth: described(Rank, "Number of places read. Ranks below are unknown."),
  day: described(Day, "The UTC day of the keyword's latest results."),
  source: described(RankSource, "Source of the results. Compare ranks of one source only."),
  origin: described(v.string(), "Instance of the results. own: this instance."),
  ...popularityFields,
  popularityWeek: described(v.nullable(v.string()), "Month of a published popularity, YYYY-MM. Null for others."),
  difficulty: described(v.nullable(v.number()), "0 to 100. Null if not measured or not computable."),
}

export const KeywordsCursor = v.optional(
  coded(
    v.pipe(
      v.string(),
      v.minLength(1),
      v.maxLength(LONGEST_CURSOR),
      v.description("nextCursor of the previous page, with the same input."),
    ),
    "bad_cursor",
  ),
)

export const NextCursor = described(
  v.nullable(v.string()),
  `Cursor of the next ${MAX_KEYWORDS} keywords. Null if this is the last page.`,
)

/**
 * Returns the position that a cursor of the same call encodes. Null without a cursor. Throws bad_cursor for any other
 * cursor.
 */
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

const NO_CURSOR = "cursor must be the nextCursor of a page of the same call. Omit it for the first page."

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
  const [store, parameter] = platform === "ios" ? ["Google Play", "android"] : ["the App Store", "ios"]
  throw new Fault(code, { field, detail: `${other} is an id of ${store}. Set platform to ${parameter}.` })
}

/** Returns the values of `answerFields` for a keyword. */
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
