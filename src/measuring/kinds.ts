import type { Platform } from "../observations/types.ts"
import { appleAppPage } from "../sources/apple/app-page.ts"
import { appleCharts } from "../sources/apple/charts.ts"
import { appleGenres } from "../sources/apple/genres.ts"
import { appleHints } from "../sources/apple/hints.ts"
import { itunesDeveloper } from "../sources/apple/itunes-developer.ts"
import { itunesLookup } from "../sources/apple/itunes-lookup.ts"
import { itunesSearch } from "../sources/apple/itunes-search.ts"
import { appleReviews } from "../sources/apple/reviews.ts"
import { appleStoreSearch } from "../sources/apple/store-search.ts"
import { appleWebSearch } from "../sources/apple/web-search.ts"
import { playDetails } from "../sources/play/details.ts"
import { playReviews } from "../sources/play/reviews.ts"
import { playSearch } from "../sources/play/search.ts"
import { playSuggest } from "../sources/play/suggest.ts"
import type { SourceName } from "../vocabulary/upstreams.ts"
import type { Kind } from "./kind.ts"
import { appAdsKind } from "./kinds/app-ads.ts"
import { appNamesOnAppStore } from "./kinds/app-names.ts"
import { appsOnAppStore, appsOnPlay } from "./kinds/apps.ts"
import { canaryKinds } from "./kinds/canary.ts"
import { chartAppsOnAppStore } from "./kinds/chart-apps.ts"
import { chartOnAppStore, developerOnAppStore, genresOnAppStore } from "./kinds/charts.ts"
import { difficultyOnAppStore } from "./kinds/difficulty.ts"
import { hintsOnAppStore, hintsOnPlay } from "./kinds/hints.ts"
import { listingOnAppStore } from "./kinds/listing.ts"
import { reviewsOnAppStore, reviewsOnPlay } from "./kinds/reviews.ts"
import { type SearchSource, searchKind } from "./kinds/search.ts"

export interface SourceChoice {
  /** Of the address that reads; undefined where it is not known. */
  egressCountry: string | undefined
  sourcesOff?: readonly string[]
}

/**
 * Google Play may answer for the country of the address that asks: its kinds are read for EGRESS_COUNTRY alone, but for
 * reviews, which it shows by language.
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
    // which Google Play shows alike wherever it is asked from
    ...(isOn(playReviews) ? [reviewsOnPlay] : []),
    ...(isOn({ name: APP_ADS }) ? [appAdsKind("ios"), appAdsKind("android")] : []),
  ]
}

const APP_ADS = "app-ads-txt" satisfies SourceName

function searchKinds(platform: Platform, [preferred, ...others]: SearchSource[]): Kind[] {
  return preferred ? [searchKind(platform, [preferred, ...others])] : []
}
