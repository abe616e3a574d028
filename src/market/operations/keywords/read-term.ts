import type { Context } from "../../../core/operation.ts"
import { keptSince, NOT_THERE } from "../../../core/read-on-request.ts"
import { readFirstTen } from "../../../keywords/read/first-ten.ts"
import type { Fault } from "../../../lib/faults.ts"
import { whyUnread } from "../read-now.ts"

/** A keyword that was read for a call is not read again for so many days. */
export const KEPT_DAYS = 7

export interface AppStoreTerm {
  platform: "ios"
  storefront: string
  term: string
}

/**
 * Has the results and then their first ten apps read, and meanwhile the suggestions, each unless it is kept. Why results or
 * apps were not; null = they were. Suggestions are answered without.
 */
export async function readTermNow(ctx: Context, list: AppStoreTerm): Promise<Fault | null> {
  const { term: subject, ...side } = list
  const whyNot = (kind: "search" | "hints" | "difficulty") =>
    whyUnread(ctx, { wanted: { kind, ...side, subject }, keptDays: KEPT_DAYS })
  const stored = await readFirstTen(ctx.sql, list, ctx.now())
  const isKept = stored !== null && stored.seenAt >= keptSince(ctx.now(), KEPT_DAYS)
  const results = async () => (isKept ? null : await whyNot("search")) ?? noFigure(await whyNot("difficulty"))
  const [why] = await Promise.all([results(), whyNot("hints")])
  return why
}

/** Apps that were looked up and give no figure were read. */
function noFigure(why: Fault | null): Fault | null {
  return why?.extra.detail === NOT_THERE ? null : why
}
