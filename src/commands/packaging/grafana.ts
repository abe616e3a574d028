import type { Deployment } from "./deployment.ts"

interface Panel {
  title: string
  /** The query and the name of each line. */
  lines: [expr: string, legend: string][]
  unit: "short" | "s" | "reqps" | "percentunit" | "bytes"
  /** The width in columns; a row has 24. */
  wide: number
  kind?: "stat"
}

const ROWS: { title: string; panels: Panel[] }[] = [
  {
    title: "Measuring",
    panels: [
      {
        title: "Oldest reading that is due",
        unit: "s",
        wide: 12,
        lines: [["max by (kind, platform) (appmeter_due_oldest_seconds)", "{{kind}} {{platform}}"]],
      },
      {
        title: "Readings that are due",
        unit: "short",
        wide: 12,
        lines: [["max by (kind, platform) (appmeter_due)", "{{kind}} {{platform}}"]],
      },
      {
        title: "Share of answered readings, last day",
        unit: "percentunit",
        wide: 12,
        lines: [
          [
            'max by (source) (appmeter_source_readings_last_day{outcome="answered"}) ' +
              "/ sum by (source) (max by (source, outcome) (appmeter_source_readings_last_day))",
            "{{source}}",
          ],
        ],
      },
      {
        title: "Time since a source answered",
        unit: "s",
        wide: 12,
        lines: [["time() - max by (source) (appmeter_source_answered_timestamp_seconds)", "{{source}}"]],
      },
      { title: "Processes that read", unit: "short", wide: 6, kind: "stat", lines: [["max(appmeter_readers)", ""]] },
      {
        title: "Open alerts of sources",
        unit: "short",
        wide: 6,
        kind: "stat",
        lines: [["sum(max by (kind) (appmeter_source_alerts_open)) or vector(0)", ""]],
      },
      {
        title: "Requests a day over the rate limit",
        unit: "short",
        wide: 6,
        kind: "stat",
        lines: [["sum(max by (upstream) (appmeter_requests_short_per_day)) or vector(0)", ""]],
      },
      {
        title: "Alerts waiting for delivery",
        unit: "short",
        wide: 6,
        kind: "stat",
        lines: [["sum(max by (channel) (appmeter_deliveries_waiting)) or vector(0)", ""]],
      },
    ],
  },
  {
    title: "Calls",
    panels: [
      {
        title: "Calls per second",
        unit: "reqps",
        wide: 12,
        lines: [["sum by (surface, status) (rate(appmeter_calls_total[5m]))", "{{surface}} {{status}}"]],
      },
      {
        title: "Duration of calls",
        unit: "s",
        wide: 12,
        lines: [
          ["histogram_quantile(0.5, sum by (le) (rate(appmeter_call_duration_seconds_bucket[5m])))", "median"],
          [
            "histogram_quantile(0.99, sum by (le) (rate(appmeter_call_duration_seconds_bucket[5m])))",
            "99th percentile",
          ],
        ],
      },
      {
        title: "Slowest operations, 99th percentile",
        unit: "s",
        wide: 12,
        lines: [
          [
            "topk(8, histogram_quantile(0.99, " +
              "sum by (le, operation) (rate(appmeter_call_duration_seconds_bucket[15m]))))",
            "{{operation}}",
          ],
        ],
      },
      {
        title: "Credits per minute",
        unit: "short",
        wide: 12,
        lines: [["topk(8, sum by (operation) (rate(appmeter_credits_charged_total[5m]) * 60))", "{{operation}}"]],
      },
      {
        title: "Refused, by code",
        unit: "reqps",
        wide: 12,
        lines: [["topk(8, sum by (code) (rate(appmeter_refusals_total[5m])))", "{{code}}"]],
      },
      { title: "Jobs", unit: "short", wide: 12, lines: [["max by (state) (appmeter_jobs)", "{{state}}"]] },
    ],
  },
  {
    title: "Process",
    panels: [
      {
        title: "Processor",
        unit: "percentunit",
        wide: 8,
        lines: [["rate(process_cpu_seconds_total[5m])", "{{instance}}"]],
      },
      { title: "Memory", unit: "bytes", wide: 8, lines: [["process_resident_memory_bytes", "{{instance}}"]] },
      {
        title: "Waiting for the database",
        unit: "short",
        wide: 8,
        lines: [["appmeter_calls_waiting", "{{instance}}"]],
      },
    ],
  },
]

const INPUT = "DS_PROMETHEUS"
const HIGH = 8
const COLUMNS = 24

/** Returns a dashboard to import. Grafana asks at the import which Prometheus to use. */
export function grafanaDashboard(_: Deployment): string {
  const panels: object[] = []
  let top = 0
  for (const row of ROWS) {
    panels.push({
      id: panels.length + 1,
      type: "row",
      title: row.title,
      collapsed: false,
      panels: [],
      gridPos: { x: 0, y: top++, w: COLUMNS, h: 1 },
    })
    let left = 0
    for (const panel of row.panels) {
      if (left + panel.wide > COLUMNS) [left, top] = [0, top + HIGH]
      panels.push(panelOf(panel, panels.length + 1, { x: left, y: top, w: panel.wide, h: HIGH }))
      left += panel.wide
    }
    top += HIGH
  }
  const dashboard = {
    __inputs: [{ name: INPUT, label: "Prometheus", type: "datasource", pluginId: "prometheus" }],
    title: "Appmeter",
    uid: "appmeter",
    tags: ["appmeter"],
    timezone: "utc",
    schemaVersion: 39,
    refresh: "1m",
    time: { from: "now-24h", to: "now" },
    panels,
  }
  return `${JSON.stringify(dashboard, null, 2)}\n`
}

function panelOf({ title, lines, unit, kind }: Panel, id: number, gridPos: object): object {
  // at the import, Grafana replaces this placeholder with the Prometheus that the user chose
  const datasource = { type: "prometheus", uid: `$\{${INPUT}}` }
  return {
    id,
    title,
    gridPos,
    datasource,
    type: kind ?? "timeseries",
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    targets: lines.map(([expr, legendFormat], at) => ({ refId: "ABCDEFGH"[at], datasource, expr, legendFormat })),
  }
}
