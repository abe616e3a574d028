import * as v from "valibot"
import { kind, type ObservationOf } from "../../core/kind.ts"
import { readBillingMetrics, storeBillingMetrics } from "../store/billing-metrics.ts"
import { Currency, Money, Name, reportShape, Word } from "./reports-shape.ts"

const MetricRow = v.strictObject({
  /** The service's name of the metric: mrr, active_trials. */
  metric: Name,
  /** The period that the metric covers: P0D is now. */
  period: Word,
  value: Money,
})

const shape = v.strictObject({
  // Figures of one read. `day` is the UTC day of the read.
  ...reportShape(MetricRow).entries,
  /** The currency of metrics that are money. */
  currency: Currency,
})
export type BillingMetricsObservation = Omit<
  ObservationOf<"billing_metrics", "revenuecat-metrics", typeof shape>,
  "storefront"
>

/**
 * Figures that a billing service computes for a whole project. Messages do not contain them, and they cannot be derived
 * from other data.
 */
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
