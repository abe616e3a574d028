import type { RankedApp } from "../../core/ranked-app.ts"
import type { Sql } from "../../database/types.ts"
import { readWrittenReviews } from "../../keywords/read/day-facts.ts"
import type { SourceName } from "../../lib/upstreams.ts"
import { readStorefrontFeeds } from "./feeds.ts"

export interface AppReviews {
  /** Null if no list of reviews was read since the beginning of the span, so that the number is unknown. */
  newReviews: number | null
  /** Mean stars of these reviews. Null if there are none. */
  averageStars: number | null
  reviewSources: SourceName[]
  /** The earliest of the lists' reading times. */
  reviewsReadAt: string | null
}

/**
 * Returns the reviews of each app within a span, in the order of `apps`. On Google Play, storefronts with the same
 * language share their reviews, so each language's list counts once.
 */
export async function readAppReviews(
  sql: Sql,
  apps: readonly RankedApp[],
  span: { from: Date; to: Date; now: Date },
): Promise<AppReviews[]> {
  const places = apps.flatMap((app, place) => storefrontsOf(app).map((storefront) => ({ ...storefront, place })))
  const names = await readStorefrontFeeds(sql, places)
  const named = places.flatMap(({ app, place }, at) => names[at]!.map((feed) => ({ app, place, feed })))
  const feeds = [...new Map(named.map((feed) => [`${feed.place} ${feed.app} ${feed.feed}`, feed])).values()]
  const written = await readWrittenReviews(sql, feeds, span)
  const counts = feeds.map(({ place }, at) => ({ place, ...(written[at] as (typeof written)[number]) }))
  const byPlace = Map.groupBy(counts, ({ place }) => place)
  return apps.map((_, place) => {
    const read = (byPlace.get(place) ?? []).filter(({ measured }) => measured)
    const times = read.flatMap(({ readAt }) => readAt?.toISOString() ?? []).sort()
    const count = read.reduce((sum, feed) => sum + feed.count, 0)
    const stars = read.reduce((sum, feed) => sum + feed.count * (feed.average ?? 0), 0)
    return {
      averageStars: count > 0 ? stars / count : null,
      newReviews: read.length > 0 ? count : null,
      reviewSources: [...new Set(read.flatMap(({ source }) => source ?? []))].sort(),
      reviewsReadAt: times[0] ?? null,
    }
  })
}

function storefrontsOf({ iosApp, androidApp, countries }: RankedApp) {
  const stores = [
    { platform: "ios", app: iosApp },
    { platform: "android", app: androidApp },
  ] as const
  return stores.flatMap(({ platform, app }) =>
    app === null ? [] : countries.map((storefront) => ({ platform, app, storefront })),
  )
}
