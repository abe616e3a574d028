import * as v from "valibot"
import { kind, type ObservationOf } from "../../core/kind.ts"
import { Fact, Flag } from "../../core/observation/line-parts.ts"
import { derivePrices } from "../store/derived/prices.ts"
import { readPrices, storePrices } from "../store/prices.ts"
import { CalendarDay, CountryCode, Currency, Money, Name, reportShape, Sku, Word } from "./reports-shape.ts"

export const PriceRow = v.strictObject({
  country: CountryCode,
  currency: Currency,
  price: Money,
  /** The seller's proceeds, in a subscriber's first year and after it. */
  proceeds: Money,
  proceedsYear2: v.optional(Money),
  /** The console's id of the price point. */
  point: Name,
  /** Apple derives this price from another storefront's. */
  automatic: v.optional(Flag),
  startsAt: CalendarDay,
  endsAt: CalendarDay,
  /** Existing subscribers keep this price. */
  preserved: v.optional(Flag),
  plan: Word,
  /** The price in this storefront that Apple considers equivalent to the price in the United States. */
  apple: v.optional(Money),
})

const shape = v.strictObject({
  // Prices of one read. `day` is the day of the read.
  ...reportShape(PriceRow).entries,
  /** The store's id of the app. */
  app: Name,
  /** The console's id of the product; for the app itself, the app's id. */
  product: Name,
  soldAs: v.picklist(["app", "purchase", "subscription"], "must be app, purchase or subscription"),
  /** The seller's own id. */
  sku: Sku,
  name: Name,
  period: Fact,
})
export type PricesObservation = Omit<ObservationOf<"prices", "asc-prices", typeof shape>, "storefront">

/** The prices of a product in each storefront, as the seller's console lists them. */
export const prices = kind<PricesObservation>({
  name: "prices",
  sources: ["asc-prices"],
  private: true,
  demo: true,
  everywhere: true,
  shape,
  store: async (tx, seen) => ({ placed: await storePrices(tx, seen) }),
  derive: async (tx, { placed }) => derivePrices(tx, placed),
  stored: (sql, range) => readPrices<PricesObservation>(sql, range),
  example: {
    source: "asc-prices",
    platform: "ios",
    seenAt: "2025-10-25T03:25:01Z",
    account: "ac_0123456789abcdef01",
    day: "2025-10-25",
    app: "310633997",
    product: "6702026751",
    soldAs: "subscription",
    sku: "TEA01.pro.year",
    name: "Tea Pro",
    rows: [
      {
        country: "de",
        currency: "EUR",
        price: "19.99",
        proceeds: "14.28",
        proceedsYear2: "16.79",
        point: "eyJzIjoiNjcwMjAyNjc1MSJ9",
        startsAt: "2025-09-01",
      },
    ],
  },
})
