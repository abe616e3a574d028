import * as v from "valibot"
import { checkChart } from "../check-charts.ts"
import type { Identified } from "../identified.ts"
import { hold, isGenre } from "../invariants.ts"
import { kind } from "../kind.ts"
import { chartOf } from "../line-readers.ts"
import { SHAPES } from "../line-shapes.ts"
import { storeCharts } from "../record-charts.ts"
import { CHART_SOURCES, CHARTS, type Chart, type ChartObservation, DEVICES, type Device } from "../types-charts.ts"

export interface ChartQuestion {
  storefront: string
  device: Device
  chart: Chart
  /** The store's own id; ALL_APPS for the overall chart. */
  genre: string
}

export const chart = kind<ChartObservation, ChartQuestion>({
  name: "chart",
  sources: CHART_SOURCES,
  private: false,
  figures: true,
  monthly: true,
  shape: v.strictObject({}),
  lineShape: SHAPES.chart,
  readLine: chartOf as never,
  check: checkChart,
  question: {
    about: ({ device, chart, genre }) => `${device} ${chart} ${genre}`,
    checkSubject: (subject) => hold(isChart(subject), "bad_text", "a chart is named by its device, chart and genre"),
  },
  names: (seen) => ({ chart: seen, apps: idsIn(seen) }),
  weight: ({ apps }) => apps.length,
  async store(tx, readings, known) {
    const shown = await storeCharts(tx, readings, known)
    return { placed: shown.map(({ from }) => from), shown, named: readings.map((from) => namedIn(from, known)) }
  },
  example: {},
})

function isChart(subject: string): boolean {
  const [device, chart, genre = "", ...more] = subject.split(" ")
  const isNamed = (DEVICES as readonly unknown[]).includes(device) && (CHARTS as readonly unknown[]).includes(chart)
  return isNamed && isGenre(genre) && more.length === 0
}

function idsIn({ apps }: ChartObservation): string[] {
  return apps.map(({ id }) => id)
}

/** Also of readings that are known or outdone: what they call apps must not follow the order of coming. */
function namedIn(from: ChartObservation, { appOf }: Identified) {
  return { from, apps: from.apps, appIds: idsIn(from).map((id) => appOf(from.platform, id)) }
}
