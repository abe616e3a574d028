/** Reasons why two sources of the same money differ, in the order in which they are subtracted. */
export const CAUSES = [
  "day_zone",
  "not_reported",
  "before_first_message",
  "not_through_service",
  "not_in_console",
  "refunds",
  "free_units",
  "currency",
  "price_unknown",
  "price",
] as const
export type Cause = (typeof CAUSES)[number]

/** Units are sold minus refunded; money is in millionths. */
export interface Sum {
  units: number
  gross: bigint
}

/** Figures of days that both sources cover: refunds as positive numbers, and free units. */
interface Apart {
  refunds: number
  refunded: bigint
  free: number
}

/** The console's figures of one product in one currency, by the console's days. */
export interface ConsoleSum extends Sum {
  refunds: number
  /** The part of these figures that is on days which the service's messages do not cover completely. */
  before: Sum
  apart: Apart
}

/** The service's figures by UTC days. `consoleDays` has its figures by the console's days. */
export interface ServiceSum extends Sum {
  refunds: number
  consoleDays: Sum
  /** The part of `consoleDays` that is on days which the console has not reported. */
  unreported: Sum
  /** The part of `consoleDays` that is on days which the service's messages do not cover completely. */
  before: Sum
  apart: Apart
}

export interface WitnessPair {
  product: string
  /** Null if the service names no currency. */
  currency: string | null
  console: ConsoleSum
  service: ServiceSum
}

/** The products that the service ever mentioned, and those that the console ever listed as sold. */
interface SeenProducts {
  serviceProducts: ReadonlySet<string>
  consoleProducts: ReadonlySet<string>
}

export interface WitnessDifference extends WitnessPair {
  difference: Sum
  causes: (Sum & { cause: Cause })[]
  unexplained: Sum
}

/**
 * Returns the difference between console and service by product, split into causes that can be measured. Causes are
 * subtracted one after another; the remainder is unexplained. Neither source's figures are changed.
 */
export function explainedDifferences(rows: readonly WitnessPair[], products: SeenProducts): WitnessDifference[] {
  const explained = rows.map((row) => explainedRow(row, products))
  for (const productRows of Map.groupBy(explained, ({ product }) => product).values()) explainCurrencies(productRows)
  // Equal units at other prices: some services assume that an old price still applies.
  for (const row of explained) if (row.unexplained.units === 0) takeOff(row, "price", row.unexplained)
  return explained
}

function explainedRow(row: WitnessPair, { serviceProducts, consoleProducts }: SeenProducts): WitnessDifference {
  const { product, console, service } = row
  const difference = less(console, service)
  const result: WitnessDifference = { ...row, difference, causes: [], unexplained: difference }
  takeOff(result, "day_zone", less(service.consoleDays, service))
  takeOff(result, "not_reported", less(NONE, service.unreported))
  takeOff(result, "before_first_message", less(console.before, service.before))
  if (!serviceProducts.has(product)) takeOff(result, "not_through_service", result.unexplained)
  else if (!consoleProducts.has(product)) takeOff(result, "not_in_console", result.unexplained)
  else {
    const [there, here] = [console.apart, service.apart]
    takeOff(result, "refunds", { units: here.refunds - there.refunds, gross: here.refunded - there.refunded })
    takeOff(result, "free_units", { units: there.free - here.free, gross: 0n })
  }
  return result
}

/** Explains units that the two sources count in different currencies, or that the service counts without a currency. */
function explainCurrencies(rows: readonly WitnessDifference[]): void {
  const open = rows.filter(({ unexplained }) => unexplained.units !== 0)
  if (open.length < 2 || open.reduce((sum, { unexplained }) => sum + unexplained.units, 0) !== 0) return
  const cause = open.some(({ currency }) => currency === null) ? "price_unknown" : "currency"
  for (const row of open) takeOff(row, cause, row.unexplained)
}

const NONE: Sum = { units: 0, gross: 0n }

function less(one: Sum, other: Sum): Sum {
  return { units: one.units - other.units, gross: one.gross - other.gross }
}

function takeOff(row: WitnessDifference, cause: Cause, { units, gross }: Sum): void {
  if (units === 0 && gross === 0n) return
  row.causes.push({ cause, units, gross })
  row.unexplained = less(row.unexplained, { units, gross })
}

/** How often the console and the service report an event. Like WitnessPair, without money. */
interface EventPair {
  console: { units: number; before: number }
  service: { units: number; consoleDays: number; unreported: number; before: number }
}

export interface EventDifference {
  difference: number
  causes: { cause: Cause; units: number }[]
  unexplained: number
}

export function explainedEvents({ console, service }: EventPair): EventDifference {
  const causes = (
    [
      ["day_zone", service.consoleDays - service.units],
      ["not_reported", -service.unreported],
      ["before_first_message", console.before - service.before],
    ] as const
  ).flatMap(([cause, units]) => (units === 0 ? [] : [{ cause, units }]))
  const difference = console.units - service.units
  return { difference, causes, unexplained: causes.reduce((left, { units }) => left - units, difference) }
}
