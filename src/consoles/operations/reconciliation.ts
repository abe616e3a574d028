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
    id: described(v.string(), "The connected account, as `appmeter account list` names it."),
    kind: v.picklist(BILLING_SOURCES),
    state: v.picklist(ANSWERED_STATES),
    since: described(Time, "When its first message came: of what was before it told nothing."),
    asOf: described(Time, "When the last came. Messages that were lost cannot be seen."),
    sandbox: described(Count, "Messages of tests in those days, which are not counted."),
    otherStores: described(Count, "Those of other stores, which are not counted."),
    unknownTypes: described(Count, "Those of a type that counts as nothing here."),
  }),
)

export const CauseName = named(
  "WitnessCause",
  v.picklist(CAUSES),
  "day_zone: its days are UTC; not_reported: days that the console is late with; before_first_message: days on which the service did not tell of all yet; not_through_service: a product it never told of; not_in_console: one that the app never sold there; refunds: what one counts as given back and the other does not; free_units: trials and what else cost nothing; currency: as many stand under another; price_unknown: its messages name no price; price: as many, at other prices.",
)

const amounts = {
  units: described(Whole, "Purchases paid, less those given back."),
  gross: described(Decimal, "What customers paid with tax, before anybody's share; in the row's currency."),
}
const Amounts = v.strictObject(amounts)
const Side = named("WitnessSide", v.strictObject({ ...amounts, refunds: described(Count, "Of them given back.") }))
const UnitsShape = named(
  "WitnessUnits",
  v.strictObject({ units: amounts.units, refunds: described(Count, "Of them given back.") }),
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
            currency: described(v.nullable(v.string()), "Null = the service names none."),
            console: Side,
            service: described(Side, "By its own days, UTC."),
            difference: described(Amounts, "Console less service."),
            causes: described(
              v.array(v.strictObject({ cause: CauseName, ...amounts })),
              "What of the difference each explains, taken off in this order.",
            ),
            unexplained: v.strictObject({
              ...amounts,
              share: described(
                v.nullable(v.pipe(v.number(), v.minValue(0))),
                "Of the money of the one that says more. Null = neither says any.",
              ),
            }),
          }),
        ),
      ),
      `Each currency by itself; those with most left unexplained first, at most ${MAX_PRODUCTS}.`,
    ),
    productsOmitted: Count,
    days: described(
      v.array(
        v.strictObject({
          day: ReportDay,
          console: described(v.nullable(UnitsShape), "Null = not reported."),
          service: described(v.nullable(UnitsShape), "By the console's days. Null = before its first message."),
          difference: described(v.nullable(Whole), "Of the units. Null where either is."),
          why: described(
            v.nullable(v.picklist(["not_reported", "before_first_message"])),
            "What keeps the day from being compared; on the day of the first message it is part of a day.",
          ),
        }),
      ),
      "Every day asked for, oldest first.",
    ),
    countries: described(
      v.array(
        v.strictObject({
          country: described(v.nullable(Storefront), "Null = its messages name none."),
          console: UnitsShape,
          service: UnitsShape,
          difference: described(Whole, "Of the units."),
        }),
      ),
      "Of days that both know. A service may name the country where the phone was last heard of instead of the storefront.",
    ),
    otherCountry: described(
      Count,
      "Units that stand in one country here and in another there: totals are not touched.",
    ),
  }),
)

/** Null if no service has sent a message about the app's purchases. */
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
 * The amount that is assigned differently: surpluses in some rows that match deficits in others, beyond the total
 * difference.
 */
function shiftOf(differences: readonly number[]): number {
  const sizes = differences.reduce((sum, one) => sum + Math.abs(one), 0)
  const whole = Math.abs(differences.reduce((sum, one) => sum + one, 0))
  return (sizes - whole) / 2
}

function eachDay(from: string, to: string): string[] {
  return daysUpTo(to, Math.round((Date.parse(to) - Date.parse(from)) / 86_400_000) + 1)
}
