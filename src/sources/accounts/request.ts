import type { Report } from "../../vocabulary/upstreams.ts"

const TYPES: Record<Report, string> = {
  sales: "SALES",
  subscriptions: "SUBSCRIPTION",
  subscription_events: "SUBSCRIPTION_EVENT",
}

/** Path and query of a day's report. Without a version the console gives the one that stands. */
export function salesReportPath(report: Report, { vendor, day }: { vendor: string; day: string }): string {
  const query = new URLSearchParams({
    "filter[frequency]": "DAILY",
    "filter[reportDate]": day,
    "filter[reportSubType]": "SUMMARY",
    "filter[reportType]": TYPES[report],
    "filter[vendorNumber]": vendor,
  })
  return `/v1/salesReports?${query}`
}
