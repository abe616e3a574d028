import * as v from "valibot"
import { kind, type ObservationOf } from "../../core/kind.ts"
import { readBillingMetrics, storeBillingMetrics } from "../store/billing-metrics.ts"
import { Currency, Money, Name, reportShape, Word } from "./reports-shape.ts"

const MetricRow = v.strictObject({
  /** As the service names it: mrr, active_trials. */
  metric: Name,
  /** Of which time: P0D is now. */
  period: Word,
  value: Money,
})

const shape = v.strictObject({
  // the UTC day on which it was seen
  ...reportShape(MetricRow).entries,
  /** Of those that are money. */
  currency: Currency,
})
export type BillingMetricsObservation = Omit<
  ObservationOf<"billing_metrics", "revenuecat-metrics", typeof shape>,
  "storefront"
>

/** What a billing service reckons of a whole project: figures that no message holds, and nobody else derives. */
export const billingMetrics = kind<BillingMetricsObservation>({
  name: "billing_metrics",
  sources: ["revenuecat-metrics"],
  private: true,
  everywhere: true,
  shape,
  store: async (tx, seen) => ({ placed: await storeBillingMetrics(tx, seen) }),
  stored: (sql, range) => readBillingMetrics<BillingMetricsObservation>(sql, range),
  example: {
    source: "revenuecat-metrics",
    platform: "ios",
    seenAt: "2025-10-25T03:25:01Z",
    account: "ac_0123456789abcdef01",
    day: "2025-10-25",
    currency: "USD",
    rows: [
      { metric: "mrr", period: "P28D", value: "4210.55" },
      { metric: "active_subscriptions", period: "P0D", value: "1035" },
      { metric: "active_trials", period: "P0D", value: "58" },
    ],
  },
})
