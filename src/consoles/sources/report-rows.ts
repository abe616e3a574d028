import { cutText } from "../../lib/text.ts"
import { checkedRow, type PutAside } from "../../measuring/parsing/put-aside.ts"
import { ReadFailure } from "../../measuring/source.ts"
import { MAX_NAME, MAX_SKU, MAX_WORD, NO_COUNTRY, NO_CURRENCY } from "../kinds/reports-shape.ts"
import { SalesRow } from "../kinds/sales.ts"
import { EventRow, RedemptionRow, StockRow } from "../kinds/subscriptions.ts"
import { createSum, type ReportRow, reportTable } from "./report-table.ts"

const SALES_COLUMNS = [
  "SKU",
  "Title",
  "Product Type Identifier",
  "Units",
  "Developer Proceeds",
  "Begin Date",
  "Customer Currency",
  "Country Code",
  "Currency of Proceeds",
  "Customer Price",
  "Parent Identifier",
] as const

/** The day of a report, and the collector of unreadable rows. */
export interface ReportDay {
  day: string
  aside: PutAside
}

const salesRow = checkedRow<SalesRow>(SalesRow)

/**
 * Returns the rows of a sales report, summed up over devices, versions and clients. Rows of another day are skipped.
 */
export async function salesRows(lines: AsyncIterable<string>, { day, aside }: ReportDay): Promise<SalesRow[]> {
  const sum = createSum<SalesRow>(["units"])
  for await (const row of reportTable(lines, SALES_COLUMNS, aside))
    aside.row(row.name, () => {
      checkDay(row.text("Begin Date"), day)
      const product = cutText(row.text("SKU"), MAX_SKU)
      if (product === "") throw new ReadFailure("changed", "it has no SKU")
      sum.add(
        salesRow({
          // An in-app product names its app by the app's SKU.
          app: cutText(row.text("Parent Identifier"), MAX_SKU) || product,
          product,
          title: cutText(row.text("Title") || product, MAX_NAME),
          type: cutText(row.text("Product Type Identifier") || "UNKNOWN", MAX_NAME),
          country: countryOf(row, "Country Code"),
          units: row.count("Units"),
          price: row.money("Customer Price"),
          currency: currencyOf(row, "Customer Currency"),
          proceeds: row.money("Developer Proceeds"),
          proceedsCurrency: currencyOf(row, "Currency of Proceeds"),
          ...words(row, { subscription: "Subscription", period: "Period", promo: "Promo Code" }),
          ...(/^CMB-C$/i.test(row.word("CMB") ?? "") && { credit: "CMB-C" }),
        }),
      )
    })
  return sum.rows()
}

/** A row without a country is kept, because its units and money still count. */
function countryOf(row: ReportRow, column: string): string {
  const code = row.text(column).toLowerCase()
  return /^[a-z]{2}$/.test(code) ? code : NO_COUNTRY
}

/** Free downloads may have no currency. */
function currencyOf(row: ReportRow, column: string): string {
  const code = row.text(column).toUpperCase()
  return /^[A-Z]{3}$/.test(code) ? code : NO_CURRENCY
}

const SUBSCRIPTION_COLUMNS = ["App Apple ID", "Subscription Apple ID", "Subscription Name", "Country"] as const

const STOCK_COLUMNS = [
  ...SUBSCRIPTION_COLUMNS,
  "Customer Price",
  "Customer Currency",
  "Active Standard Price Subscriptions",
  "Active Free Trial Introductory Offer Subscriptions",
  "Billing Retry",
  "Grace Period",
] as const

const FREE = [
  "Active Free Trial Introductory Offer Subscriptions",
  "Free Trial Promotional Offer Subscriptions",
  "Free Trial Offer Code Subscriptions",
  "Free Trial Win-back Offers",
] as const
const REDUCED = [
  "Active Pay Up Front Introductory Offer Subscriptions",
  "Active Pay As You Go Introductory Offer Subscriptions",
  "Pay Up Front Promotional Offer Subscriptions",
  "Pay As You Go Promotional Offer Subscriptions",
  "Pay Up Front Offer Code Subscriptions",
  "Pay As You Go Offer Code Subscriptions",
  "Pay Up Front Win-back Offers",
  "Pay As You Go Win-back Offers",
] as const

const stockRow = checkedRow<StockRow>(StockRow)

