import * as v from "valibot"
import { summedMoney } from "../../consoles/ads/read/day.ts"
import { Money } from "../../consoles/operations/account-shapes.ts"
import { SELLER_KINDS } from "../../consoles/read/app-accounts.ts"
import type { DayFigure, StoreDay } from "../../consoles/read/read-store-days.ts"
import { described, named } from "../../lib/schema.ts"
import { Day, Store, Time } from "../../tracking/shapes.ts"

type Amount = v.InferOutput<typeof Money>

const Amounts = v.nullable(v.array(Money))

const amounts = {
  downloads: described(
    v.nullable(v.pipe(v.number(), v.integer())),
    "First downloads; on Google Play users who installed the app. Null if not reported yet, or withheld by Google.",
  ),
  proceeds: described(
    Amounts,
    "Proceeds of the seller, one amount per currency; on Google Play settled earnings. Null if not reported yet.",
  ),
  estimatedSales: v.exactOptional(
    described(
      Amounts,
      "Google Play only: paid by customers that UTC day, before fees, not settled. Never summed with proceeds. Null " +
        "if not reported yet, or if the day is settled.",
    ),
  ),
}

/** The figures of one app in one store for a day. */
export const StoreSales = named(
  "StoreSales",
  v.strictObject({
    platform: Store,
    source: described(v.picklist(Object.values(SELLER_KINDS)), "The console that reports the figures."),
    ...amounts,
    asOf: described(v.nullable(Time), "Time of the latest reading of that day. Null if it is not reported yet."),
    reportedTo: described(v.nullable(Day), "The latest day with downloads. Null if there is none."),
    why: described(v.nullable(v.string()), "What is not reported yet, and how late the console is. Null if all is."),
  }),
)

/** The figures of all apps in one store for a day. */
export const StoreTotals = named(
  "StoreTotals",
  v.strictObject({
    platform: Store,
    ...amounts,
    without: v.exactOptional(
      described(v.array(v.string()), "Ids of apps whose downloads are missing. Omitted if there are none."),
    ),
  }),
  "Sums over the apps that have the figure. Stores and currencies are never added.",
)

export function storeSales(day: StoreDay): v.InferOutput<typeof StoreSales> {
  const { platform, downloads, proceeds, estimatedSales } = day
  const readings = [downloads, proceeds, estimatedSales].flatMap((figure) => figure?.readAt ?? [])
  const latest = readings.reduce<Date | null>((last, at) => (last === null || at > last ? at : last), null)
  return {
    platform,
    source: SELLER_KINDS[platform],
    downloads: downloads.value,
    proceeds: proceeds.value,
    ...(estimatedSales && { estimatedSales: estimatedSales.value }),
    asOf: latest?.toISOString() ?? null,
    reportedTo: downloads.reportedTo,
    why: missing(day),
  }
}

/** Returns a sentence for each report that does not have the day yet. */
function missing({ downloads, proceeds, estimatedSales }: StoreDay): string | null {
  const sentence = (name: string, { readAt, reportedTo }: DayFigure<unknown>, delay: string) => {
    if (readAt !== null) return []
    return [`${name} are reported ${reportedTo === null ? "for no recent day" : `up to ${reportedTo}`}: ${delay}.`]
  }
  if (estimatedSales === null)
    return sentence("Sales", downloads, "App Store Connect publishes a day on the next one")[0] ?? null
  const isSettled = proceeds.readAt !== null
  const sentences = [
    ...sentence("Installs", downloads, "Google Play Console publishes them some days later"),
    ...(isSettled
      ? []
      : sentence("Estimated sales", estimatedSales, "Google Play Console publishes them some days later")),
    ...sentence("Settled earnings", proceeds, "Google Play Console publishes them in the next month"),
  ]
  return sentences.join(" ") || null
}

/** Returns the sums of each store that a console reports on, App Store first. */
export function storeTotals(days: readonly StoreDay[]): v.InferOutput<typeof StoreTotals>[] {
  const platforms = (["ios", "android"] as const).filter((platform) => days.some((day) => day.platform === platform))
  return platforms.map((platform) => {
    const all = days.filter((day) => day.platform === platform)
    const downloads = all.flatMap((day) => day.downloads.value ?? [])
    const without = all.filter((day) => day.downloads.value === null).map(({ appId }) => appId)
    return {
      platform,
      downloads: downloads.length === 0 ? null : downloads.reduce((sum, count) => sum + count, 0),
      proceeds: sumsOf(all.map((day) => day.proceeds.value)),
      ...(platform === "android" && { estimatedSales: sumsOf(all.map((day) => day.estimatedSales?.value ?? null)) }),
      ...(without.length > 0 && { without }),
    }
  })
}

/** Returns one sum per currency. Null if no app has an amount. */
function sumsOf(all: readonly (Amount[] | null)[]): Amount[] | null {
  const reported = all.filter((money) => money !== null)
  if (reported.length === 0) return null
  const byCurrency = [...Map.groupBy(reported.flat(), ({ currency }) => currency)]
  return byCurrency
    .map(([currency, of]) => ({ currency, amount: summedMoney(of.map(({ amount }) => amount)) }))
    .sort((a, b) => (a.currency < b.currency ? -1 : 1))
}
