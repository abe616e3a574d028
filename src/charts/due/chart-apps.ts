import type { Kind } from "../../measuring/due-kind.ts"
import { itunesLookup } from "../../stores/apple/itunes-lookup.ts"
import { withoutPages } from "../../stores/kinds/pages-in-look-ups.ts"
import { readFirstApps } from "../read/listed-apps.ts"

/** The first apps of a chart as it was read last, as many as one request looks up: for whoever asks about its category. */
export const chartAppsOnAppStore: Kind = {
  name: "chart_apps",
  platform: "ios",
  upstream: itunesLookup.upstream,
  together: 1,
  requests: 1,
  everyDays: 7,
  async read([one], port) {
    const ids = await readFirstApps(port.sql, one)
    // whoever charts is read for its figures alone
    return ids.length > 0 ? [withoutPages(await port.ask(itunesLookup, { storefront: one.storefront, ids }))] : []
  },
}
