import * as v from "valibot"
import { type Context, ofApp, operation } from "../../core/operation.ts"
import { dayOf } from "../../lib/days.ts"
import { Fault } from "../../lib/faults.ts"
import { Country } from "../../lib/fields.ts"
import { described, named } from "../../lib/schema.ts"
import { readRivalPrices } from "../../listings/read/rival-prices.ts"
import { Count, Time } from "../../tracking/shapes.ts"
import { entryInForce } from "../formulas/price-periods.ts"
import type { AppAccount } from "../read/app-accounts.ts"
import { PRICE_LEVELS } from "../seller/price-levels.ts"
import { readProductPrices, readSoldProducts, type SoldProduct } from "../seller/read-country-prices.ts"
import { ANSWERED_STATES } from "../state.ts"
import { findReportingAccount } from "./account-shapes.ts"
import { MIN_RIVALS, pricedCountries } from "./priced-countries.ts"
import { readLive } from "./read-prices-live.ts"

const Amount = described(v.pipe(v.string(), v.regex(/^\d+(\.\d+)?$/)), "Decimal number, in the storefront's currency.")
const Starts = v.pipe(v.string(), v.isoDate())

const ProductShape = named(
  "SoldProduct",
  v.strictObject({
    product: described(v.string(), "Product id in the console; for the app itself, the app's id."),
    soldAs: v.picklist(["app", "purchase", "subscription"]),
    sku: described(v.string(), "SKU of the seller."),
    name: v.string(),
    period: described(v.nullable(v.string()), "Subscription period as the console names it, such as ONE_YEAR."),
  }),
)

const CountryPrice = named(
  "CountryPrice",
  v.strictObject({
    country: v.string(),
    currency: v.string(),
    price: described(v.nullable(Amount), "Price for new customers. Null if there is only an announced price."),
    proceeds: described(v.nullable(Amount), "Proceeds of the seller, before settlement."),
    proceedsYear2: described(v.nullable(Amount), "Proceeds after a subscriber's first year."),
    automatic: described(
      v.nullable(v.boolean()),
      "True if Apple derives the price from another storefront. Null if unknown.",
    ),
    startsAt: described(v.nullable(Starts), "First day of the price, if known."),
    upcoming: described(
      v.nullable(v.strictObject({ price: Amount, startsAt: Starts })),
      "The next announced price. Null if there is none.",
    ),
    preserved: described(Count, "Earlier prices preserved for existing subscribers."),
    applePrice: described(
      v.nullable(Amount),
      "The price that Apple considers equivalent to the price in the United States.",
    ),
    usd: described(
      v.nullable(v.strictObject({ value: v.number(), rate: v.number(), rateDate: Starts, rateSource: v.string() })),
      "In US dollars at a dated exchange rate, only for comparison. Null without a rate.",
    ),
    index: described(v.nullable(v.number()), "The dollar value on a scale where the United States is 100."),
    affordability: described(
      v.nullable(
        v.strictObject({
          bigMacs: described(v.number(), "Number of Big Macs that the price buys there."),
          index: described(
            v.nullable(v.number()),
            "The number of Big Macs on a scale where the United States is 100. Above 100, the price is less " +
              "affordable there.",
          ),
        }),
      ),
      "Based on affordabilitySource. Null if that source has no figure for the storefront.",
    ),
    rivals: described(
      v.nullable(
        v.strictObject({
          median: described(Amount, "Median of the paid apps, in the same currency."),
          count: described(Count, `Number of paid apps: ${MIN_RIVALS} or more.`),
          free: described(Count, "Number of free apps. They are not part of the median."),
          asOf: described(Time, "Time of the oldest price reading used."),
        }),
      ),
      `App prices of the rivals in that storefront. Null if fewer than ${MIN_RIVALS} paid rivals are known, and ` +
        "for an in-app product, because rivals' in-app prices are public only as ranges.",
    ),
  }),
)

