import { dayOf } from "../../../lib/days.ts"
import { jsonOrNothing } from "../../../measuring/parsing/json.ts"
import { type RawBody, ReadFailure } from "../../../measuring/source.ts"
import type { BillingMetricsObservation } from "../../kinds/billing-metrics.ts"
import { decimal, record, text } from "./message-fields.ts"

const PARSER = 1
/** The currency in which the figures are requested. */
const METRICS_CURRENCY = "USD"

export function overviewPath(project: string): string {
  return `/v2/projects/${encodeURIComponent(project)}/metrics/overview?currency=${METRICS_CURRENCY}`
}

/**
 * Parses the response of GET /v2/projects/{id}/metrics/overview. A missing figure is null. Throws ReadFailure when
 * there are no figures at all.
 */
export function metricsIn(account: string, body: RawBody): BillingMetricsObservation {
  const { metrics } = record(jsonOrNothing(body.text))
  const rows = (Array.isArray(metrics) ? metrics : []).flatMap((item) => {
    const { id, period, value } = record(item)
    const [metric, amount] = [text(id), decimal(value)]
    return metric && amount !== undefined ? [{ metric, period: text(period), value: amount }] : []
  })
  if (rows.length === 0) throw new ReadFailure("changed", "the overview has no figures")
  const { seenAt, sha256 } = body
  return {
    kind: "billing_metrics",
    source: "revenuecat-metrics",
    platform: "ios",
    parser: PARSER,
    origin: "own",
    account,
    day: dayOf(seenAt),
    currency: METRICS_CURRENCY,
    rows,
    seenAt,
    sha256,
  }
}

/** Returns the App Store apps of a project, with their bundle ids. */
export function storeAppsIn(document: unknown): { id: string; name: string; bundleId: string }[] {
  const { items } = record(document)
  return (Array.isArray(items) ? items : []).flatMap((item) => {
    const app = record(item)
    const [id, bundleId] = [text(app.id), text(record(app.app_store).bundle_id)]
    return app.type === "app_store" && id && bundleId ? [{ id, name: text(app.name) ?? bundleId, bundleId }] : []
  })
}
