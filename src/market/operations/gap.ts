import * as v from "valibot"
import { nothing, operation } from "../../core/operation.ts"
import { findGap, type GapKeyword } from "../../keywords/read/keywords-of-apps.ts"
import { countMarketLists } from "../../keywords/read/market-lists.ts"
import { cursorOf } from "../../lib/cursor.ts"
import { Platform } from "../../lib/fields.ts"
import { bounded, coded, described, named } from "../../lib/schema.ts"
import { STORE_ID_PATTERNS } from "../../lib/store-ids.ts"
import { isStorable } from "../../lib/text.ts"
import { Count, Rank, Store, Storefront } from "../../tracking/shapes.ts"
import { MarketCountry, platformOf } from "./inputs.ts"
import { findMarketApps, marketAppFields } from "./market-apps.ts"
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

const MIN_APPS = 2
const MAX_APPS = 5
/** Price per app that ranks for any keyword. */
const CREDITS = 200

const AppIds = coded(
  v.pipe(
    v.array(
      v.pipe(
        bounded(v.string(), { pattern: STORE_ID_PATTERNS.any }),
        v.maxLength(255),
        v.check((id) => platformOf(id) !== null),
      ),
    ),
    v.minLength(MIN_APPS),
    v.maxLength(MAX_APPS),
    v.check((ids) => new Set(ids).size === ids.length),
    v.metadata({ uniqueItems: true }),
    v.description(`${MIN_APPS} to ${MAX_APPS} App Store ids or package names.`),
  ),
  "bad_ids",
)

const App = named(
  "GapApp",
  v.strictObject({
    ...marketAppFields,
    inside: described(
      v.boolean(),
      "True if it ranks for a searched keyword. False: outside the index, not charged, and not in the rows.",
    ),
    keywords: described(Count, "Number of keywords it ranks for."),
  }),
)

const Keyword = named(
  "GapKeyword",
  v.strictObject({
    term: described(v.string(), "The keyword."),
    held: described(Rank, "Number of the apps that rank for it."),
    missing: described(v.array(v.string()), "Ids of the other apps inside the index."),
    ranks: described(
      v.record(v.string(), v.nullable(Rank)),
      "Rank by id, for the apps inside the index. Null if absent from the results read.",
    ),
    ...answerFields,
  }),
)

const GapPlace = v.strictTuple([
  v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(MAX_APPS)),
  v.nullable(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(100))),
  v.pipe(v.string(), v.check(isStorable)),
])

export const hiveGetKeywordGap = operation({
  id: "hive_get_keyword_gap",
  method: "GET",
  path: "/hive/gap",
  group: "Hive",
  toolset: "hive",
  summary: "Compares several apps and lists keywords that only some of them rank for.",
  description: "Searches all keywords that this instance read or imported for any workspace (see searched).",
  effect: "reads",
  scope: "hive:spy",
  hive: "explorer",
  price: {
    min: CREDITS,
    atMost: CREDITS * MAX_APPS,
    of: (_, { apps }) => CREDITS * apps.filter(({ inside }) => inside).length,
    note: `${CREDITS} an app inside the index`,
  },
  faults: [],
  input: v.strictObject({ ids: AppIds, country: MarketCountry, platform: Platform, cursor: KeywordsCursor }),
  narrow: { rows: ["keywords"] },
  table: "keywords",
  output: v.strictObject({
    country: Storefront,
    platform: Store,
    ...searchedFields,
    apps: described(v.array(App), "In the requested order."),
    total: described(Count, "Number of keywords that any of them ranks for."),
    keywords: described(
      v.array(Keyword),
      `Keywords with the most apps first, then most popular first, then by term; at most ${MAX_KEYWORDS}.`,
    ),
    nextCursor: NextCursor,
  }),
}).run(async ({ ids, country: storefront, platform, cursor }, ctx) => {
  refuseOtherStore(ids, platform, { code: "bad_ids", field: "ids" })
  const called = ["gap", ids, storefront, platform]
  const place = placeAfter(called, cursor, GapPlace)
  const lists = marketLists({ platform, storefront }, ctx.now())
  const appsById = await findMarketApps(ctx.sql, { platform, storefront }, ids)
  // an app that was never seen has no rank
  const apps = ids.map((id) => appsById.get(id)?.app ?? 0)
  const after = place && { appCount: place[0], popularityOrder: place[1], term: place[2] }
  // one row more than a page shows whether there is a next page
  const found = await findGap(ctx.sql, lists, apps, { after, limit: MAX_KEYWORDS + 1 })
  const page = found.keywords.slice(0, MAX_KEYWORDS)
  const last = page.at(-1)
  const hasMore = found.keywords.length > page.length
  const counted = ids.map((id, i) => {
    const { name, publisher, publisherId } = appsById.get(id) ?? { name: id, publisher: null, publisherId: null }
    const keywords = found.totals[i] ?? 0
    return { id, name, publisher, publisherId, inside: keywords > 0, keywords }
  })
  const answer = {
    country: storefront,
    platform,
    since: lists.since,
    searched: Math.max(await countMarketLists(ctx.sql, lists), found.total),
    apps: counted,
    total: found.total,
    keywords: page.map((keyword) => ({
      term: keyword.term,
      held: keyword.appCount,
      ...ranksOf(keyword, counted),
      ...keywordAnswer(keyword),
    })),
    nextCursor: last && hasMore ? cursorOf(called, [last.appCount, last.popularityOrder, last.term]) : null,
  }
  return found.total > 0 ? answer : nothing(answer)
})

function ranksOf({ ranks }: GapKeyword, apps: readonly { id: string; inside: boolean }[]) {
  const inside = apps.flatMap(({ id, inside }, at) => (inside ? [{ id, rank: ranks[at]! }] : []))
  return {
    missing: inside.flatMap(({ id, rank }) => (rank === null ? [id] : [])),
    ranks: Object.fromEntries(inside.map(({ id, rank }) => [id, rank])),
  }
}
