/** The sources of top charts. */
export const CHART_SOURCES = ["apple-charts", "import"] as const
export type ChartSource = (typeof CHART_SOURCES)[number]

/** Stored codes. A lower code is preferred, and the gaps leave room for new sources. Never change a code. */
export const CHART_SOURCE_CODES: Record<ChartSource, number> = { "apple-charts": 10, import: 40 }

/** Returns the chart source of a stored code. Throws if the code is unknown. */
export function chartSourceOf(code: number): ChartSource {
  const source = CHART_SOURCES.find((item) => CHART_SOURCE_CODES[item] === code)
  if (!source) throw new Error(`no source of charts has the code ${code}`)
  return source
}

export const DEVICES = ["iphone", "ipad"] as const
export type Device = (typeof DEVICES)[number]

export const CHARTS = ["free", "paid", "grossing"] as const
export type Chart = (typeof CHARTS)[number]

export { ALL_APPS } from "./storefronts.ts"
