import * as v from "valibot"
import { rule } from "../../core/observation/shape.ts"
import { Amount, CountryCode, Currency, Money, Name, reportShape, Sku, Units } from "./reports-shape.ts"

/**
 * The object in the bucket with its generation. A later generation of the same object replaces the days of the earlier
 * one.
 */
const PlayFile = v.pipe(
  Name,
  rule("bad_text", "a file must be an object's name, #, and a generation", (file) => /^[^#]+#\d{1,20}$/.test(file)),
)

/**
 * Counts of an app on a day, for one country or one traffic source if the file distinguishes them. Google withholds
 * small values: a withheld or absent value is omitted, which differs from 0.
 */
export const PlayCountRow = v.strictObject({
  /** Omitted if the file has no countries, or if the row sums up small countries. */
  country: v.optional(CountryCode),
  /** The file's name of the traffic source. */
  from: v.optional(Name),
  /** The search that led visitors to the store page. */
  term: v.optional(Name),
  /** Users who installed the app and had it on no other device. */
  userInstalls: v.optional(Amount),
  userUninstalls: v.optional(Amount),
  totalUserInstalls: v.optional(Amount),
  deviceInstalls: v.optional(Amount),
  deviceUninstalls: v.optional(Amount),
  deviceUpgrades: v.optional(Amount),
  activeDevices: v.optional(Amount),
  installEvents: v.optional(Amount),
  updateEvents: v.optional(Amount),
  uninstallEvents: v.optional(Amount),
  /** Users who saw the store page without having the app, and those of them who installed it. */
  visitors: v.optional(Amount),
  acquisitions: v.optional(Amount),
  /** Decimal text: the average of the day's ratings, and of all ratings. */
  ratingOfDay: v.optional(Money),
  rating: v.optional(Money),
  crashes: v.optional(Amount),
  /** Number of times that the app did not respond. */
  freezes: v.optional(Amount),
})
export type PlayCountRow = v.InferOutput<typeof PlayCountRow>

export const playCountShape = v.strictObject({
  ...reportShape(PlayCountRow).entries,
  /** The package of the app. */
  app: Name,
  file: PlayFile,
})

/** `app`: the app itself was sold. */
const SOLD_AS = ["app", "purchase", "subscription"] as const
export type PlaySoldAs = (typeof SOLD_AS)[number]

const sold = {
  /** The package of the app. */
  app: Sku,
  /** The seller's id of the product; for the app itself, the package. */
  product: Sku,
  title: Name,
  soldAs: v.picklist(SOLD_AS, "must be app, purchase or subscription"),
  country: CountryCode,
  /** Sold minus refunded. A partial refund does not reduce the number of units. */
  units: Units,
  refunds: Amount,
  /** Units that cost nothing. */
  free: Amount,
  /** The buyers' currency. */
  currency: Currency,
  /** Paid by the buyers, minus refunds. */
  gross: Money,
  /** Refunded to the buyers, as a positive number. */
  refunded: Money,
}

/** Transactions of a day, summed up by product, country and currencies. */
export const PlayEarningsRow = v.strictObject({
  ...sold,
  /** The seller's currency. */
  merchantCurrency: Currency,
  /** The seller's proceeds: the sum of all transactions, including Google's fees, which are negative. */
  proceeds: Money,
})
export type PlayEarningsRow = v.InferOutput<typeof PlayEarningsRow>

/** Orders of a day. The report has no fees and no currency of the seller. */
export const PlaySalesRow = v.strictObject(sold)
export type PlaySalesRow = v.InferOutput<typeof PlaySalesRow>

export const playEarningsShape = v.strictObject({ ...reportShape(PlayEarningsRow).entries, file: PlayFile })
export const playSalesShape = v.strictObject({ ...reportShape(PlaySalesRow).entries, file: PlayFile })
