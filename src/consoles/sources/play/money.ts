import { cutText } from "../../../lib/text.ts"
import { checkedRow, type PutAside } from "../../../measuring/parsing/put-aside.ts"
import { ReadFailure } from "../../../measuring/source.ts"
import { PlayEarningsRow, PlaySalesRow, type PlaySoldAs } from "../../kinds/play-shape.ts"
import { MAX_NAME, MAX_SKU, NO_COUNTRY, NO_CURRENCY } from "../../kinds/reports-shape.ts"
import { decimal, millionths } from "../decimal.ts"
import { countryIn, dayIn, type PlayRow, playTable } from "./table.ts"

const EARNINGS_COLUMNS = [
  "Description",
  "Transaction Date",
  "Transaction Type",
  "Product id",
  "Sku Id",
  "Buyer Country",
  "Buyer Currency",
  "Amount (Buyer Currency)",
  "Merchant Currency",
  "Amount (Merchant Currency)",
] as const

const earningsRow = checkedRow<PlayEarningsRow>(PlayEarningsRow)

/**
 * Sums up the transactions of a month by day, product, country and currencies. Charges and their refunds are what
 * buyers paid. Every row is part of the proceeds, including fees, taxes and unlisted types. Buyers, orders and places
 * are left out. Days are those that the file prints, in Pacific time. Rows of another month are skipped.
 */
export async function playEarningsDays(text: string, month: string, aside: PutAside) {
  const sums = createMoneySum<PlayEarningsRow>()
  for await (const row of playTable(text, EARNINGS_COLUMNS, aside))
    aside.row(row.name, () => {
      const zone = /\b([A-Z]{2,4})$/.exec(row.text("Transaction Time"))?.[1]
      if (zone !== undefined && !/^P[SD]?T$/.test(zone)) aside.note(`times are in ${zone} instead of Pacific time`)
      const type = row.text("Transaction Type").toLowerCase()
      const isCharge = /^(charge|charge refund|refund)$/.test(type)
      const isRefund = isCharge && type !== "charge"
      const paid = isCharge ? moneyOf(row, "Amount (Buyer Currency)") : "0"
      const isWhole = !isRefund || !/^partial/i.test(row.text("Refund Type"))
      const back = isRefund && isWhole ? 1 : 0
      sums.add(dayOf(row, "Transaction Date", month), () =>
        earningsRow({
          ...soldThing(row, { product: "Product id", sku: "Sku Id", order: row.text("Description") }),
          country: countryIn(row.text("Buyer Country")) ?? NO_COUNTRY,
          units: isCharge && !isRefund ? 1 : -back,
          refunds: back,
          free: isCharge && !isRefund && millionths(paid) === 0n ? 1 : 0,
          currency: currencyOf(row, "Buyer Currency"),
          gross: paid,
          refunded: isRefund ? decimal(-millionths(paid)) : "0",
          merchantCurrency: currencyOf(row, "Merchant Currency"),
          proceeds: moneyOf(row, "Amount (Merchant Currency)"),
        }),
      )
    })
  return sums.days(aside)
}

const SALES_COLUMNS = [
  "Order Number",
  "Order Charged Date",
  "Financial Status",
  "Product ID",
  "SKU ID",
  "Currency of Sale",
  "Charged Amount",
  "Country of Buyer",
] as const

const salesRow = checkedRow<PlaySalesRow>(PlaySalesRow)

/**
 * Sums up the orders of a month by UTC day, otherwise like playEarningsDays. They are estimates: before fees, and
 * without the seller's currency.
 */
export async function playSalesDays(text: string, month: string, aside: PutAside) {
  const sums = createMoneySum<PlaySalesRow>()
  for await (const row of playTable(text, SALES_COLUMNS, aside))
    aside.row(row.name, () => {
      const status = row.text("Financial Status").toLowerCase()
      const isRefund = /refund|chargeback/.test(status)
      if (!isRefund && status !== "charged")
        throw new ReadFailure("changed", `"Financial Status" is unknown (${JSON.stringify(status.slice(0, 30))})`)
      const amount = millionths(moneyOf(row, "Charged Amount"))
      // A refund is printed either as a negative amount or as the amount of the original charge.
      const paid = isRefund && amount > 0n ? -amount : amount
      const back = isRefund && !status.includes("partial") ? 1 : 0
      sums.add(dayOf(row, "Order Charged Date", month), () =>
        salesRow({
          ...soldThing(row, { product: "Product ID", sku: "SKU ID", order: row.text("Order Number") }),
          country: countryIn(row.text("Country of Buyer")) ?? NO_COUNTRY,
          units: isRefund ? -back : 1,
          refunds: back,
          free: !isRefund && paid === 0n ? 1 : 0,
          currency: currencyOf(row, "Currency of Sale"),
          gross: decimal(paid),
          refunded: isRefund ? decimal(-paid) : "0",
        }),
      )
    })
  return sums.days(aside)
}

