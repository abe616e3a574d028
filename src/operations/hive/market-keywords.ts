import * as v from "valibot"
import { Fault, type FaultCode } from "../../faults.ts"
import type { PlacedLists } from "../../history/searches/market-lists.ts"
import type { Side } from "../../observations/provenance.ts"
import { addDays, dayOf } from "../../vocabulary/days.ts"
import { WrittenAnswer } from "../../vocabulary/prepared.ts"
import { coded, described } from "../../vocabulary/schema.ts"
import { placeIn } from "../cursor.ts"
import { Count, Day, popularityFields, Rank, RankSource } from "../shapes.ts"
import { platformOf } from "./inputs.ts"

/** An answer older than this is none of the market's as it stands. */
const ANSWER_DAYS = 30
/** Keywords of one page. */
export const MOST_KEYWORDS = 1_000
const LONGEST_CURSOR = 2_000

/** Where an answer was looked for: said once for all keywords. */
export const searchedFields = {
  since: described(Day, `Answers from this UTC day on count: the latest of each keyword, of ${ANSWER_DAYS} days.`),
  searched: described(
    Count,
    "Keywords of this storefront that were looked into: all that this instance holds such an answer to, for whomever it was read.",
  ),
}

/** What stands in every row about a keyword of the market. */
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

/** The place that a cursor of this very call names; null without one. Throws bad_cursor. */
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

export function marketLists(side: Side, now: Date): PlacedLists {
  const today = dayOf(now)
  return { ...side, since: addDays(today, 1 - ANSWER_DAYS), today }
}

/** Throws where an id is one of the other store. */
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

/** An answer whose rows are JSON already; `priced` is as much of it as its price is made of. */
export function keywordsWritten(head: object, rows: readonly string[], nextCursor: string | null, priced?: unknown) {
  const after = `"nextCursor":${JSON.stringify(nextCursor)}`
  return new WrittenAnswer(`${JSON.stringify(head).slice(0, -1)},"keywords":[${rows.join()}],${after}}`, priced)
}
