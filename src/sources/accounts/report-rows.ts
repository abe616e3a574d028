import type { SalesRow } from "../../observations/kinds/sales.ts"
import type { EventRow, StockRow } from "../../observations/kinds/subscriptions.ts"
import { ReadFailure } from "../source.ts"
import { type ReportRow, reportTable, summed } from "./report-table.ts"

const SALES_COLUMNS = [
  "SKU", "Title", "Product Type Identifier", "Units", "Developer Proceeds", "Begin Date", "Customer Currency", "Country Code",
  "Currency of Proceeds", "Customer Price", "Parent Identifier",
] as const // biome-ignore format: a list to scan

/** Devices, versions and clients are added up. Throws ReadFailure: `mismatched` where it is of another day. */
export function salesRows(text: string, day: string): SalesRow[] {
  const rows = reportTable(text, SALES_COLUMNS).map((row): SalesRow => {
    checkDay(row.text("Begin Date"), day)
    const product = row.text("SKU")
    return {
      // what is sold within an app names the app by its SKU
      app: row.text("Parent Identifier") || product,
      product,
      title: row.text("Title") || product,
      type: row.text("Product Type Identifier"),
      country: row.text("Country Code").toLowerCase(),
      units: row.count("Units"),
      price: row.money("Customer Price"),
      currency: row.text("Customer Currency"),
      proceeds: row.money("Developer Proceeds"),
      proceedsCurrency: row.text("Currency of Proceeds"),
      ...words(row, { subscription: "Subscription", period: "Period", promo: "Promo Code" }),
    }
  })
  return summed(rows, ["units"])
}

const SUBSCRIPTION_COLUMNS = ["App Apple ID", "Subscription Apple ID", "Subscription Name", "Country"] as const

const STOCK_COLUMNS = [
  ...SUBSCRIPTION_COLUMNS, "Customer Price", "Customer Currency", "Active Standard Price Subscriptions",
  "Active Free Trial Introductory Offer Subscriptions", "Billing Retry", "Grace Period",
] as const // biome-ignore format: a list to scan

const FREE = [
  "Active Free Trial Introductory Offer Subscriptions", "Free Trial Promotional Offer Subscriptions",
  "Free Trial Offer Code Subscriptions", "Free Trial Win-back Offers",
] as const // biome-ignore format: a list to scan
const REDUCED = [
  "Active Pay Up Front Introductory Offer Subscriptions", "Active Pay As You Go Introductory Offer Subscriptions",
  "Pay Up Front Promotional Offer Subscriptions", "Pay As You Go Promotional Offer Subscriptions",
  "Pay Up Front Offer Code Subscriptions", "Pay As You Go Offer Code Subscriptions",
  "Pay Up Front Win-back Offers", "Pay As You Go Win-back Offers",
] as const // biome-ignore format: a list to scan

/** `Subscribers` is blank on small rows: it is no number to add up, and is left out. */
export function subscriptionRows(text: string): StockRow[] {
  const rows = reportTable(text, STOCK_COLUMNS).map((row): StockRow => {
    const sum = (columns: readonly string[]) => {
      return columns.reduce((total, column) => total + (row.word(column) === undefined ? 0 : row.count(column)), 0)
    }
    return {
      ...subscription(row),
      price: row.money("Customer Price"),
      currency: row.text("Customer Currency"),
      active: row.count("Active Standard Price Subscriptions"),
      ...{ trials: sum(FREE), offers: sum(REDUCED) },
      grace: row.count("Grace Period"),
      retry: row.count("Billing Retry"),
    }
  })
  return summed(rows, ["active", "trials", "offers", "grace", "retry"])
}

/** Throws ReadFailure: `mismatched` where it is of another day. */
export function subscriptionEventRows(text: string, day: string): EventRow[] {
  const rows = reportTable(text, [...SUBSCRIPTION_COLUMNS, "Event Date", "Event", "Quantity"]).map((row): EventRow => {
    checkDay(row.text("Event Date"), day)
    return {
      ...subscription(row),
      event: row.text("Event"),
      quantity: row.count("Quantity"),
      ...words(row, { offer: "Subscription Offer Type" }),
    }
  })
  return summed(rows, ["quantity"])
}

/** An app's and a subscription's names change over time; its ids do not. */
function subscription(row: ReportRow) {
  return {
    app: row.text("App Apple ID"),
    product: row.text("Subscription Apple ID"),
    name: row.text("Subscription Name") || row.text("Subscription Apple ID"),
    country: row.text("Country").toLowerCase(),
  }
}

function words<Name extends string>(row: ReportRow, columns: Record<Name, string>): { [Key in Name]?: string } {
  const said = Object.entries<string>(columns).map(([name, column]) => [name, row.word(column)] as const)
  return Object.fromEntries(said.filter(([, word]) => word !== undefined)) as { [Key in Name]?: string }
}

/** "10/24/2025" or "2025-10-24". */
function checkDay(text: string, day: string): void {
  const [, month, date, year] = /^(\d\d)\/(\d\d)\/(\d{4})$/.exec(text) ?? []
  const said = month === undefined ? text : `${year}-${month}-${date}`
  if (said !== day) throw new ReadFailure("mismatched", `the report is of another day than ${day}`)
}
