import type { ChartQuestion } from "../../observations/kinds/chart.ts"
import { CHARTS, DEVICES } from "../../observations/types.ts"
import { appleCharts } from "../../sources/apple-charts.ts"
import { appleGenres } from "../../sources/apple-genres.ts"
import { itunesDeveloper } from "../../sources/itunes-developer.ts"
import { ReadFailure } from "../../sources/source.ts"
import type { Kind, Subject } from "../kind.ts"
import { afterChart } from "../put-forward.ts"

export const chartOnAppStore: Kind = {
  name: "chart",
  platform: "ios",
  upstream: appleCharts.upstream,
  together: 1,
  requests: 1,
  everyDays: 1,
  async read([subject], port) {
    return [await port.ask(appleCharts, chartOf(subject!))]
  },
  putsForward: afterChart,
}

export const genresOnAppStore: Kind = {
  name: "genres",
  platform: "ios",
  upstream: appleGenres.upstream,
  together: 1,
  requests: 1,
  everyDays: 30,
  async read([subject], port) {
    return [await port.ask(appleGenres, { storefront: subject!.storefront })]
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
    const { storefront, subject: developerId } = subject!
    try {
      return [await port.ask(itunesDeveloper, { storefront, developerId })]
    } catch (error) {
      // the same answer stands for an id that is nobody's, so that it is no empty shelf
      if (error instanceof ReadFailure && error.outcome === "not_found") return []
      throw error
    }
  },
}

/** "iphone free 6013" in its storefront. Throws RangeError for what is no chart's name. */
export function chartOf({ storefront, subject }: Pick<Subject, "storefront" | "subject">): ChartQuestion {
  const [given, called, genre, ...more] = subject.split(" ")
  const [device, chart] = [DEVICES.find((one) => one === given), CHARTS.find((one) => one === called)]
  if (!device || !chart || !genre || more.length > 0) throw new RangeError("a chart is a device, its name and a genre")
  return { storefront, device, chart, genre }
}
