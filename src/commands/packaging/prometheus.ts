import type { Deployment } from "./deployment.ts"

/** An alert for the operator. `expr` uses only metrics of GET /metrics. */
interface AlertRule {
  alert: string
  expr: string
  /** How long `expr` must hold. */
  for: string
  severity: "page" | "ticket"
  summary: string
  /** The remedy, or where to look. */
  action: string
}

export const ALERT_RULES: readonly AlertRule[] = [
  {
    alert: "AppmeterDatabaseAway",
    expr: "appmeter_database_up == 0",
    for: "2m",
    severity: "page",
    summary: "The database has not answered within a second.",
    action: "Calls are answered with 503 meanwhile and not charged; see: appmeter doctor",
  },
  {
    alert: "AppmeterErrors",
    expr: "increase(appmeter_internal_errors_total[10m]) > 0",
    for: "0m",
    severity: "ticket",
    summary: "{{ $value | humanize }} internal errors occurred in ten minutes.",
    action: "Each has a line internal_error in the log, with the request id",
  },
  {
    alert: "AppmeterSlow",
    expr: "histogram_quantile(0.99, sum by (le) (rate(appmeter_call_duration_seconds_bucket[10m]))) > 2.5",
    for: "15m",
    severity: "ticket",
    summary: "One call in a hundred takes {{ $value | humanizeDuration }} or longer.",
    action: "appmeter_calls_waiting shows whether calls wait for the database",
  },
  {
    alert: "AppmeterNobodyReads",
    expr: "appmeter_readers == 0 and on (instance) max by (instance) (appmeter_due) > 0",
    for: "10m",
    severity: "page",
    summary: "Readings are due, and no process reads the stores.",
    action: "Start appmeter work, or a server without MEASURE=no",
  },
  {
    alert: "AppmeterOverdue",
    expr: "max by (kind, platform) (appmeter_due_oldest_seconds) > 86400",
    for: "1h",
    severity: "ticket",
    summary: "{{ $labels.kind }} on {{ $labels.platform }} has waited for {{ $value | humanizeDuration }}.",
    action: "More readings are due than can be made, or the source refuses requests; see: appmeter sources",
  },
  {
    alert: "AppmeterSourceBroken",
    expr: "max by (kind) (appmeter_source_alerts_open) > 0",
    for: "5m",
    severity: "ticket",
    summary: "A source of measurements is broken ({{ $labels.kind }}).",
    action: "Its data is not measured meanwhile; see: appmeter sources",
  },
  {
    alert: "AppmeterShort",
    expr: "max by (upstream) (appmeter_requests_short_per_day) > 0",
    for: "6h",
    severity: "ticket",
    summary: "{{ $value | humanize }} requests a day to {{ $labels.upstream }} exceed the rate limit.",
    action: "Track less, follow fewer storefronts in MARKET, or also read from another address (EGRESS)",
  },
  {
    alert: "AppmeterUndelivered",
    expr:
      "max by (channel) (appmeter_deliveries_undelivered_last_day) > 0 " +
      "or max by (channel) (appmeter_channels_disabled) > 0",
    for: "0m",
    severity: "ticket",
    summary: "A {{ $labels.channel }} channel did not accept alerts.",
    action: "appmeter channel list shows the reason; appmeter channel test sends a test message",
  },
  {
    alert: "AppmeterLimitsAlone",
    expr: "increase(appmeter_limits_fallbacks_total[10m]) > 0",
    for: "10m",
    severity: "ticket",
    summary: "The rate-limit store does not answer, so each process counts calls separately.",
    action: "Check Redis or Upstash; calls are still answered",
  },
]

/** Returns a Prometheus rule file. */
export function prometheusRules(_: Deployment): string {
  const rules = ALERT_RULES.map(
    ({ alert, expr, for: time, severity, summary, action }) => `      - alert: ${alert}
        expr: ${quoted(expr)}
        for: ${time}
        labels:
          severity: ${severity}
        annotations:
          summary: ${quoted(summary)}
          action: ${quoted(action)}
`,
  )
  return `# Appmeter's metrics are at METRICS_PORT, or at /metrics with METRICS_TOKEN:
#   scrape_configs:
#     - job_name: appmeter
#       static_configs: [{ targets: ["127.0.0.1:9187"] }]
groups:
  - name: appmeter
    rules:
${rules.join("")}`
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
