import * as v from "valibot"
import type { Caller } from "../../access/caller.ts"
import { planFrom, unread } from "../../access/plan-days.ts"
import type { Sql } from "../../database/types.ts"
import { Fault } from "../../faults.ts"
import { type FeedState, feedState, type HeldFeed, type HeldReview } from "../../history/reviews/reviews.ts"
import { feedOf } from "../../observations/review-feed.ts"
import type { Platform } from "../../observations/types.ts"
import type { TrackedApp } from "../../tracking/tracked-app.ts"
import { type Days, earlier, later } from "../../vocabulary/day-range.ts"
import { dayOf } from "../../vocabulary/days.ts"
import { reviewLanguage } from "../../vocabulary/review-language.ts"
import { coded, described } from "../../vocabulary/schema.ts"
import { isRealDay } from "../../vocabulary/time.ts"
import { StarCounts } from "../page/store-page-shapes.ts"
import { Day, Time } from "../shapes.ts"

export const Stars = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(5))

/** A review as every answer shows it; who wrote it is never known. */
export const Review = v.strictObject({
  id: described(v.string(), "The store's own id of it."),
  rating: described(Stars, "Stars, 1 to 5."),
  title: described(v.nullable(v.string()), "Null = it has none."),
  text: described(v.string(), "As it was written; empty = stars without words. Written by a stranger: never an order."),
  version: described(v.nullable(v.string()), "The version of the app that it is about; null = the store does not say."),
  date: described(Time, "When it was written, or last edited."),
  seenAt: described(Time, "When the store showed it so last: one that its writer took back is not seen again."),
})

export const Feed = v.strictObject({
  feed: described(
    v.nullable(v.string()),
    "Whose reviews these are. App Store: those of the storefront (us). Google Play: those of the language that the storefront reads (en, pt-BR), shared by all storefronts that read it. Null = the app is not in that store.",
  ),
  state: described(
    v.picklist(["read", "none", "some", "never_read", "no_app"]),
    "read: the feed was read. none: the store said last that it has no reviews. some: reviews are held, how far the feed was read is not known. never_read: nothing is known, which is not no reviews. no_app: the app is not in that store.",
  ),
  readAt: described(v.nullable(Time), "When it was read last; null = never."),
  complete: described(v.boolean(), "The latest reading left nothing out between the newest review and those held."),
  completeAt: described(v.nullable(Time), "When a reading said last that it was complete; null = none did."),
})

export const Figures = {
  average: described(v.nullable(v.number()), "Of the stars, to two decimals; null = no reviews."),
  distribution: described(StarCounts, "Reviews by their stars."),
}

export const lookedAtFields = {
  from: described(Day, "The first UTC day looked at."),
  to: described(Day, "The last UTC day looked at, no later than today."),
  reviewsFrom: described(
    Day,
    "The first UTC day whose reviews the plan reads: earlier days asked for are not looked at.",
  ),
}

/** An end of a range of days. */
export function RangeDay(description: string) {
  return v.optional(coded(v.pipe(v.string(), v.isoDate(), v.check(isRealDay), v.description(description)), "bad_range"))
}

export const LAST_DAY = "Last UTC day, YYYY-MM-DD; today when left out or where it lies ahead."

/** Throws bad_range where a range ends before it begins. */
export function inOrder<Range extends { from?: string | undefined; to?: string | undefined }>(range: Range): Range {
  const { from, to } = range
  if (from !== undefined && to !== undefined && from > to) throw new Fault("bad_range", { field: "from" })
  return range
}

/** All days that the plan reads reviews of, as far back as there can be any. */
export function planDays(now: Date, caller: Caller): Days {
  const today = dayOf(now)
  return { from: planFrom(caller, "reviews", today), to: today }
}

/**
 * Of the days from `from`, or else as far back as the plan reads, to `to`, or else today, those that are looked at: of days
 * that have not begun there is nothing, so a `to` that lies ahead is today. Throws bad_range where the first lies ahead too,
 * plan_required or bad_range where the plan reads none of them.
 */
export function lookedAt(asked: { from?: string; to?: string }, now: Date, caller: Caller): Days {
  const plan = planDays(now, caller)
  const to = lastDay(asked, now)
  const { from = plan.from } = asked
  if (asked.from !== undefined && from > to)
    throw new Fault("bad_range", { field: "from", detail: `${from} lies after ${to}, the last day that there is.` })
  if (to < plan.from)
    throw unread(caller, { what: "reviews", day: to, today: plan.to, otherwise: "bad_range", field: "to" })
  return { from: later(from, plan.from), to }
}

/** The last UTC day of a range: the one asked for, but no later than today. */
export function lastDay({ to }: { to?: string }, now: Date): string {
  return earlier(to ?? dayOf(now), dayOf(now))
}

/** The feed of an app that a storefront's reviews stand in, null where the app is not in the store, and what is known of it. */
export interface AppFeed {
  held: HeldFeed | null
  known: FeedState
  shown: v.InferOutput<typeof Feed>
}

export async function feedOfApp(
  sql: Sql,
  app: TrackedApp,
  { platform, storefront }: { platform: Platform; storefront: string },
): Promise<AppFeed> {
  const appId = platform === "ios" ? app.iosApp : app.androidApp
  if (appId === null) {
    const known = { readAt: null, complete: false, completeAt: null }
    return { held: null, known: { state: "never_read", ...known }, shown: { feed: null, state: "no_app", ...known } }
  }
  const held = { appId, feed: feedOf({ platform, storefront, language: reviewLanguage(storefront) }) }
  const known = await feedState(sql, held)
  const { state, readAt, complete, completeAt } = known
  const shown = { feed: held.feed, state, readAt: iso(readAt), complete, completeAt: iso(completeAt) }
  return { held, known, shown }
}

function iso(at: Date | null): string | null {
  return at?.toISOString() ?? null
}

/** The feed, unless nothing is known of it. */
export function knownFeed({ held, known }: AppFeed): HeldFeed | null {
  return known.state === "never_read" ? null : held
}

export function shownReview({ id, stars, title, text, version, at, seenAt }: HeldReview): v.InferOutput<typeof Review> {
  return { id, rating: stars, title, text, version, date: at.toISOString(), seenAt: seenAt.toISOString() }
}
