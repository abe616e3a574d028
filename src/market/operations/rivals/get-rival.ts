import * as v from "valibot"
import { planCovers } from "../../../access/plans.ts"
import { type Context, ofApp, operation } from "../../../core/operation.ts"
import type { TrackedApp } from "../../../core/tracked-app.ts"
import { type AppKeyword, findAppKeywords } from "../../../keywords/read/keywords-of-apps.ts"
import { countMarketLists } from "../../../keywords/read/market-lists.ts"
import { addDays, dayOf } from "../../../lib/days.ts"
import { AppCountry, Platform } from "../../../lib/fields.ts"
import { described, extending, named } from "../../../lib/schema.ts"
import { PAGE_CHANGES } from "../../../listings/changes.ts"
import { ChangeShape, changeFields, changeShape, PageChangeKind } from "../../../listings/operations/listing-shapes.ts"
import { readChanges } from "../../../listings/read/changes.ts"
import { type RatingPoint, readRatingDays } from "../../../stores/read/rating-days.ts"
import { Count, Day, Rank, RankSource, Source, Store, Storefront, Time } from "../../../tracking/shapes.ts"
import { findRival, type Rival, RivalId, rivalFields } from "./find-rival.ts"
import { ratingFields, ratingsOf, readStoreState } from "./rival-ratings.ts"

const HISTORY_DAYS = 90
/** The latest answers of this many days are searched. */
const ANSWER_DAYS = 7
const OPEN_DAYS = 30
const MAX_KEYWORDS = 1_000
const MAX_CHANGES = 50

const Point = named(
  "RatingPoint",
  v.strictObject({
    day: Day,
    ratings: described(Count, "How many ratings it had."),
    rating: described(v.nullable(v.number()), "0 to 5 stars; null = not shown that day."),
    source: described(Source, "Compare counts of one source only: sources round and count otherwise."),
  }),
)

const Change = named(
  "RivalChange",
  extending(
    ChangeShape,
    v.strictObject({
      kind: PageChangeKind,
      ...changeFields,
      before: described(
        v.nullable(v.string()),
        "A name, a subtitle, a version number, a price with its currency, or the address of an icon; of a promotional text its words, from the Pro plan. Null for all other kinds.",
      ),
    }),
  ),
)

const Keyword = named(
  "RivalKeyword",
  v.strictObject({
    term: described(v.string(), "The keyword."),
    rank: described(Rank, "The rival's."),
    ourRank: described(
      v.nullable(Rank),
      "Null = the tracked app was not among the results read, or is not in this store.",
    ),
    depth: described(Rank, "How many places were read."),
    day: described(Day, "The UTC day of the answer: the keyword's latest."),
    source: described(RankSource, "Where that answer comes from."),
    tracked: described(v.boolean(), "The app tracks this keyword in this storefront."),
  }),
)

const Spies = v.strictObject({
  used: described(Count, "Keyword spies used this month (UTC)."),
  limit: described(Count, "Of so many a month."),
  resetsAt: described(Time, "When the next month starts."),
})

