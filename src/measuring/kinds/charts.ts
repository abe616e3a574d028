import { chartNamed } from "../../observations/kinds/chart.ts"
import { appleCharts } from "../../sources/apple/charts.ts"
import { appleGenres } from "../../sources/apple/genres.ts"
import { itunesDeveloper } from "../../sources/apple/itunes-developer.ts"
import { ReadFailure } from "../../sources/source.ts"
import type { Kind } from "../kind.ts"
import { putForwardChart } from "../put-forward.ts"

export const chartOnAppStore: Kind = {
  name: "chart",
  platform: "ios",
  upstream: appleCharts.upstream,
  together: 1,
  requests: 1,
  everyDays: 1,
  async read([subject], port) {
    return [await port.ask(appleCharts, chartNamed(subject, subject.subject))]
  },
  putsForward: putForwardChart,
}

export const genresOnAppStore: Kind = {
  name: "genres",
  platform: "ios",
  upstream: appleGenres.upstream,
  together: 1,
  requests: 1,
  everyDays: 30,
  async read([subject], port) {
    return [await port.ask(appleGenres, { storefront: subject.storefront })]
  },
}

export const developerOnAppStore: Kind = {
  name: "developer",
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
      // the same answer stands for an id that is nobody's, so that it is no empty shelf
      if (error instanceof ReadFailure && error.outcome === "not_found") return []
      throw error
    }
  },
}
