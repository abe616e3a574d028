import type { Sql } from "../../database/types.ts"
import type { RankedApp } from "../../observations/types.ts"
import { reviewLanguage } from "../../vocabulary/review-language.ts"
import type { SourceName } from "../../vocabulary/upstreams.ts"
import { type AppFeed, readWrittenReviews } from "../day-facts.ts"

export interface AppReviews {
  /** Null = no list of reviews was read since the span. */
  newReviews: number | null
  reviewSources: SourceName[]
  /** When the list that was read longest ago was read. */
  reviewsReadAt: string | null
}

/**
 * Reviews of each app within a span, in the order given. Storefronts that share a language share its reviews on Google Play:
 * each list counts once.
 */
export async function readAppReviews(
  sql: Sql,
  apps: readonly RankedApp[],
  span: { from: Date; to: Date; now: Date },
): Promise<AppReviews[]> {
  const feeds = apps.flatMap((app, place) => feedsOf(app).map((feed) => ({ ...feed, place })))
  const written = await readWrittenReviews(sql, feeds, span)
  const counts = feeds.map(({ place }, at) => ({ place, ...(written[at] as (typeof written)[number]) }))
  const byPlace = Map.groupBy(counts, ({ place }) => place)
  return apps.map((_, place) => {
    const read = (byPlace.get(place) ?? []).filter(({ measured }) => measured)
    const times = read.flatMap(({ readAt }) => readAt?.toISOString() ?? []).sort()
    return {
      newReviews: read.length > 0 ? read.reduce((sum, { count }) => sum + count, 0) : null,
      reviewSources: [...new Set(read.flatMap(({ source }) => source ?? []))].sort(),
      reviewsReadAt: times[0] ?? null,
    }
  })
}

function feedsOf({ iosApp, androidApp, countries }: RankedApp): AppFeed[] {
  const languages = [...new Set(countries.map(reviewLanguage))]
  return [
    ...(iosApp === null ? [] : countries.map((feed) => ({ app: iosApp, feed }))),
    ...(androidApp === null ? [] : languages.map((feed) => ({ app: androidApp, feed }))),
  ]
}