function dayOf(row: PlayRow, column: string, month: string): string {
  const day = dayIn(row.text(column))
  if (!day.startsWith(month)) throw new ReadFailure("mismatched", `it is in another month than ${month}`)
  return day
}

/** Returns an amount. Throws ReadFailure for a blank cell: an amount that is not stated is unknown, not 0. */
function moneyOf(row: PlayRow, column: string): string {
  const amount = row.decimal(column)
  if (amount === undefined) throw new ReadFailure("changed", `"${column}" is empty`)
  return decimal(millionths(amount))
}

function currencyOf(row: PlayRow, column: string): string {
  const code = row.text(column).toUpperCase()
  return /^[A-Z]{3}$/.test(code) ? code : NO_CURRENCY
}

/** The order number of a renewal is the number of the first order and a suffix: "GPA.3302-2312-6140-38722..2". */
const RENEWAL = /\.\.\d+$/

function soldThing(row: PlayRow, { product, sku, order }: { product: string; sku: string; order: string }) {
  const app = cutText(row.text(product), MAX_SKU)
  if (app === "") throw new ReadFailure("changed", `"${product}" is empty`)
  const item = cutText(row.text(sku), MAX_SKU)
  const isSubscription = row.text("Base Plan ID") !== "" || RENEWAL.test(order)
  const soldAs: PlaySoldAs = item === "" || item === app ? "app" : isSubscription ? "subscription" : "purchase"
  return { app, product: item || app, title: cutText(row.text("Product Title") || item || app, MAX_NAME), soldAs }
}

const COUNTS = ["units", "refunds", "free"] as const
const AMOUNTS = ["gross", "refunded", "proceeds"] as const

type Summed = PlaySalesRow & Partial<PlayEarningsRow>

/**
 * Sums up rows that differ only in counts and amounts. A product with a renewal in the file counts as a subscription.
 */
function createMoneySum<Row extends Summed>() {
  const days = new Map<string, Map<string, { row: Row; amounts: bigint[] }>>()
  const subscriptions = new Set<string>()
  return {
    add(day: string, read: () => Row): void {
      const row = read()
      if (row.soldAs === "subscription") subscriptions.add(row.product)
      const { app, product, soldAs, country, currency, merchantCurrency } = row
      const key = JSON.stringify([app, product, soldAs === "app", country, currency, merchantCurrency])
      const sums = days.get(day) ?? new Map<string, { row: Row; amounts: bigint[] }>()
      days.set(day, sums)
      const sum = sums.get(key)
      const amounts = AMOUNTS.map((name) => millionths(row[name] ?? "0"))
      if (sum === undefined) sums.set(key, { row: { ...row }, amounts })
      else {
        for (const name of COUNTS) sum.row[name] += row[name]
        sum.amounts = sum.amounts.map((amount, place) => amount + amounts[place]!)
      }
    },
    /** Returns the days with rows, oldest first. Throws ReadFailure if every row was skipped. */
    days(aside: PutAside): Map<string, Row[]> {
      aside.assertSome([...days])
      const rowsOf = (sums: Map<string, { row: Row; amounts: bigint[] }>) =>
        [...sums.values()].map(({ row, amounts }) => {
          const money = AMOUNTS.flatMap((name, place) => {
            return row[name] === undefined ? [] : [[name, decimal(amounts[place]!)]]
          })
          const isRenewed = row.soldAs === "purchase" && subscriptions.has(row.product)
          return { ...row, ...(isRenewed && { soldAs: "subscription" }), ...Object.fromEntries(money) } as Row
        })
      return new Map([...days].sort(([a], [b]) => (a < b ? -1 : 1)).map(([day, sums]) => [day, rowsOf(sums)]))
    },
  }
}
