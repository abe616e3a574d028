import type { Sql } from "../database/types.ts"
import type { Finder } from "./alert-type.ts"
import { derivePastFindings, type Look } from "./findings.ts"
import type { ConcernedPlace } from "./import-concerns.ts"
import type { SideNotes } from "./import-notes.ts"
import { spansOf } from "./import-spans.ts"
import { feedType, type RuleType } from "./types.ts"

/** An imported place, and the parameters for deriving its alerts. */
export interface PlaceImport {
  sql: Sql
  place: ConcernedPlace
  side: SideNotes | undefined
  reviewsFrom: string | undefined
  isCategorised: boolean
  keptFrom: string
  now: Date
  pause(): Promise<void>
}

export const findersOf = (...types: RuleType[]) => [...new Set(types.map((type) => feedType(type).find as Finder))]
export const OF_SEARCHES = findersOf("rank_drop", "rival_passed", "off_topic")
export const OF_CHARTS = findersOf("chart_drop")
export const OF_PAGES = findersOf("rival_event", "featured")
export const OF_REVIEWS = findersOf("review_wave")
export const OF_ANSWERS = findersOf("ai_mention_lost")

export async function deriveSpan({ sql, place, now, pause }: PlaceImport, look: Look): Promise<void> {
  await pause()
  await sql.begin((tx) => derivePastFindings(tx, place, { ...look, appId: place.appId }, now))
}

/**
 * At most this many keywords times days per transaction: 200 keywords take the embedded database at least 65 ms for
 * three days.
 */
const LOOKED_AT_ONCE = 400
const MAX_DAYS = 60

export async function deriveDays(
  imported: PlaceImport,
  days: readonly string[],
  look: Pick<Look, "finders" | "terms" | "rivals">,
): Promise<void> {
  const terms = look.finders === OF_CHARTS ? 1 : (look.terms?.size ?? imported.place.terms.length)
  const atOnce = Math.max(1, Math.min(MAX_DAYS, Math.floor(LOOKED_AT_ONCE / Math.max(1, terms))))
  for (const span of spansOf(days, atOnce)) await deriveSpan(imported, { ...span, ...look })
}
