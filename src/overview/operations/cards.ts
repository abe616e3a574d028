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
    "hours: users and revenue by the hour; countries: what was sold by storefront, from the seller's console.",
  ),
  state: described(
    v.picklist(["measured", "not_measured", "not_connected", "hidden"]),
    "not_measured: the day is not reported (yet) of any app; not_connected: its source is not connected (conns), and nothing tells the hours; hidden: this key may not read money (hiddenMoney).",
  ),
  rows: described(
    v.array(
      v.strictObject({
        label: described(v.string(), "The hour in the time zone asked for, 00 to 23, or the storefront."),
        users: described(Figure, "Null = not known."),
        revenue: described(Figure, "US dollars; null = not known, or not all in US dollars: see proceeds."),
        proceeds: described(
          v.array(Money),
          "What the seller gets of it, each currency by itself; nothing is converted.",
        ),
      }),
    ),
    "Storefronts with any, the most first, as far as currencies can be compared. Empty in every state but measured; empty then too where nothing was sold.",
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
