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

const Amount = described(v.pipe(v.string(), v.regex(/^\d+(\.\d+)?$/)), "Decimal, in the storefront's currency.")
const Starts = v.pipe(v.string(), v.isoDate())

const ProductShape = named(
  "SoldProduct",
  v.strictObject({
    product: described(v.string(), "The console's id; of the app itself the app's."),
    soldAs: v.picklist(["app", "purchase", "subscription"]),
    sku: described(v.string(), "The seller's own id."),
    name: v.string(),
    period: described(v.nullable(v.string()), "Of a subscription, as the console says it, such as ONE_YEAR."),
  }),
)

const CountryPrice = named(
  "CountryPrice",
  v.strictObject({
    country: v.string(),
    currency: v.string(),
    price: described(v.nullable(Amount), "What a new customer pays; null = only an announced price stands there."),
    proceeds: described(v.nullable(Amount), "What the seller gets, before any settlement."),
    proceedsYear2: described(v.nullable(Amount), "Of a subscription after a subscriber's first year."),
    automatic: described(
      v.nullable(v.boolean()),
      "Whether Apple derives it from another storefront's; null = the console does not say.",
    ),
    startsAt: described(v.nullable(Starts), "Since when, where the console says it."),
    upcoming: described(
      v.nullable(v.strictObject({ price: Amount, startsAt: Starts })),
      "What was announced next; null = nothing.",
    ),
    preserved: described(Count, "Earlier prices that old subscribers keep."),
    applePrice: described(
      v.nullable(Amount),
      "What Apple would have the storefront pay, by the price in the United States.",
    ),
    usd: described(
      v.nullable(v.strictObject({ value: v.number(), rate: v.number(), rateDate: Starts, rateSource: v.string() })),
      "In US dollars by a dated rate, for comparison alone; null = no rate is at hand.",
    ),
    index: described(v.nullable(v.number()), "The dollar value, the United States = 100."),
    affordability: described(
      v.nullable(
        v.strictObject({
          bigMacs: described(v.number(), "How many Big Macs the price buys there."),
          index: described(
            v.nullable(v.number()),
            "The same, the United States = 100: over it, dearer to people there.",
          ),
        }),
      ),
      "By affordabilitySource; null where it has no figure.",
    ),
    rivals: described(
      v.nullable(
        v.strictObject({
          median: described(Amount, "Of those that cost something, in the same currency."),
          count: described(Count, `How many those are: ${MIN_RIVALS} or more.`),
          free: described(Count, "Others, that cost nothing to download; they are in no median."),
          asOf: described(Time, "When the price that was read longest ago was read."),
        }),
      ),
      `What rivals that are followed in that storefront ask for their apps. Null = fewer than ${MIN_RIVALS} of them are known to cost something, or the product is sold within the app: what rivals ask there is public as ranges alone.`,
    ),
  }),
)

export const getCountryPrices = operation({
  id: "get_country_prices",
  method: "GET",
  path: "/apps/:appId/country-prices",
  group: "Revenue and ads",
  toolset: "revenue",
  summary: "What one product costs in every storefront, beside Apple's own price and what people there can afford.",
  description:
    "From the seller's console: read now where what is stored is over a day old, else as stored. No price is proposed.",
  effect: "reads",
  scope: "revenue:read",
  plan: "pro",
  price: 1,
  faults: ["not_connected", "not_measured", "unsupported_platform"],
  input: ofApp({
    country: described(v.optional(Country), "Two-letter storefront code; all when left out."),
    product: described(
      v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(200))),
      "The console's id or the seller's own; the first subscription, else purchase, else the app when left out.",
    ),
  }),
  narrow: { rows: ["countries", "products"] },
  output: v.strictObject({
    product: ProductShape,
    products: described(v.array(ProductShape), "All that the app sells, as the console lists it."),
    country: described(v.nullable(v.string()), "As asked; null = all storefronts."),
    account: v.strictObject({
      id: v.string(),
      state: v.picklist(ANSWERED_STATES),
      why: described(v.nullable(v.string()), "Who must do what, or what failed; null = nothing."),
    }),
    asOf: described(Time, "When the console last said this."),
    live: described(v.boolean(), "Whether it was asked within this call."),
    countries: described(
      v.array(CountryPrice),
      "Storefronts in which it is sold, by code. One that is not listed does not sell it, which is not free.",
    ),
    affordabilitySource: v.strictObject({
      name: v.literal(PRICE_LEVELS.name),
      licence: v.literal(PRICE_LEVELS.licence),
      asOf: described(v.literal(PRICE_LEVELS.asOf), "Of its prices, and of the rates by which dollars are reckoned."),
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
        latest.entries.filter((one) => one.country === "us"),
        today,
      ),
      {
        ...{ today, country: code },
        rivals: product.soldAs === "app" ? await readRivalPrices(ctx.sql, app.id) : [],
      },
    ),
    affordabilitySource: PRICE_LEVELS,
  }
})

/** Throws not_measured when no product is listed yet, and invalid_arguments when the app does not sell the product. */
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
  const product = products.find((one) => wanted === undefined || [one.product, one.sku].includes(wanted))
  if (product) return { products, product }
  const names = products.slice(0, 20).map(({ sku }) => sku)
  throw new Fault("invalid_arguments", {
    field: "product",
    detail: `The app sells no ${wanted}; the console lists ${names.join(", ")}${products.length > 20 ? " and others" : ""}.`,
  })
}

function unread({ createdAt, state, why }: AppAccount, whyNot: string | null): Fault {
  const since = `Connected since ${createdAt.toISOString().slice(0, 16)}Z`
  if (why !== null) return new Fault("not_measured", { detail: `${since}; ${state}: ${why}.` })
  return new Fault("not_measured", {
    detail: `${since}; ${whyNot ?? "a running server reads prices within the first hour, and then once a day"}.`,
  })
}
