import * as v from "valibot"
import { kind, type ObservationOf } from "../../core/kind.ts"
import { replaceFacts } from "../store/derived/facts.ts"
import { SALES } from "../store/derived/reports.ts"
import { readReports, storeReports } from "../store/reports.ts"
import { CountryCode, Currency, Money, Name, reportShape, Sku, Units, Word } from "./reports-shape.ts"

export const SalesRow = v.strictObject({
  /** SKU of the app, also if an in-app product was sold. */
  app: Sku,
  /** SKU of the product sold. */
  product: Sku,
  title: Name,
  /** The console's product type identifier. */
  type: Name,
  country: CountryCode,
  /** Negative for refunds. */
  units: Units,
  /** Price that the customer paid per unit. */
  price: Money,
  currency: Currency,
  /** The seller's proceeds per unit. */
  proceeds: Money,
  proceedsCurrency: Currency,
  /** New or Renewal. */
  subscription: Word,
  period: Word,
  promo: Word,
  /** CMB-C: the credit for a completed bundle, which lowers the money but is not a refund. */
  credit: Word,
})
export type SalesRow = v.InferOutput<typeof SalesRow>

const shape = reportShape(SalesRow)
export type SalesObservation = Omit<ObservationOf<"sales", "asc-sales", typeof shape>, "storefront">

/** The sales of a day. */
export const sales = kind<SalesObservation>({
  name: "sales",
  sources: ["asc-sales"],
  private: true,
  demo: true,
  everywhere: true,
  shape,
  facts: SALES,
  store: async (tx, seen, _, staged) => ({ placed: await storeReports(tx, "sales", seen, staged) }),
  derive: (tx, { placed }, _, staged) => replaceFacts(tx, "sales", SALES, placed, staged),
  stored: (sql, range) => readReports<SalesObservation>(sql, "sales", range),
  example: {
    source: "asc-sales",
    platform: "ios",
    seenAt: "2025-10-25T03:25:01Z",
    account: "ac_0123456789abcdef01",
    day: "2025-10-23",
    rows: [
      {
        app: "TEA01",
        product: "TEA01.pro.year",
        title: "Tea Pro",
        type: "IAY",
        country: "de",
        units: 2,
        price: "19.99",
        currency: "EUR",
        proceeds: "14.28",
        proceedsCurrency: "EUR",
        subscription: "New",
      },
    ],
  },
})
