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
  genre: described(v.string(), "In Apple Ads' words; of several the one where it ranks best."),
  rankInGenre: Rank,
  inGenre: described(Scale, "1 to 100, within the genre."),
  overall100: described(Scale, "1 to 100, over all genres, as Apple Ads says it."),
  overall5: described(Scale, "1 to 5, as Apple Ads shows it."),
}

const Listed = named("SearchPopularity", v.strictObject({ term: v.string(), ...figures }))

const Wanted = named(
  "WantedPopularity",
  v.strictObject({
    term: v.string(),
    tracked: described(v.boolean(), "Tracked for the app in that storefront."),
    listed: described(v.boolean(), "False = below the list, which is not zero: see below."),
    below: described(v.nullable(Scale), "Of what is not listed: its overall100 is at most this. Null where listed."),
    popularity: described(v.nullable(Listed), "Null where not listed."),
  }),
)

export const getSearchPopularity = operation({
  id: "get_search_popularity",
  method: "GET",
  path: "/apps/:appId/search-popularity",
  group: "Revenue and ads",
  toolset: "ads",
  summary: "Apple's own search popularity of a week, from the connected ads account.",
  description:
    "The most searched for in a storefront, and how the app's tracked keywords and any terms asked for stand. Apple lists the first 500 of each genre; what is not listed is below the list.",
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
        v.description("A genre of the answer's list: ranks within it; over all genres when left out."),
      ),
    ),
    limit: v.optional(wholeNumber(1, 200, "The most searched for, so many."), 50),
    terms: described(
      v.optional(v.pipe(v.array(Term), v.minLength(1), v.maxLength(MAX_TERMS))),
      `Terms to look up besides, at most ${MAX_TERMS}.`,
    ),
  }),
  narrow: { rows: ["top", "wanted"] },
  output: v.strictObject({
    country: Storefront,
    from: described(Day, "The Sunday that the week begins on, UTC."),
    to: described(Day, "The Saturday that it ends with."),
    genre: described(v.nullable(v.string()), "As asked; null = over all."),
    genres: described(v.array(v.string()), "Those that Apple Ads lists."),
    sources: v.array(AdsSource),
    top: described(v.array(Listed), "In a genre by its ranks, else by overall100."),
    wanted: described(v.array(Wanted), "Terms asked for, then the app's tracked keywords."),
  }),
}).run(async ({ app, storefront, genre, limit, terms = [] }, ctx) => {
  const { sql, caller } = ctx
  if (app.iosId === null)
    throw new Fault("unsupported_platform", { detail: "Apple Ads knows searches of the App Store alone." })
  const account = await findKindAccount(sql, caller.workspaceId, "apple-ads")
  if (!account)
    throw new Fault("not_connected", { detail: "Connect the ad account with: appmeter account add apple-ads." })
  const task = await readTask(sql, account.id, "popularity", storefront)
  const troubled = { ...account, troubles: adsTroublesOf("popularity", storefront, task) }
  const week = await readWeek(sql, account.id, storefront)
  if (!week)
    throw unread(troubled, ["popularity"], `the searches of ${storefront}, a storefront that the app is tracked in,`)
  const place = { account: account.id, country: storefront }
  const tracked = await readTrackedTerms(sql, app.id, storefront)
  const wanted = [...new Set([...terms, ...tracked])]
  const popularities = await readTermPopularity(sql, place, wanted)
  return {
    ...{ country: storefront, from: week.from, to: addDays(week.from, 6), genre: genre ?? null, genres: week.genres },
    sources: [adsSource(troubled, ["popularity"], task?.readAt ?? null)],
    top: await readMostSearched(sql, { ...place, genre: genre?.toUpperCase() ?? null }, limit),
    wanted: wanted.map((term) => wantedOf(term, { known: popularities, week, isTracked: tracked.includes(term) })),
  }
})

function wantedOf(
  term: string,
  { known, week, isTracked }: { known: ReadonlyMap<string, TermPopularity>; week: PopularityWeek; isTracked: boolean },
): v.InferOutput<typeof Wanted> {
  const popularity = known.get(term) ?? null
  const below = popularity ? null : week.lowest
  return { term, tracked: isTracked, listed: popularity !== null, below, popularity }
}
