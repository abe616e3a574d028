import { dueKind } from "../../measuring/due-kind.ts"
import { itunesLookup } from "../../stores/apple/itunes-lookup.ts"
import { apps } from "../../stores/kinds/apps.ts"
import { withoutPages } from "../../stores/kinds/pages-in-look-ups.ts"
import { latestLookUps, readFirstApps } from "../read/listed-apps.ts"

/**
 * Looks up the first apps of a chart's latest reading, as many as fit in one request, when a caller asks about the
 * category.
 */
export const chartAppsOnAppStore = dueKind({
  name: "chart_apps",
  observes: apps,
  latest: latestLookUps,
  mayFindNothing: true,
  platform: "ios",
  upstream: itunesLookup.upstream,
  together: 1,
  requests: 1,
  everyDays: 7,
  async read([one], port) {
    const ids = await readFirstApps(port.sql, one)
    // Only the figures are needed. The store pages of untracked apps would fill the database.
    return ids.length > 0 ? [withoutPages(await port.ask(itunesLookup, { storefront: one.storefront, ids }))] : []
  },
})