/** `Subscribers` is left out: it is blank on small rows, so its sum would be wrong. */
export async function subscriptionRows(lines: AsyncIterable<string>, { aside }: ReportDay): Promise<StockRow[]> {
  const sum = createSum<StockRow>(["active", "trials", "offers", "grace", "retry"])
  for await (const row of reportTable(lines, STOCK_COLUMNS, aside))
    aside.row(row.name, () =>
      sum.add(
        stockRow({
          ...subscription(row),
          price: row.money("Customer Price"),
          currency: currencyOf(row, "Customer Currency"),
          active: row.count("Active Standard Price Subscriptions"),
          trials: totalOf(row, FREE),
          offers: totalOf(row, REDUCED),
          grace: row.count("Grace Period"),
          retry: row.count("Billing Retry"),
        }),
      ),
    )
  return sum.rows()
}

/** Sums columns. Some versions of the report lack some of them. */
function totalOf(row: ReportRow, columns: readonly string[]): number {
  return columns.reduce((total, column) => total + (row.word(column) === undefined ? 0 : row.count(column)), 0)
}

const eventRow = checkedRow<EventRow>(EventRow)

/** Returns the rows of a subscription report. Rows of another day are skipped. */
export async function subscriptionEventRows(
  lines: AsyncIterable<string>,
  { day, aside }: ReportDay,
): Promise<EventRow[]> {
  const sum = createSum<EventRow>(["quantity"])
  for await (const row of reportTable(lines, [...SUBSCRIPTION_COLUMNS, "Event Date", "Event", "Quantity"], aside))
    aside.row(row.name, () => {
      checkDay(row.text("Event Date"), day)
      sum.add(
        eventRow({
          ...subscription(row),
          event: cutText(row.text("Event") || "Unknown", MAX_NAME),
          quantity: row.count("Quantity"),
          ...words(row, { offer: "Subscription Offer Type" }),
        }),
      )
    })
  return sum.rows()
}

const REDEMPTION_COLUMNS = [
  "Date",
  "App Apple ID",
  "Subscription Apple ID",
  "Subscription Name",
  "Offer Reference Name",
  "Territory",
  "Redemptions",
] as const

const redemptionRow = checkedRow<RedemptionRow>(RedemptionRow)

/** Returns the rows of a redemptions report. Rows of another day are skipped. */
export async function redemptionRows(
  lines: AsyncIterable<string>,
  { day, aside }: ReportDay,
): Promise<RedemptionRow[]> {
  const sum = createSum<RedemptionRow>(["redemptions"])
  for await (const row of reportTable(lines, REDEMPTION_COLUMNS, aside))
    aside.row(row.name, () => {
      checkDay(row.text("Date"), day)
      sum.add(
        redemptionRow({
          ...subscription(row, "Territory"),
          offer: cutText(row.text("Offer Reference Name"), MAX_NAME),
          redemptions: row.count("Redemptions"),
          ...words(row, { code: "Offer Code" }),
        }),
      )
    })
  return sum.rows()
}

/** Apps and subscriptions are identified by their ids, because their names change over time. */
function subscription(row: ReportRow, country = "Country") {
  return {
    app: row.text("App Apple ID"),
    product: row.text("Subscription Apple ID"),
    name: cutText(row.text("Subscription Name") || row.text("Subscription Apple ID"), MAX_NAME),
    country: countryOf(row, country),
  }
}

function words<Name extends string>(row: ReportRow, columns: Record<Name, string>): { [Key in Name]?: string } {
  const found = Object.entries<string>(columns).flatMap(([name, column]) => {
    const word = row.word(column)
    return word === undefined ? [] : [[name, cutText(word, MAX_WORD)] as const]
  })
  return Object.fromEntries(found) as { [Key in Name]?: string }
}

/** Checks a date like "10/24/2025" or "2025-10-24". Throws ReadFailure when it is another day. */
function checkDay(text: string, day: string): void {
  const [, month = "", date = "", year] = /^(\d\d?)\/(\d\d?)\/(\d{4})$/.exec(text) ?? []
  const found = year === undefined ? text : `${year}-${month.padStart(2, "0")}-${date.padStart(2, "0")}`
  if (found !== day) throw new ReadFailure("mismatched", `it is of another day than ${day}`)
}
