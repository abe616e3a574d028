import * as v from "valibot"
import { Money } from "../../consoles/operations/account-shapes.ts"
import { type CountryProceeds, readCountryProceeds } from "../../consoles/read/read-day.ts"
import { dollarRate } from "../../consoles/seller/price-levels.ts"
import type { TrackedApp } from "../../core/tracked-app.ts"
import type { Db } from "../../database/types.ts"
import { described } from "../../lib/schema.ts"

const Figure = v.nullable(v.number())

export const Card = v.strictObject({
  id: described(
    v.picklist(["hours", "countries"]),
    "hours: users and revenue by the hour; countries: App Store sales by storefront, from App Store Connect.",
  ),
  state: described(
    v.picklist(["measured", "not_measured", "not_connected", "hidden"]),
    "not_measured: no app's day is reported yet; not_connected: the source is not connected (see conns), and no " +
      "source has hourly figures; hidden: this key cannot read money (see hiddenMoney).",
  ),
  rows: described(
    v.array(
      v.strictObject({
        label: described(v.string(), "The hour (00 to 23) in the requested time zone, or the storefront."),
        users: described(Figure, "Null if unknown."),
        revenue: described(Figure, "US dollars. Null if unknown or partly in other currencies; see proceeds."),
        proceeds: described(v.array(Money), "Proceeds of the seller, one amount per currency. Nothing is converted."),
      }),
    ),
    "Storefronts with sales, highest first, as far as currencies can be compared. Empty unless state is measured, " +
      "and if nothing was sold.",
  ),
})
type DayCard = v.InferOutput<typeof Card>

/** Reads the cards of a report day, for all these apps together. */
export async function readCards(
  sql: Db,
  { workspaceId, hiddenMoney }: { workspaceId: number; hiddenMoney: boolean },
  apps: readonly TrackedApp[],
  day: string,
): Promise<DayCard[]> {
  const hours: DayCard = { id: "hours", state: hiddenMoney ? "hidden" : "not_connected", rows: [] }
  return [hours, hiddenMoney ? { id: "countries", state: "hidden", rows: [] } : await countries()]

  async function countries(): Promise<DayCard> {
    const { state, rows } = await readCountryProceeds(sql, workspaceId, apps, day)
    return { id: "countries", state, rows: [...rows].sort(byDollars).map(shownRow) }
  }
}

function shownRow({ country, proceeds }: CountryProceeds): DayCard["rows"][number] {
  const inDollars = proceeds.every(({ currency }) => currency === "USD")
  return { label: country, users: null, revenue: inDollars ? Number(proceeds[0]?.amount ?? 0) : null, proceeds }
}

/** Orders by dollars. Old exchange rates suffice for an order. Amounts without a rate come last. */
function byDollars(a: CountryProceeds, b: CountryProceeds): number {
  return worth(b) - worth(a) || (a.country < b.country ? -1 : 1)
}

function worth({ proceeds }: CountryProceeds): number {
  return proceeds.reduce((sum, { currency, amount }) => {
    const rate = dollarRate(currency)
    return rate === null ? sum : sum + Number(amount) / rate
  }, 0)
}
