import * as v from "valibot"
import { type Context, nothing, operation } from "../../core/operation.ts"
import { findAppKeywords } from "../../keywords/read/keywords-of-apps.ts"
import { countMarketLists } from "../../keywords/read/market-lists.ts"
import { cursorOf } from "../../lib/cursor.ts"
import { Fault } from "../../lib/faults.ts"
import { Platform } from "../../lib/fields.ts"
import { described, named } from "../../lib/schema.ts"
import { isStorable } from "../../lib/text.ts"
import { Count, Rank, Store, Storefront } from "../../tracking/shapes.ts"
import { MarketCountry, StoreAppId } from "./inputs.ts"
import { findStoreApp, marketAppFields, readMarketApps } from "./market-apps.ts"
import {
  answerFields,
  KeywordsCursor,
  keywordAnswer,
  MAX_KEYWORDS,
  marketLists,
  NextCursor,
  placeAfter,
  refuseOtherStore,
  searchedFields,
} from "./market-keywords.ts"

const Keyword = named(
  "MarketKeyword",
  v.strictObject({
    term: described(v.string(), "The keyword."),
    rank: described(Rank, "Rank of the app."),
    ...answerFields,
  }),
)

const RankPlace = v.strictTuple([
  v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(1_000)),
  v.pipe(v.string(), v.check(isStorable)),
])

export const hiveSpyApp = operation({
  id: "hive_spy_app",
  method: "GET",
  path: "/hive/spy/:id",
  group: "Hive",
  toolset: "hive",
  summary: "Lists every keyword that any app ranks for, best rank first.",
  description:
    "Searches all keywords that this instance read or imported for any workspace (see searched). Sends no request " +
    "to a store.",
  effect: "reads",
  scope: "hive:spy",
  hive: "pack",
  price: 200,
  faults: ["not_measured"],
  input: v.strictObject({ id: StoreAppId, country: MarketCountry, platform: Platform, cursor: KeywordsCursor }),
  narrow: { rows: ["keywords"] },
  table: "keywords",
  output: v.strictObject({
    ...marketAppFields,
    country: Storefront,
    platform: Store,
    ...searchedFields,
    total: described(Count, "Number of keywords that the app ranks for."),
    keywords: described(v.array(Keyword), `Best ranks first; at most ${MAX_KEYWORDS}. Empty if it ranks for none.`),
    nextCursor: NextCursor,
  }),
}).run(async ({ id, country: storefront, platform, cursor }, ctx) => {
  refuseOtherStore([id], platform, { code: "bad_app_id", field: "id" })
  const called = ["spy", id, storefront, platform]
  const place = placeAfter(called, cursor, RankPlace)
  const lists = marketLists({ platform, storefront }, ctx.now())
  const app = await findStoreApp(ctx.sql, { platform, id })
  const after = place && { rank: place[0], term: place[1] }
  // one row more than a page shows whether there is a next page; an app that was never seen has no rank
  const page = { after, limit: MAX_KEYWORDS + 1 }
  const found = await findAppKeywords(ctx.sql, lists, { app: app ?? 0, comparedApp: null, tracker: null }, page)
  const searched = Math.max(await countMarketLists(ctx.sql, lists), found.total)
  if (searched === 0) return nothing(new Fault("not_measured", { detail: NO_LISTS }))
  const keywords = found.keywords.slice(0, MAX_KEYWORDS)
  const last = keywords.at(-1)
  const hasMore = found.keywords.length > keywords.length
  const answer = {
    ...(await readAppNamed(ctx, app, { id, storefront })),
    country: storefront,
    platform,
    since: lists.since,
    searched,
    total: found.total,
    keywords: keywords.map((keyword) => ({ term: keyword.term, rank: keyword.rank, ...keywordAnswer(keyword) })),
    nextCursor: last && hasMore ? cursorOf(called, [last.rank, last.term]) : null,
  }
  return last ? answer : nothing(answer)
})

const NO_LISTS = "No keyword of this storefront was read in the last 30 days, so its ranks are unknown."

/** Returns the app with its name in the storefront, or its id if it was never seen. */
async function readAppNamed(
  { sql }: Context,
  app: number | null,
  { id, storefront }: { id: string; storefront: string },
) {
  const marketApp = app === null ? undefined : (await readMarketApps(sql, [app], storefront)).get(app)
  return marketApp ?? { id, name: id, publisher: null, publisherId: null }
}
