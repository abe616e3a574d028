import * as v from "valibot"
import type { Sql } from "../../database/types.ts"
import { described, named } from "../../lib/schema.ts"
import { BILLING_SOURCES } from "../../lib/upstreams.ts"
import { Count, Storefront, Time } from "../../tracking/shapes.ts"
import type { Service } from "../billing/witness-sums.ts"
import { type ProductWitness, readWitnesses, type Units } from "../billing/witnesses.ts"
import { CAUSES } from "../formulas/witnesses.ts"
import type { ReportQuery } from "../read/app-accounts.ts"
import { type AppAccount, daysUpTo } from "../read/app-accounts.ts"
import { ANSWERED_STATES } from "../state.ts"
import { ReportDay } from "./account-shapes.ts"

export const Whole = v.pipe(v.number(), v.integer())
const Decimal = v.pipe(v.string(), v.regex(/^-?\d+(\.\d+)?$/))

/** The source that reports the same purchases as the console. */
export const SecondWitness = named(
  "SecondWitness",
  v.strictObject({
    id: described(v.string(), "The connected account, as in `appmeter account list`."),
    kind: v.picklist(BILLING_SOURCES),
    state: v.picklist(ANSWERED_STATES),
    since: described(
      Time,
      "Time of its first message; for Google Play, of its first message about that store. Earlier purchases are " +
        "unknown.",
    ),
    asOf: described(Time, "Time of its last message. Lost messages cannot be detected."),
    sandbox: described(Count, "Messages about test purchases in that period, not counted."),
    otherStores: described(Count, "Messages about other stores, not counted."),
    unknownTypes: described(Count, "Messages of types that are not counted here."),
  }),
)

export const CauseName = named(
  "WitnessCause",
  v.picklist(CAUSES),
  "day_zone: the service uses UTC days; not_reported: days missing from the console; before_first_message: days " +
    "that the service did not report completely; not_through_service: the service never reported this product; " +
    "not_in_console: the app never sold this product according to the console; refunds: counted as refunded by only " +
    "one source; free_units: trials and other free units; currency: the same units in another currency; " +
    "price_unknown: the messages have no price; price: the same units at other prices.",
)

const amounts = {
  units: described(Whole, "Paid purchases minus refunds."),
  gross: described(
    Decimal,
    "Paid by customers including tax, before commission, in the currency of the row. Google Play's settled charges " +
      "may leave out tax.",
  ),
}
const Amounts = v.strictObject(amounts)
const Side = named("WitnessSide", v.strictObject({ ...amounts, refunds: described(Count, "Refunded purchases.") }))
const UnitsShape = named(
  "WitnessUnits",
  v.strictObject({ units: amounts.units, refunds: described(Count, "Refunded purchases.") }),
)

const MAX_PRODUCTS = 200

export const Reconciliation = named(
  "Reconciliation",
  v.strictObject({
    with: SecondWitness,
    products: described(
      v.array(
        named(
          "ReconciledProduct",
          v.strictObject({
            product: v.string(),
            currency: described(v.nullable(v.string()), "Null if the service reports no such purchases."),
            console: Side,
            service: described(Side, "Figures by UTC day."),
            difference: described(Amounts, "Console minus service."),
            causes: described(
              v.array(v.strictObject({ cause: CauseName, ...amounts })),
              "Causes of the difference, in the order in which they are subtracted.",
            ),
            unexplained: v.strictObject({
              ...amounts,
              share: described(
                v.nullable(v.pipe(v.number(), v.minValue(0))),
                "Unexplained money as a share of the larger of the two amounts. Null if both are zero.",
              ),
            }),
          }),
        ),
      ),
      `One row per product and currency; largest unexplained difference first, at most ${MAX_PRODUCTS}.`,
    ),
    productsOmitted: Count,
    days: described(
      v.array(
        v.strictObject({
          day: ReportDay,
          console: described(v.nullable(UnitsShape), "Null if the console has not reported the day."),
          service: described(v.nullable(UnitsShape), "Figures by the console's days. Null before the first message."),
          difference: described(v.nullable(Whole), "Console minus service, in units. Null if either is null."),
          why: described(
            v.nullable(v.picklist(["not_reported", "before_first_message"])),
            "Why the day cannot be compared. The day of the first message is incomplete.",
          ),
        }),
      ),
      "Every requested day, oldest first.",
    ),
    countries: described(
      v.array(
        v.strictObject({
          country: described(v.nullable(Storefront), "Null if the messages name no country."),
          console: UnitsShape,
          service: UnitsShape,
          difference: described(Whole, "Console minus service, in units."),
        }),
      ),
      "Covers the days that both sources report. A service may report the country of the device's last contact " +
        "instead of the storefront.",
    ),
    otherCountry: described(
      Count,
      "Units that the two sources assign to different countries. Totals are not affected.",
    ),
  }),
)

