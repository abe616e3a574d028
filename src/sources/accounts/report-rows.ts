import type { SalesRow } from "../../observations/kinds/sales.ts"
import type { EventRow, RedemptionRow, StockRow } from "../../observations/kinds/subscriptions.ts"
import { ReadFailure } from "../source.ts"
import { createSum, type ReportRow, reportTable } from "./report-table.ts"

const SALES_COLUMNS = [
  "SKU", "Title", "Product Type Identifier", "Units", "Developer Proceeds", "Begin Date", "Customer Currency", "Country Code",
  "Currency of Proceeds", "Customer Price", "Parent Identifier",
] as const // biome-ignore format: a list to scan

/** Devices, versions and clients are added up. Throws ReadFailure: `mismatched` where it is of another day. */
export async function salesRows(lines: AsyncIterable<string>, day: string): Promise<SalesRow[]> {
  const sum = createSum<SalesRow>(["units"])
  for await (const row of reportTable(lines, SALES_COLUMNS)) {
    checkDay(row.text("Begin Date"), day)
    const product = row.text("SKU")
    sum.add({
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
    })
  }
  return sum.rows()
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
export async function subscriptionRows(lines: AsyncIterable<string>): Promise<StockRow[]> {
  const sum = createSum<StockRow>(["active", "trials", "offers", "grace", "retry"])
  for await (const row of reportTable(lines, STOCK_COLUMNS))
    sum.add({
      ...subscription(row),
      price: row.money("Customer Price"),
      currency: row.text("Customer Currency"),
      active: row.count("Active Standard Price Subscriptions"),
      ...{ trials: totalOf(row, FREE), offers: totalOf(row, REDUCED) },
      grace: row.count("Grace Period"),
      retry: row.count("Billing Retry"),
    })
  return sum.rows()
}

/** Of columns that some versions of the report leave out. */
function totalOf(row: ReportRow, columns: readonly string[]): number {
  return columns.reduce((total, column) => total + (row.word(column) === undefined ? 0 : row.count(column)), 0)
}

/** Throws ReadFailure: `mismatched` where it is of another day. */
export async function subscriptionEventRows(lines: AsyncIterable<string>, day: string): Promise<EventRow[]> {
  const sum = createSum<EventRow>(["quantity"])
  for await (const row of reportTable(lines, [...SUBSCRIPTION_COLUMNS, "Event Date", "Event", "Quantity"])) {
    checkDay(row.text("Event Date"), day)
    sum.add({
      ...subscription(row),
      event: row.text("Event"),
      quantity: row.count("Quantity"),
      ...words(row, { offer: "Subscription Offer Type" }),
    })
  }
  return sum.rows()
}

const REDEMPTION_COLUMNS = [
  "Date", "App Apple ID", "Subscription Apple ID", "Subscription Name", "Offer Reference Name", "Territory", "Redemptions",
] as const // biome-ignore format: a list to scan

/** Throws ReadFailure: `mismatched` where it is of another day. */
export async function redemptionRows(lines: AsyncIterable<string>, day: string): Promise<RedemptionRow[]> {
  const sum = createSum<RedemptionRow>(["redemptions"])
  for await (const row of reportTable(lines, REDEMPTION_COLUMNS)) {
    checkDay(row.text("Date"), day)
    sum.add({
      ...subscription(row, "Territory"),
      offer: row.text("Offer Reference Name"),
      redemptions: row.count("Redemptions"),
      ...words(row, { code: "Offer Code" }),
    })
  }
  return sum.rows()
}

/** An app's and a subscription's names change over time; its ids do not. */
function subscription(row: ReportRow, country = "Country") {
  return {
    app: row.text("App Apple ID"),
    product: row.text("Subscription Apple ID"),
    name: row.text("Subscription Name") || row.text("Subscription Apple ID"),
    country: row.text(country).toLowerCase(),
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
