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
/** The search uses each keyword's latest results from at most this many days ago. */
const ANSWER_DAYS = 7
const OPEN_DAYS = 30
const MAX_KEYWORDS = 1_000
const MAX_CHANGES = 50

const Point = named(
  "RatingPoint",
  v.strictObject({
    day: Day,
    ratings: described(Count, "Number of ratings."),
    rating: described(v.nullable(v.number()), "0 to 5 stars. Null if not shown that day."),
    source: described(
      Source,
      "Source of the count. Compare counts of one source only, because sources round and count differently.",
    ),
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
        "A name, subtitle, version number, price with its currency, or icon URL; the promotional text on the Pro " +
          "plan and above. Null for other kinds.",
      ),
    }),
  ),
)

const Keyword = named(
  "RivalKeyword",
  v.strictObject({
    term: described(v.string(), "The keyword."),
    rank: described(Rank, "Rank of the rival."),
    ourRank: described(
      v.nullable(Rank),
      "Rank of the tracked app. Null if absent from the results read or not in this store.",
    ),
    depth: described(Rank, "Number of places read."),
    day: described(Day, "UTC day of the keyword's latest results."),
    source: described(RankSource, "Source of that reading."),
    tracked: described(v.boolean(), "True if the app tracks this keyword in this storefront."),
  }),
)

const Spies = v.strictObject({
  used: described(Count, "Keyword spies used this month (UTC)."),
  limit: described(Count, "Keyword spies per month."),
  resetsAt: described(Time, "Start of the next month."),
})

export const getRival = operation({
  id: "get_rival",
  method: "GET",
  path: "/apps/:appId/rivals/:rivalId",
  group: "Your apps",
  toolset: "rivals",
  summary: "Returns one rival: ratings and page changes over 90 days, and every keyword it ranks for.",
  description:
    "A keyword list takes one keyword spy of the workspace's monthly allowance. It then stays open for 30 days " +
    "for the whole workspace in that storefront: another call takes none, and neither does a rival without " +
    "keywords. When the allowance is used up, the answer is locked: true with only the rival's own figures. A " +
    "rival is an app added by hand, or one in the results of the app's keywords on the latest measured day or " +
    "within 30 days; others are not_found.",
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
    developer: described(v.nullable(v.string()), "Null if unknown."),
    icon: described(v.nullable(v.string()), "URL of the store icon. Null if unknown."),
    manual: described(v.boolean(), "True if added by hand."),
    available: described(
      v.nullable(v.boolean()),
      "Whether the store sells it in this storefront, according to the latest look-up. Null if not looked up.",
    ),
    ...ratingFields,
    history: described(
      v.strictObject({
        from: described(Day, "First UTC day of the window."),
        to: described(Day, "Last UTC day of the window: today."),
        points: described(
          v.array(Point),
          "Rating counts of the measured days, oldest first. Other days were not measured.",
        ),
      }),
      `Rating counts over ${HISTORY_DAYS} days.`,
    ),
    changes: described(
      v.array(Change),
      `Changes of its store page in this storefront in that period, newest first; at most ${MAX_CHANGES}. A ` +
        "rival's page is read once a day if the request rate allows it.",
    ),
    changesTruncated: described(v.boolean(), "True if older changes of the period are not listed."),
    locked: described(
      v.boolean(),
      "True if there are keywords but the month's keyword spies are used up. total, searched, complete and " +
        "keywords are then omitted.",
    ),
    openUntil: described(
      v.nullable(Time),
      "Until this time the keyword list can be read without another spy. Null if locked or without keywords.",
    ),
    spies: described(v.nullable(Spies), "The allowance after this call. Null if there were no keywords to open."),
    total: v.optional(described(Count, "Number of keywords found.")),
    searched: v.optional(
      described(
        Count,
        "Number of keywords searched: all keywords of this storefront measured for any workspace in the last " +
          `${ANSWER_DAYS} days (UTC, including today), each by its latest day.`,
      ),
    ),
    complete: v.optional(described(v.boolean(), "Always true: every such keyword is searched.")),
    keywords: v.optional(
      described(v.array(Keyword), `Best ranks first; at most ${MAX_KEYWORDS} of total. Empty if it ranks for none.`),
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
    id,
    name,
    developer,
    icon,
    manual,
    available,
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
  // an app that no reading contains has no rank
  if (appId === null) return { total: 0, searched: 0, keywords: [] }
  const today = dayOf(now())
  const lists = { platform, storefront, since: addDays(today, 1 - ANSWER_DAYS), today }
  const ownApp = platform === "ios" ? app.iosApp : app.androidApp
  const page = { after: null, limit: MAX_KEYWORDS }
  const found = await findAppKeywords(sql, lists, { app: appId, comparedApp: ownApp, tracker: app.id }, page)
  return { ...found, searched: Math.max(await countMarketLists(sql, lists), found.total) }
}

/**
 * Returns the part of the answer about keywords. Takes no spy if there are no keywords, and locks the keywords if no
 * spy is left.
 */
async function opened(ctx: Context, { total, searched, keywords }: RivalKeywords, about: string) {
  const found = { total, searched, complete: true, keywords: keywords.map(shown) }
  if (total === 0) return { locked: false, openUntil: null, spies: null, ...found }
  const { granted, openUntil, used, limit, resetsAt } = await ctx.take("spy", { about, days: OPEN_DAYS })
  const state = { locked: !granted, openUntil, spies: { used, limit, resetsAt } }
  return granted ? { ...state, ...found } : state
}

function shown(keyword: AppKeyword): v.InferInput<typeof Keyword> {
  const { term, rank, comparedRank: ourRank, depth, day, source, tracked } = keyword
  return { term, rank, ourRank, depth, day, source, tracked }
}
