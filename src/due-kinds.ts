import { chartAppsOnAppStore } from "./charts/due/chart-apps.ts"
import { chartOnAppStore, developerOnAppStore, genresOnAppStore } from "./charts/due/charts.ts"
import { appleCharts } from "./charts/sources/apple-charts.ts"
import type { Platform } from "./core/observation/provenance.ts"
import { canaryKinds } from "./keywords/due/canary.ts"
import { difficultyOnAppStore } from "./keywords/due/difficulty.ts"
import { hintsOnAppStore, hintsOnPlay } from "./keywords/due/hints.ts"
import { type SearchSource, searchKind } from "./keywords/due/search.ts"
import { appleHints } from "./keywords/sources/apple-hints.ts"
import { appleStoreSearch } from "./keywords/sources/apple-store-search.ts"
import { appleWebSearch } from "./keywords/sources/apple-web-search.ts"
import { playSearch } from "./keywords/sources/play-search.ts"
import { playSuggest } from "./keywords/sources/play-suggest.ts"
import type { SourceName } from "./lib/upstreams.ts"
import { appAdsKind } from "./listings/due/app-ads.ts"
import { listingOnAppStore } from "./listings/due/listing.ts"
import { appleAppPage } from "./listings/sources/apple-app-page.ts"
import type { Kind } from "./measuring/due-kind.ts"
import { reviewsOnAppStore, reviewsOnPlay } from "./reviews/due/reviews.ts"
import { appleReviews } from "./reviews/sources/apple-reviews.ts"
import { playReviews } from "./reviews/sources/play-reviews.ts"
import { appleGenres } from "./stores/apple/genres.ts"
import { itunesDeveloper } from "./stores/apple/itunes-developer.ts"
import { itunesLookup } from "./stores/apple/itunes-lookup.ts"
import { itunesSearch } from "./stores/apple/itunes-search.ts"
import { appNamesOnAppStore } from "./stores/due/app-names.ts"
import { appsOnAppStore, appsOnPlay } from "./stores/due/apps.ts"
import { playDetails } from "./stores/play/details.ts"

export interface SourceChoice {
  /** Country of the egress address. Undefined if unknown. */
  egressCountry: string | undefined
  sourcesOff?: readonly string[]
}

/**
 * Google Play may answer for the country of the requesting address. Its kinds are therefore read only for
 * EGRESS_COUNTRY, except reviews, which depend on the language.
 */
export function kindsOf({ egressCountry, sourcesOff = [] }: SourceChoice): Kind[] {
  const isOn = ({ name }: { name: string }) => !sourcesOff.includes(name)
  const [onAppStore, onPlay] = [[appleWebSearch, appleStoreSearch].filter(isOn), [playSearch].filter(isOn)]
  const storefronts = egressCountry === undefined ? [] : [egressCountry]
  const play: Kind[] = [
    ...searchKinds("android", onPlay),
    ...canaryKinds("android", onPlay, [playSuggest].filter(isOn)),
    ...(isOn(playDetails) ? [appsOnPlay] : []),
    ...(isOn(playSuggest) ? [hintsOnPlay] : []),
  ]
  return [
    ...searchKinds("ios", onAppStore),
    ...canaryKinds("ios", onAppStore, [appleHints].filter(isOn)),
    ...(isOn(itunesLookup) ? [appsOnAppStore, difficultyOnAppStore, chartAppsOnAppStore] : []),
    ...(isOn(itunesSearch) ? [appNamesOnAppStore] : []),
    ...(isOn(appleHints) ? [hintsOnAppStore] : []),
    ...(isOn(appleAppPage) ? [listingOnAppStore] : []),
    ...(isOn(appleReviews) ? [reviewsOnAppStore] : []),
    ...(isOn(appleCharts) ? [chartOnAppStore] : []),
    ...(isOn(appleGenres) ? [genresOnAppStore] : []),
    ...(isOn(itunesDeveloper) ? [developerOnAppStore] : []),
    ...play.map((kind) => ({ ...kind, storefronts })),
    // Google Play shows the same reviews to every address
    ...(isOn(playReviews) ? [reviewsOnPlay] : []),
    ...(isOn({ name: APP_ADS }) ? [appAdsKind("ios"), appAdsKind("android")] : []),
  ]
}

const APP_ADS = "app-ads-txt" satisfies SourceName

function searchKinds(platform: Platform, [preferred, ...others]: SearchSource[]): Kind[] {
  return preferred ? [searchKind(platform, [preferred, ...others])] : []
}
