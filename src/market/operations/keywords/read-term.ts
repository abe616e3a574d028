import type { Context } from "../../../core/operation.ts"
import { NOT_THERE, retainedSince } from "../../../core/read-on-request.ts"
import { readFirstTen } from "../../../keywords/read/first-ten.ts"
import type { Fault } from "../../../lib/faults.ts"
import { whyUnread } from "../read-now.ts"

/** A keyword read on request is not read again for this many days. */
export const KEPT_DAYS = 7

export interface AppStoreTerm {
  platform: "ios"
  storefront: string
  term: string
}

/**
 * Reads the search results, then the first ten apps of these results, and in parallel the suggestions. Skips readings
 * that are fresh. Returns the fault if results or apps could not be read, else null. Missing suggestions are no fault.
 */
export async function readTermNow(ctx: Context, list: AppStoreTerm): Promise<Fault | null> {
  const { term: subject, ...side } = list
  const whyNot = (kind: "search" | "hints" | "difficulty") =>
    whyUnread(ctx, { wanted: { kind, ...side, subject }, keptDays: KEPT_DAYS })
  const stored = await readFirstTen(ctx.sql, list, ctx.now())
  const isRetained = stored !== null && stored.seenAt >= retainedSince(ctx.now(), KEPT_DAYS)
  const results = async () => (isRetained ? null : await whyNot("search")) ?? noFigure(await whyNot("difficulty"))
  const [why] = await Promise.all([results(), whyNot("hints")])
  return why
}

/** Apps for which a look-up found nothing count as read. */
function noFigure(why: Fault | null): Fault | null {
  return why?.extra.detail === NOT_THERE ? null : why
}