/** Returns the comparison. Null if no service has sent a message about the app's purchases in that store. */
export async function readReconciliation(
  sql: Sql,
  { seller: account, service }: { seller: AppAccount; service: Service | null },
  { reported, ...query }: ReportQuery & { reported: readonly string[] },
): Promise<v.InferOutput<typeof Reconciliation> | null> {
  if (!service) return null
  const { from, to } = query
  const { products, days, countries } = await readWitnesses(sql, { console: account, service }, { ...query, reported })
  const reportedDays = new Set(reported)
  const byCountry = countries.map((row) => ({ ...row, difference: row.console.units - row.service.units }))
  return {
    with: witnessShape(service),
    products: products.sort(byUnexplained).slice(0, MAX_PRODUCTS),
    productsOmitted: Math.max(0, products.length - MAX_PRODUCTS),
    days: eachDay(from, to).map((day) => dayShape(day, days.get(day), { service, isSaid: reportedDays.has(day) })),
    countries: byCountry,
    otherCountry: shiftOf(byCountry.map(({ difference }) => difference)),
  }
}

export function witnessShape(service: Service): v.InferOutput<typeof SecondWitness> {
  const { id, kind, state, firstAt, asOf, sandbox, otherStores, unknownTypes } = service
  const span = { since: firstAt.toISOString(), asOf: (asOf ?? firstAt).toISOString() }
  return { id, kind, state, ...span, sandbox, otherStores, unknownTypes }
}

const NONE: Units = { units: 0, refunds: 0 }

function dayShape(
  day: string,
  sums: { console: Units; service: Units } | undefined,
  { service, isSaid }: { service: Service; isSaid: boolean },
) {
  const isBefore = day < service.wholeFrom
  const console = isSaid ? (sums?.console ?? NONE) : null
  const serviceUnits = isBefore && !sums?.service.units ? null : (sums?.service ?? NONE)
  return {
    day,
    console,
    service: serviceUnits,
    difference: console && serviceUnits ? console.units - serviceUnits.units : null,
    why: isSaid ? (isBefore ? ("before_first_message" as const) : null) : ("not_reported" as const),
  }
}

function byUnexplained(one: ProductWitness, other: ProductWitness): number {
  const by = (row: ProductWitness) =>
    Math.max(row.unexplained.share ?? 0, Math.abs(row.unexplained.units) > 0 ? 1e-6 : 0)
  const key = ({ product, currency }: ProductWitness) => `${product} ${currency ?? ""}`
  return by(other) - by(one) || (key(one) < key(other) ? -1 : 1)
}

/**
 * Returns the amount that the two sources assign to different rows: surpluses in some rows that match deficits in
 * others, beyond the total difference.
 */
function shiftOf(differences: readonly number[]): number {
  const sizes = differences.reduce((sum, difference) => sum + Math.abs(difference), 0)
  const whole = Math.abs(differences.reduce((sum, difference) => sum + difference, 0))
  return (sizes - whole) / 2
}

function eachDay(from: string, to: string): string[] {
  return daysUpTo(to, Math.round((Date.parse(to) - Date.parse(from)) / 86_400_000) + 1)
}
