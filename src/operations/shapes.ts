import * as v from "valibot"
import type { Sql } from "../database/types.ts"
import { uncut } from "../database/uncut.ts"
import { NOT_MEASURING, type NotMeasuring } from "../history/readers.ts"
import { RANK_SOURCES } from "../observations/types.ts"
import type { TrackedApp } from "../tracking/tracked-app.ts"
import { described } from "../vocabulary/schema.ts"
import { Count, Day, Storefront } from "../vocabulary/shapes.ts"

export { Count, Day, Rank, Store, Storefront, Time } from "../vocabulary/shapes.ts"

/** Why something is not being measured; null = it is. */
export const WhyNotMeasuring = v.nullable(v.picklist(Object.keys(NOT_MEASURING) as NotMeasuring[]))

/** Whose point is whose, in a series of ranks. */
export const RankRuns = described(
  v.array(
    v.strictObject({
      source: described(v.picklist(RANK_SOURCES), "Who read the points."),
      from: described(Day, "The day of the first of them."),
      to: described(Day, "The day of the last."),
    }),
  ),
  "Points next to each other that one source gave, oldest first: compare ranks within one of these only. Empty where there are no points.",
)

/** What is known of an app's ratings in a storefront. */
export const latestRatingsFields = {
  ratings: described(v.nullable(Count), "The latest rating count known of that storefront; null = none yet."),
  ratingsDay: described(v.nullable(Day), "The UTC day they were read; null where ratings is."),
  ratingsSource: described(v.nullable(v.string()), "Who read them; null where ratings is."),
}

const Terms = v.array(v.string())

/** A workspace's app as every answer shows it. */
export const trackedAppFields = {
  id: described(v.string(), "The appId used in paths."),
  name: described(v.string(), "Its own name, or what the store calls it; its store id until one was seen."),
  icon: described(v.nullable(v.string()), "Address of the store icon; null where none was seen yet."),
  iosId: described(v.nullable(v.string()), "App Store id."),
  androidPkg: described(v.nullable(v.string()), "Google Play package name."),
  bundleId: described(v.nullable(v.string()), "iOS bundle id; null where none was seen yet."),
  countries: described(v.array(Storefront), "Tracked storefronts; the first is the default of calls about the app."),
  keywords: described(
    Terms,
    "Tracked keywords over all storefronts, each once: storefront by storefront, in their order.",
  ),
  keywordsByCountry: described(v.record(Storefront, Terms), "Tracked keywords of each storefront, in order."),
  manualRivals: described(
    v.nullable(v.array(v.string())),
    "Rivals named by hand: ios:<store id> or android:<package>.",
  ),
  keywordTags: described(v.nullable(v.record(v.string(), v.array(v.string()))), "Tags of tracked keywords."),
  buriedKeywords: described(v.nullable(Terms), "Keywords that are not suggested again."),
  goal: described(v.nullable(v.picklist(["downloads", "rank", "revenue"])), "What the app is optimised for."),
  tasksDone: described(v.nullable(v.array(v.string())), "Tasks of the weekly plan that were ticked off."),
}

const AppShape = v.strictObject(trackedAppFields)
export type AppShape = v.InferOutput<typeof AppShape>

/** Apps with their tracked keywords, in the order given. */
export async function shapeApps(sql: Sql, apps: readonly TrackedApp[]): Promise<AppShape[]> {
  const rows = await sql<{ appId: string; country: string; term: string }[]>`
    select app_id as "appId", country, term
    from tracked_term
    where app_id = any(${apps.map(({ id }) => id)}::text[])
    order by app_id, country, position, term
    limit 1000000`.then(uncut(1_000_000))
  const byApp = Map.groupBy(rows, ({ appId }) => appId)
  return apps.map((app) => {
    const { iosApp: _, androidApp: __, hiddenRivals: ___, ...shown } = app
    const byCountry = Map.groupBy(byApp.get(app.id) ?? [], ({ country }) => country)
    const lists = app.countries.map((country) => (byCountry.get(country) ?? []).map(({ term }) => term))
    return {
      ...shown,
      keywords: [...new Set(lists.flat())],
      keywordsByCountry: Object.fromEntries(app.countries.map((country, at) => [country, lists[at] as string[]])),
    }
  })
}
