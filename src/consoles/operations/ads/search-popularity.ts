import * as v from "valibot"
import { ofApp, operation } from "../../../core/operation.ts"
import {
  type PopularityWeek,
  readMostSearched,
  readTermPopularity,
  readWeek,
  type TermPopularity,
} from "../../../keywords/read/ads-popularity.ts"
import { readTrackedTerms } from "../../../keywords/read/organic.ts"
import { addDays } from "../../../lib/days.ts"
import { Fault } from "../../../lib/faults.ts"
import { AppCountry, Term, wholeNumber } from "../../../lib/fields.ts"
import { described, named } from "../../../lib/schema.ts"
import { Day, Rank, Storefront } from "../../../tracking/shapes.ts"
import { findKindAccount } from "../../read/app-accounts.ts"
import { readTask } from "../../tasks.ts"
import { adsTroublesOf } from "../../troubles.ts"
import { AdsSource, adsSource, unread } from "./ads-shapes.ts"

const MAX_TERMS = 50

const Scale = v.pipe(v.number(), v.integer())

const figures = {
  genre: described(v.string(), "Genre as Apple Ads names it. If the term is in several, the one with its best rank."),
  rankInGenre: Rank,
  inGenre: described(Scale, "1 to 100, within the genre."),
  overall100: described(Scale, "1 to 100 over all genres, as shown by Apple Ads."),
  overall5: described(Scale, "1 to 5, as shown by Apple Ads."),
}

const Listed = named("SearchPopularity", v.strictObject({ term: v.string(), ...figures }))

const Wanted = named(
  "WantedPopularity",
  v.strictObject({
    term: v.string(),
    tracked: described(v.boolean(), "True if the term is tracked for the app in that storefront."),
    listed: described(v.boolean(), "False if Apple does not list the term, which does not mean zero; see `below`."),
    below: described(v.nullable(Scale), "Upper bound of overall100 for an unlisted term. Null if listed."),
    popularity: described(v.nullable(Listed), "Null if unlisted."),
  }),
)

export const getSearchPopularity = operation({
  id: "get_search_popularity",
  method: "GET",
  path: "/apps/:appId/search-popularity",
  group: "Revenue and ads",
  toolset: "ads",
  summary: "Returns Apple's weekly search popularity from the connected ads account.",
  description:
    "Returns the most popular search terms of a storefront, and the popularity of the app's tracked keywords and " +
    "of the requested terms. Apple lists the first 500 terms of each genre; unlisted terms are less popular.",
  effect: "reads",
  scope: "ads:read",
  price: 1,
  faults: ["not_connected", "not_measured", "unsupported_platform"],
  input: ofApp({
    country: AppCountry,
    genre: v.optional(
      v.pipe(
        v.string(),
        v.maxLength(60),
        v.regex(/^[A-Za-z_]{2,60}$/),
        v.description("A genre from `genres`, to rank within it. Default: all genres."),
      ),
    ),
    limit: v.optional(wholeNumber(1, 200, "Maximum number of most popular terms."), 50),
    terms: described(
      v.optional(v.pipe(v.array(Term), v.minLength(1), v.maxLength(MAX_TERMS))),
      `Further terms to look up, at most ${MAX_TERMS}.`,
    ),
  }),
  narrow: { rows: ["top", "wanted"] },
  output: v.strictObject({
    country: Storefront,
    from: described(Day, "First day of the week, a Sunday (UTC)."),
    to: described(Day, "Last day of the week, a Saturday (UTC)."),
    genre: described(v.nullable(v.string()), "The requested genre. Null for all."),
    genres: described(v.array(v.string()), "Genres that Apple Ads lists."),
    sources: v.array(AdsSource),
    top: described(v.array(Listed), "Ordered by rank within a genre, otherwise by overall100."),
    wanted: described(v.array(Wanted), "The requested terms, followed by the app's tracked keywords."),
  }),
}).run(async ({ app, storefront, genre, limit, terms = [] }, ctx) => {
  const { sql, caller } = ctx
  if (app.iosId === null)
    throw new Fault("unsupported_platform", { detail: "Apple Ads covers only searches in the App Store." })
  const account = await findKindAccount(sql, caller.workspaceId, "apple-ads")
  if (!account)
    throw new Fault("not_connected", { detail: "Connect the ads account with: appmeter account add apple-ads." })
  const task = await readTask(sql, account.id, "popularity", storefront)
  const troubled = { ...account, troubles: adsTroublesOf("popularity", storefront, task) }
  const week = await readWeek(sql, account.id, storefront)
  if (!week)
    throw unread(
      troubled,
      ["popularity"],
      `the search popularity of ${storefront}, a storefront in which the app is tracked,`,
    )
  const place = { account: account.id, country: storefront }
  const tracked = await readTrackedTerms(sql, app.id, storefront)
  const wanted = [...new Set([...terms, ...tracked])]
  const popularities = await readTermPopularity(sql, place, wanted)
  return {
    country: storefront,
    from: week.from,
    to: addDays(week.from, 6),
    genre: genre ?? null,
    genres: week.genres,
    sources: [adsSource(troubled, ["popularity"], task?.readAt ?? null)],
    top: await readMostSearched(sql, { ...place, genre: genre?.toUpperCase() ?? null }, limit),
    wanted: wanted.map((term) => wantedOf(term, { popularities, week, isTracked: tracked.includes(term) })),
  }
})

function wantedOf(
  term: string,
  {
    popularities,
    week,
    isTracked,
  }: { popularities: ReadonlyMap<string, TermPopularity>; week: PopularityWeek; isTracked: boolean },
): v.InferOutput<typeof Wanted> {
  const popularity = popularities.get(term) ?? null
  const below = popularity ? null : week.lowest
  return { term, tracked: isTracked, listed: popularity !== null, below, popularity }
}
