import type { Observation } from "../../kinds.ts"
import { dueKind, type ReadPort } from "../../measuring/due-kind.ts"
import { putForwardLookUp } from "../../measuring/put-forward.ts"
import { ReadFailure } from "../../measuring/source.ts"
import { itunesLookup } from "../apple/itunes-lookup.ts"
import { itunesSearch } from "../apple/itunes-search.ts"
import { apps, latestNameSearch } from "../kinds/apps.ts"
import { playDetails } from "../play/details.ts"

export const appsOnAppStore = dueKind({
  name: "app",
  observes: apps,
  platform: "ios",
  upstream: itunesLookup.upstream,
  together: 50,
  requests: 1,
  everyDays: 1,
  async read(subjects, port) {
    return [
      await port.ask(itunesLookup, {
        storefront: subjects[0].storefront,
        ids: subjects.map(({ subject }) => subject),
      }),
    ]
  },
  putsForward: putForwardLookUp,
})

export const appsOnPlay = dueKind({
  name: "app",
  observes: apps,
  platform: "android",
  upstream: playDetails.upstream,
  together: 1,
  requests: 1,
  everyDays: 1,
  async read([subject], port) {
    const { storefront, subject: id } = subject
    return [await detailsOf(id, storefront, port)]
  },
  putsForward: putForwardLookUp,
})

/**
 * Reads one app. A missing page means that the app is not sold there, but only if the latest page read from Google Play
 * named the requested country.
 */
async function detailsOf(id: string, storefront: string, port: ReadPort): Promise<Observation> {
  try {
    return await port.ask(playDetails, { storefront, ids: [id] })
  } catch (error) {
    if (!(error instanceof ReadFailure && error.outcome === "not_found" && error.body)) throw error
    const named = await port.readNamedCountry(playDetails.upstream, storefront)
    if (named !== storefront) throw missingSomewhere(named, error)
    const { seenAt, sha256 } = error.body
    const { parser } = playDetails
    return {
      kind: "apps",
      source: "play-details",
      platform: "android",
      storefront,
      asked: [id],
      apps: [],
      seenAt,
      sha256,
      parser,
      origin: "own",
    }
  }
}

function missingSomewhere(country: string | null, cause: ReadFailure): ReadFailure {
  if (country === null) return new ReadFailure("failed", "not found, but no page has yet named its country", { cause })
  return new ReadFailure("mismatched", `not found, but pages name ${country.toUpperCase()}`, { country, cause })
}

/**
 * Searches a store's catalogue for a name. Due only on request, because nobody tracks names. Its order is never a rank.
 */
export const appNamesOnAppStore = dueKind({
  name: "app_names",
  observes: apps,
  latest: latestNameSearch,
  platform: "ios",
  upstream: itunesSearch.upstream,
  together: 1,
  requests: 1,
  everyDays: 7,
  async read([subject], port) {
    const { storefront, subject: term } = subject
    return [await port.ask(itunesSearch, { storefront, term })]
  },
})
