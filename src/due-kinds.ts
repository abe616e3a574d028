import { chartAppsOnAppStore, chartOnAppStore, developerOnAppStore, genresOnAppStore } from "./charts/due/charts.ts"
import { appleCharts } from "./charts/sources/apple-charts.ts"
import { canaryKind } from "./keywords/due/canary.ts"
import { difficultyOnAppStore } from "./keywords/due/difficulty.ts"
import { hintsOnAppStore, hintsOnPlay } from "./keywords/due/hints.ts"
import { searchKind } from "./keywords/due/search.ts"
import { appleHints } from "./keywords/sources/apple-hints.ts"
import { appleStoreSearch } from "./keywords/sources/apple-store-search.ts"
import { appleWebSearch } from "./keywords/sources/apple-web-search.ts"
import { playSearch } from "./keywords/sources/play-search.ts"
import { playSuggest } from "./keywords/sources/play-suggest.ts"
import type { SourceName } from "./lib/upstreams.ts"
import { appAdsKind } from "./listings/due/app-ads.ts"
import { listingOnAppStore } from "./listings/due/listing.ts"
import { appleAppPage } from "./listings/sources/apple-app-page.ts"
import { type DueEntry, dueEntry, type Kind } from "./measuring/due-kind.ts"
import { reviewsOnAppStore, reviewsOnPlay } from "./reviews/due/reviews.ts"
import { appleReviews } from "./reviews/sources/apple-reviews.ts"
import { playReviews } from "./reviews/sources/play-reviews.ts"
import { appleGenres } from "./stores/apple/genres.ts"
import { itunesDeveloper } from "./stores/apple/itunes-developer.ts"
import { itunesLookup } from "./stores/apple/itunes-lookup.ts"
import { itunesSearch } from "./stores/apple/itunes-search.ts"
import { appNamesOnAppStore, appsOnAppStore, appsOnPlay } from "./stores/due/apps.ts"
import { playDetails } from "./stores/play/details.ts"

/** Developers' websites. They are requested without a source of their own. */
const SITES = { name: "app-ads-txt" } as const satisfies { name: SourceName }

/**
 * Everything that is read on schedule: name, store, days between two readings, where it is read, sources (one must be
 * on) and declaration. The compiler checks each line.
 */
const DUE: readonly DueEntry[] = [
  dueEntry("search", "ios", 1, "anywhere", [appleWebSearch, appleStoreSearch], (on) => searchKind("ios", on)),
  dueEntry("canary", "ios", 1, "anywhere", [appleWebSearch, appleStoreSearch, appleHints], (on) =>
    canaryKind("ios", on),
  ),
  dueEntry("app", "ios", 1, "anywhere", [itunesLookup], appsOnAppStore),
  dueEntry("difficulty", "ios", 7, "anywhere", [itunesLookup], difficultyOnAppStore),
  dueEntry("chart_apps", "ios", 7, "anywhere", [itunesLookup], chartAppsOnAppStore),
  dueEntry("app_names", "ios", 7, "anywhere", [itunesSearch], appNamesOnAppStore),
  dueEntry("hints", "ios", 7, "anywhere", [appleHints], hintsOnAppStore),
  dueEntry("listing", "ios", 1, "anywhere", [appleAppPage], listingOnAppStore),
  dueEntry("reviews", "ios", 1, "anywhere", [appleReviews], reviewsOnAppStore),
  dueEntry("chart", "ios", 1, "anywhere", [appleCharts], chartOnAppStore),
  dueEntry("genres", "ios", 30, "anywhere", [appleGenres], genresOnAppStore),
  dueEntry("developer", "ios", 7, "anywhere", [itunesDeveloper], developerOnAppStore),
  dueEntry("search", "android", 1, "egress", [playSearch], (on) => searchKind("android", on)),
  dueEntry("canary", "android", 1, "egress", [playSearch, playSuggest], (on) => canaryKind("android", on)),
  dueEntry("app", "android", 1, "egress", [playDetails], appsOnPlay),
  dueEntry("hints", "android", 7, "egress", [playSuggest], hintsOnPlay),
  // Google Play shows the same reviews to every address
  dueEntry("reviews", "android", 1, "anywhere", [playReviews], reviewsOnPlay),
  dueEntry("app_ads", "ios", 14, "anywhere", [SITES], appAdsKind("ios")),
  dueEntry("app_ads", "android", 14, "anywhere", [SITES], appAdsKind("android")),
]

export interface SourceChoice {
  /** Country of the egress address. Undefined if unknown. */
  egressCountry: string | undefined
  sourcesOff?: readonly string[]
}

/** Returns the kinds whose sources are on. Those of "egress" are read for EGRESS_COUNTRY only. */
export function kindsOf({ egressCountry, sourcesOff = [] }: SourceChoice): Kind[] {
  const isOn = ({ name }: { name: string }) => !sourcesOff.includes(name)
  const storefronts = egressCountry === undefined ? [] : [egressCountry]
  return DUE.flatMap(({ where, kindOf }) => {
    const kind = kindOf(isOn)
    if (!kind) return []
    return where === "egress" ? [{ ...kind, storefronts }] : [kind]
  })
}
