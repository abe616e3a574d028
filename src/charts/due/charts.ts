import { dueKind } from "../../measuring/due-kind.ts"
import { putForwardChart } from "../../measuring/put-forward.ts"
import { ReadFailure } from "../../measuring/source.ts"
import { appleGenres } from "../../stores/apple/genres.ts"
import { itunesDeveloper } from "../../stores/apple/itunes-developer.ts"
import { itunesLookup } from "../../stores/apple/itunes-lookup.ts"
import { apps } from "../../stores/kinds/apps.ts"
import { developer } from "../../stores/kinds/developer.ts"
import { withoutPages } from "../../stores/kinds/pages-in-look-ups.ts"
import { chart, chartNamed } from "../kinds/chart.ts"
import { latestLookUps, readFirstApps } from "../read/listed-apps.ts"
import { appleCharts } from "../sources/apple-charts.ts"

export const chartOnAppStore = dueKind({
  name: "chart",
  observes: chart,
  platform: "ios",
  upstream: appleCharts.upstream,
  together: 1,
  requests: 1,
  everyDays: 1,
  async read([subject], port) {
    return [await port.ask(appleCharts, chartNamed(subject, subject.subject))]
  },
  putsForward: putForwardChart,
})

export const genresOnAppStore = dueKind({
  name: "genres",
  platform: "ios",
  upstream: appleGenres.upstream,
  together: 1,
  requests: 1,
  everyDays: 30,
  async read([subject], port) {
    return [await port.ask(appleGenres, { storefront: subject.storefront })]
  },
})

export const developerOnAppStore = dueKind({
  name: "developer",
  observes: developer,
  mayFindNothing: true,
  platform: "ios",
  upstream: itunesDeveloper.upstream,
  together: 1,
  requests: 1,
  everyDays: 7,
  async read([subject], port) {
    const { storefront, subject: developerId } = subject
    try {
      return [await port.ask(itunesDeveloper, { storefront, developerId })]
    } catch (error) {
      // The store responds in the same way for an unknown developer, so the response does not show that a developer has
      // no apps.
      if (error instanceof ReadFailure && error.outcome === "not_found") return []
      throw error
    }
  },
})

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