export const getCountryPrices = operation({
  id: "get_country_prices",
  method: "GET",
  path: "/apps/:appId/country-prices",
  group: "Revenue and ads",
  toolset: "revenue",
  summary: "Returns a product's price in every storefront, with Apple's equivalent price and local affordability.",
  description:
    "Prices are from the seller's console. Those stored more than a day ago are read again during the call. " +
    "Proposes no price.",
  effect: "reads",
  scope: "revenue:read",
  plan: "pro",
  price: 1,
  faults: ["not_connected", "not_measured", "unsupported_platform"],
  input: ofApp({
    country: described(v.optional(Country), "Two-letter storefront code. Default: all."),
    product: described(
      v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(200))),
      "Product id in the console, or the SKU. Default: the first subscription, else the first purchase, else the app.",
    ),
  }),
  narrow: { rows: ["countries", "products"] },
  output: v.strictObject({
    product: ProductShape,
    products: described(v.array(ProductShape), "All products of the app in the console."),
    country: described(v.nullable(v.string()), "The requested storefront. Null for all."),
    account: v.strictObject({
      id: v.string(),
      state: v.picklist(ANSWERED_STATES),
      why: described(v.nullable(v.string()), "Who must do what, or what failed. Null if there is no problem."),
    }),
    asOf: described(Time, "Time of the reading."),
    live: described(v.boolean(), "True if the console was read during this call."),
    countries: described(
      v.array(CountryPrice),
      "Storefronts that sell the product, by code. A storefront that is not listed does not sell the product; " +
        "this does not mean that it is free there.",
    ),
    affordabilitySource: v.strictObject({
      name: v.literal(PRICE_LEVELS.name),
      licence: v.literal(PRICE_LEVELS.licence),
      asOf: described(v.literal(PRICE_LEVELS.asOf), "Date of the Big Mac prices and of the exchange rates."),
    }),
  }),
}).run(async ({ app, country, product: wanted }, ctx) => {
  const account = await findReportingAccount(app, ctx)
  const { products, product } = await findProduct(account, wanted, ctx)
  const reading = await readLive(account, product.product, ctx)
  const latest = await readProductPrices(ctx.sql, account, product.product)
  if (!latest) throw unread(account, reading.why)
  const code = country?.toLowerCase() ?? null
  const today = dayOf(ctx.now())
  return {
    product,
    products: [...products],
    country: code,
    account: { id: account.id, state: account.state, why: account.why ?? reading.why },
    asOf: (reading.readAt ?? latest.seenAt).toISOString(),
    live: reading.isLive,
    countries: pricedCountries(
      latest.entries,
      entryInForce(
        latest.entries.filter((item) => item.country === "us"),
        today,
      ),
      {
        today,
        country: code,
        rivals: product.soldAs === "app" ? await readRivalPrices(ctx.sql, app.id) : [],
      },
    ),
    affordabilitySource: PRICE_LEVELS,
  }
})

/**
 * Returns the prices of the product. Throws not_measured when no product is listed yet, and invalid_arguments when the
 * app does not sell the product.
 */
async function findProduct(
  account: AppAccount,
  wanted: string | undefined,
  ctx: Context,
): Promise<{ products: readonly SoldProduct[]; product: SoldProduct }> {
  let products = await readSoldProducts(ctx.sql, account)
  if (products.length === 0) {
    const { why } = await readLive(account, null, ctx)
    products = await readSoldProducts(ctx.sql, account)
    if (products.length === 0) throw unread(account, why)
  }
  const product = products.find((item) => wanted === undefined || [item.product, item.sku].includes(wanted))
  if (product) return { products, product }
  const names = products.slice(0, 20).map(({ sku }) => sku)
  throw new Fault("invalid_arguments", {
    field: "product",
    detail:
      `The app has no product ${wanted}. The console lists ` +
      `${names.join(", ")}${products.length > 20 ? " and others" : ""}.`,
  })
}

function unread({ createdAt, state, why }: AppAccount, whyNot: string | null): Fault {
  const since = `Connected since ${createdAt.toISOString().slice(0, 16)}Z`
  if (why !== null) return new Fault("not_measured", { detail: `${since}; ${state}: ${why}.` })
  return new Fault("not_measured", {
    detail: `${since}; ${whyNot ?? "a running server reads prices within the first hour, and then once a day"}.`,
  })
}
