import type { Db } from "../../database/types.ts"
import { addDays, type Days } from "../../lib/days.ts"
import {
  type Cause,
  type ConsoleSum,
  explainedDifferences,
  type ServiceSum,
  type Sum,
  type WitnessDifference,
  type WitnessPair,
} from "../formulas/witnesses.ts"
import type { CountedStore } from "../kinds/billing-shape.ts"
import { pacificDay } from "../pacific.ts"
import type { AppAccount, MoneyAccounts, OwnApp } from "../read/app-accounts.ts"
import { decimal, millionths } from "../sources/decimal.ts"
import { findBillingAccounts } from "./read-billing.ts"
import {
  CUTS,
  type Cut,
  readEverSeen,
  readServiceRows,
  readSold,
  readSoldEver,
  type Service,
  type ServiceRow,
  type SumRow,
  type WitnessQuery,
} from "./witness-sums.ts"

/**
 * Returns the service whose figures are compared. Null if no service has sent a message about purchases in that store.
 */
export async function findService(
  sql: Db,
  { isBilled }: MoneyAccounts,
  query: { workspaceId: number; app: OwnApp; days: Days; store: CountedStore },
): Promise<Service | null> {
  const accounts = isBilled ? await findBillingAccounts(sql, query) : []
  const [account] = accounts.flatMap((item) => (item.firstAt === null ? [] : [{ ...item, firstAt: item.firstAt }]))
  return account ? { ...account, store: query.store, wholeFrom: addDays(pacificDay(account.firstAt), 1) } : null
}

/** Units minus refunded units. */
export interface Units {
  units: number
  refunds: number
}

interface Amounts {
  units: number
  /** The customers' payments, as decimal text. */
  gross: string
}

/** A WitnessDifference with money as decimal text. */
export interface ProductWitness {
  product: string
  currency: string | null
  console: Amounts & Units
  service: Amounts & Units
  difference: Amounts
  causes: (Amounts & { cause: Cause })[]
  /** `share` is relative to the larger of the two amounts of money. Null if both are zero. */
  unexplained: Amounts & { share: number | null }
}

interface Witnesses {
  products: ProductWitness[]
  /** The service's counts by the console's days. */
  days: Map<string, { console: Units; service: Units }>
  /** The part of the counts that is on days which both sources cover. */
  countries: { country: string | null; console: Units; service: Units }[]
}

/** Returns the differences between the figures of the console and of a service about the same purchases. */
export async function readWitnesses(
  sql: Db,
  { console, service }: { console: AppAccount; service: Service },
  query: WitnessQuery,
): Promise<Witnesses> {
  const [sold, serviceRows] = await Promise.all([
    readSold(sql, console, service.wholeFrom, query),
    readServiceRows(sql, service, query),
  ])
  const products = pairsOf(sold, serviceRows, "product").map(([one, other]): WitnessPair => {
    const { name, currency } = (one ?? other) as SumRow
    return { product: name as string, currency, console: consoleSum(one), service: serviceSum(other) }
  })
  const ids = [...new Set(products.map(({ product }) => product))]
  const [serviceEver, soldEver] = await Promise.all([readEverSeen(sql, service, ids), readSoldEver(sql, console, ids)])
  return {
    products: explainedDifferences(products, { serviceProducts: serviceEver, consoleProducts: soldEver }).map(inWords),
    days: new Map(
      pairsOf(sold, serviceRows, "day").map(([one, other]) => [
        (one ?? other)?.name as string,
        { console: unitsOf(one), service: consoleDaysOf(other) },
      ]),
    ),
    countries: pairsOf(sold, serviceRows, "country").map(([one, other]) => ({
      country: (one ?? other)?.name ?? null,
      console: wholeOf(one),
      service: wholeOf(other),
    })),
  }
}

/** Pairs the rows of both sources that have the same product and currency, day or country, in order. */
function pairsOf(
  sold: readonly SumRow[],
  serviceRows: readonly ServiceRow[],
  by: Cut,
): [SumRow | undefined, ServiceRow | undefined][] {
  const keyOf = ({ name, currency }: SumRow) => JSON.stringify([name, currency])
  const [one, other] = [sold, serviceRows].map((rows) => {
    return new Map(rows.filter(({ cut }) => CUTS[cut] === by).map((row) => [keyOf(row), row]))
  }) as [Map<string, SumRow>, Map<string, ServiceRow>]
  return [...new Set([...one.keys(), ...other.keys()])].sort().map((key) => [one.get(key), other.get(key)])
}

const NOTHING: ServiceRow = {
  cut: 3,
  name: null,
  currency: null,
  units: 0,
  refunds: 0,
  gross: "0",
  beforeUnits: 0,
  beforeGross: "0",
  wholeUnits: 0,
  wholeRefunds: 0,
  refunded: "0",
  free: 0,
  dayUnits: 0,
  dayRefunds: 0,
  dayGross: "0",
  unreportedUnits: 0,
  unreportedGross: "0",
}

function consoleSum(row: SumRow = NOTHING): ConsoleSum {
  return {
    units: row.units,
    refunds: row.refunds,
    gross: millionths(row.gross),
    before: { units: row.beforeUnits, gross: millionths(row.beforeGross) },
    apart: { refunds: row.wholeRefunds, refunded: millionths(row.refunded), free: row.free },
  }
}

function serviceSum(row: ServiceRow = NOTHING): ServiceSum {
  return {
    ...consoleSum(row),
    consoleDays: { units: row.dayUnits, gross: millionths(row.dayGross) },
    unreported: { units: row.unreportedUnits, gross: millionths(row.unreportedGross) },
  }
}

function unitsOf({ units, refunds }: SumRow = NOTHING): Units {
  return { units, refunds }
}

function consoleDaysOf({ dayUnits: units, dayRefunds: refunds }: ServiceRow = NOTHING): Units {
  return { units, refunds }
}

function wholeOf({ wholeUnits: units, wholeRefunds: refunds }: SumRow = NOTHING): Units {
  return { units, refunds }
}

function inWords({
  product,
  currency,
  console,
  service,
  difference,
  causes,
  unexplained,
}: WitnessDifference): ProductWitness {
  const most = Math.max(sizeOf(console.gross), sizeOf(service.gross))
  const share = most === 0 ? null : Math.round((1_000 * sizeOf(unexplained.gross)) / most) / 1_000
  return {
    product,
    currency,
    console: { ...amounts(console), refunds: console.refunds },
    service: { ...amounts(service), refunds: service.refunds },
    difference: amounts(difference),
    causes: causes.map(({ cause, ...sum }) => ({ cause, ...amounts(sum) })),
    unexplained: { ...amounts(unexplained), share },
  }
}

/** Returns the absolute amount as a float, which is precise enough for a share. */
function sizeOf(gross: bigint): number {
  return Math.abs(Number(gross))
}

function amounts({ units, gross }: Sum): Amounts {
  return { units, gross: decimal(gross) }
}
