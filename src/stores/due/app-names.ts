import { dueKind } from "../../measuring/due-kind.ts"
import { itunesSearch } from "../apple/itunes-search.ts"
import { apps, latestNameSearch } from "../kinds/apps.ts"

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
