import process from "node:process"
import type { Gate } from "../../database/gate.ts"
import { type Amounts, BOUNDS, type Calls, type Series } from "./calls.ts"
import { exposed, gauge, type Metric } from "./text.ts"

interface MetricsParts {
  calls: Calls
  gate: Gate
  database: () => Promise<Metric[]>
  measuring: () => Promise<Metric[]>
  version: string
}

/** Returns the metrics of this process in Prometheus' text format. Never throws. */
export function createMetrics({ calls, gate, database, measuring, version }: MetricsParts): () => Promise<string> {
  const startedAt = Math.round(performance.timeOrigin) / 1_000
  return async () =>
    exposed([
      ...callMetrics(calls),
      ...gateMetrics(gate),
      ...(await Promise.all([database(), measuring()])).flat(),
      ...processMetrics(startedAt),
      gauge("appmeter_build_info", "The version that is running, as a label.", [{ labels: { version }, value: 1 }]),
    ])
}

function callMetrics(calls: Calls): Metric[] {
  const series = calls.series().sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
  const counted = series.map((sery) => ({ labels: labelsOf(sery), value: sery.count }))
  const fallbacks =
    "Calls that this process alone counted against their rate limit, because the rate-limit store did not answer."
  return [
    counter(
      "appmeter_calls_total",
      "Answered calls, by operation, surface and status; 499 if the caller closed the connection.",
      counted,
    ),
    {
      name: "appmeter_call_duration_seconds",
      help: "Duration of calls, by operation, surface and status.",
      type: "histogram",
      samples: series.flatMap(histogram),
    },
    counter("appmeter_credits_charged_total", "Credits charged for calls.", pairs(calls.credits, "operation")),
    counter("appmeter_refusals_total", "Refused calls, by error code.", pairs(calls.refusals, "code")),
    counter("appmeter_internal_errors_total", "Internal errors, each with a line in the log.", [
      { value: calls.errors },
    ]),
    counter("appmeter_limits_fallbacks_total", fallbacks, [{ value: calls.fallbacks }]),
  ]
}

const nameOf = ({ surface, operation, status }: Series) => `${operation} ${surface} ${status}`
const labelsOf = ({ surface, operation, status }: Series) => ({ operation, surface, status })

function histogram(one: Series): Metric["samples"] {
  const labels = labelsOf(one)
  let sofar = 0
  const buckets = BOUNDS.map((bound, place) => {
    sofar += one.within[place]!
    return { suffix: "_bucket", labels: { ...labels, le: String(bound) }, value: sofar }
  })
  return [
    ...buckets,
    { suffix: "_bucket", labels: { ...labels, le: "+Inf" }, value: one.count },
    { suffix: "_sum", labels, value: one.sumSeconds },
    { suffix: "_count", labels, value: one.count },
  ]
}

function pairs(amounts: Amounts, label: string): Metric["samples"] {
  const rows = [...amounts].flatMap(([surface, words]) => [...words].map(([word, value]) => ({ word, surface, value })))
  const sorted = rows.sort((a, b) => (`${a.word} ${a.surface}` < `${b.word} ${b.surface}` ? -1 : 1))
  return sorted.map(({ word, surface, value }) => ({ labels: { [label]: word, surface }, value }))
}

function gateMetrics(gate: Gate): Metric[] {
  return [
    gauge("appmeter_calls_waiting", "Calls that are waiting for the database.", [{ value: gate.waiting }]),
    gauge(
      "appmeter_database_work_unfinished",
      "Unfinished work on the database, including calls that were abandoned.",
      [{ value: gate.unfinished }],
    ),
  ]
}

function processMetrics(startedAt: number): Metric[] {
  const { rss } = process.memoryUsage()
  const { user, system } = process.cpuUsage()
  const cpu = [{ value: (user + system) / 1e6 }]
  return [
    counter("process_cpu_seconds_total", "Processor time that this process used.", cpu),
    gauge("process_resident_memory_bytes", "Memory that this process holds.", [{ value: rss }]),
    gauge("process_start_time_seconds", "Start time of this process, in seconds since 1970-01-01T00:00Z.", [
      { value: startedAt },
    ]),
  ]
}

function counter(name: string, help: string, samples: Metric["samples"]): Metric {
  return { name, help, type: "counter", samples }
}
