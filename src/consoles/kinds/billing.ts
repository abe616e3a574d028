import { kind, type ObservationOf } from "../../core/kind.ts"
import { BILLING_SOURCES, type BillingSource } from "../../lib/upstreams.ts"
import { readBillingEvents, storeBillingEvents } from "../store/billing.ts"
import { billingShape } from "./billing-shape.ts"

export type BillingObservation = Omit<ObservationOf<"billing_event", BillingSource, typeof billingShape>, "storefront">

/** An event of one purchase, sent by a billing service or the store. The buyer is not stored. */
export const billingEvent = kind<BillingObservation>({
  name: "billing_event",
  sources: BILLING_SOURCES,
  private: true,
  everywhere: true,
  shape: billingShape,
  store: async (tx, seen) => ({ placed: await storeBillingEvents(tx, seen) }),
  stored: (sql, range) => readBillingEvents<BillingObservation>(sql, range),
  example: {
    source: "revenuecat",
    platform: "ios",
    seenAt: "2025-10-25T03:25:01Z",
    account: "ac_0123456789abcdef01",
    eventId: "12345678-1234-1234-1234-123456789012",
    type: "RENEWAL",
    countsAs: "renewal",
    environment: "production",
    store: "app_store",
    happenedAt: "2025-10-25T03:24:58Z",
    product: "TEA01.pro.year",
    country: "de",
    countryIs: "last_contact",
    currency: "EUR",
    price: "19.99",
    priceUsd: "23.21",
  },
})