export const getRival = operation({
  id: "get_rival",
  method: "GET",
  path: "/apps/:appId/rivals/:rivalId",
  group: "Your apps",
  toolset: "rivals",
  summary: "One rival: its ratings and what changed on its page over 90 days, and every keyword it ranks for.",
  description:
    "A keyword list takes one keyword spy of the workspace's monthly allowance and then stays open for 30 days, for the whole workspace, in that storefront: reading it again takes nothing, and neither does a rival without a keyword. With the allowance used up the answer is locked: true and holds the rival's own figures alone. A rival is an app named by hand, or seen among the results of the app's keywords on the latest measured day or in the last 30; any other is not_found.",
  effect: "spends",
  scope: "apps:read",
  plan: "free",
  price: 1,
  faults: [],
  input: ofApp({ rivalId: RivalId, country: AppCountry, platform: Platform }),
  narrow: "parts",
  output: v.strictObject({
    country: Storefront,
    platform: Store,
    ...rivalFields,
    developer: described(v.nullable(v.string()), "Null until one was seen."),
    icon: described(v.nullable(v.string()), "Address of the store icon; null until one was seen."),
    manual: described(v.boolean(), "Named by hand."),
    available: described(
      v.nullable(v.boolean()),
      "Whether the store sells it in this storefront, as it said last; null = it was not asked yet.",
    ),
    ...ratingFields,
    history: described(
      v.strictObject({
        from: described(Day, "The first UTC day of the window."),
        to: described(Day, "The last UTC day of the window: today."),
        points: described(
          v.array(Point),
          "Rating counts of the measured days, oldest first; other days were not measured.",
        ),
      }),
      `How its ratings grew over ${HISTORY_DAYS} days.`,
    ),
    changes: described(
      v.array(Change),
      `What changed on its store page in this storefront in those days, newest first; at most ${MAX_CHANGES}. A rival's page is read once a day where the pace allows it.`,
    ),
    changesTruncated: described(v.boolean(), "There are older ones in those days, which are left out."),
    locked: described(
      v.boolean(),
      "There are keywords, and the month's keyword spies are used up: total, searched, complete and keywords are left out.",
    ),
    openUntil: described(
      v.nullable(Time),
      "Until when this keyword list is read again without another spy; null = locked, or no keyword to open.",
    ),
    spies: described(v.nullable(Spies), "The allowance after this call; null = there was no keyword to open."),
    total: v.optional(described(Count, "Keywords found.")),
    searched: v.optional(
      described(
        Count,
        `Keywords of this storefront that were looked at: all that anybody had measured in the last ${ANSWER_DAYS} days (UTC, today included), each by its latest day.`,
      ),
    ),
    complete: v.optional(described(v.boolean(), "Always true: all of them are looked at, however many there are.")),
    keywords: v.optional(
      described(v.array(Keyword), `The best ranks first; at most ${MAX_KEYWORDS} of total. Empty = found on none.`),
    ),
  }),
}).run(async ({ app, storefront, platform, rivalId }, ctx) => {
  const rival = await findRival(ctx, app, { rivalId, platform, storefront })
  const today = dayOf(ctx.now())
  const window = { from: addDays(today, 1 - HISTORY_DAYS), to: today }
  const { available, ratings } = await readStoreState(ctx.sql, rival, storefront)
  const points = await readHistory(ctx, rival, { storefront, ...window })
  const changes = await readChangesSeen(ctx, rival, { storefront, ...window })
  const keywords = await readKeywords(ctx, app, rival, storefront)
  const { storeId: id, name, developer, icon, manual } = rival
  return {
    country: storefront,
    platform,
    ...{ id, name, developer, icon, manual, available },
    ...ratingsOf(ratings),
    history: { ...window, points },
    changes: changes.slice(0, MAX_CHANGES),
    changesTruncated: changes.length > MAX_CHANGES,
    ...(await opened(ctx, keywords, `${platform} ${storefront} ${id}`)),
  }
})

async function readHistory(
  { sql }: Context,
  { appId }: Rival,
  window: { storefront: string; from: string; to: string },
): Promise<RatingPoint[]> {
  return appId === null ? [] : await readRatingDays(sql, appId, window)
}

async function readChangesSeen(
  { sql, caller }: Context,
  { appId }: Rival,
  window: { storefront: string; from: string; to: string },
): Promise<v.InferOutput<typeof Change>[]> {
  if (appId === null) return []
  const found = await readChanges(sql, { apps: [appId], ...window, kinds: PAGE_CHANGES, limit: MAX_CHANGES + 1 })
  const options = { promotional: planCovers(caller.plan, "pro"), names: true }
  return found.map((change) => ({
    kind: change.kind as (typeof PAGE_CHANGES)[number],
    ...changeShape(change, options),
  }))
}

interface RivalKeywords {
  total: number
  searched: number
  keywords: AppKeyword[]
}

async function readKeywords(
  { sql, now }: Context,
  app: TrackedApp,
  { appId, platform }: Rival,
  storefront: string,
): Promise<RivalKeywords> {
  // an app that no reading has shown has no rank
  if (appId === null) return { total: 0, searched: 0, keywords: [] }
  const today = dayOf(now())
  const lists = { platform, storefront, since: addDays(today, 1 - ANSWER_DAYS), today }
  const ownApp = platform === "ios" ? app.iosApp : app.androidApp
  const page = { after: null, limit: MAX_KEYWORDS }
  const found = await findAppKeywords(sql, lists, { app: appId, beside: ownApp, tracker: app.id }, page)
  return { ...found, searched: Math.max(await countMarketLists(sql, lists), found.total) }
}

/** The keyword part of the answer. Uses no spy if there are no keywords, and hides the keywords if no spy is left. */
async function opened(ctx: Context, { total, searched, keywords }: RivalKeywords, about: string) {
  const found = { total, searched, complete: true, keywords: keywords.map(shown) }
  if (total === 0) return { locked: false, openUntil: null, spies: null, ...found }
  const { granted, openUntil, used, limit, resetsAt } = await ctx.take("spy", { about, days: OPEN_DAYS })
  const state = { locked: !granted, openUntil, spies: { used, limit, resetsAt } }
  return granted ? { ...state, ...found } : state
}

function shown(keyword: AppKeyword): v.InferInput<typeof Keyword> {
  const { term, rank, besideRank, depth, day, source, tracked } = keyword
  return { term, rank, ourRank: besideRank, depth, day, source, tracked }
}
