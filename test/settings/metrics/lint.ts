import type { Metric } from "../../../src/settings/metrics/text.ts"

export interface Parsed {
  help: string
  type: Metric["type"]
  samples: ParsedSample[]
}

export interface ParsedSample {
  name: string
  labels: Record<string, string>
  value: number
}

/**
 * Parses Prometheus' text format 0.0.4 strictly: throws at the first line that a scraper or `promtool check metrics`
 * refuses.
 */
export function parsed(text: string): Map<string, Parsed> {
  if (!text.endsWith("\n")) throw new Error("the last line has no end")
  const metrics = new Map<string, Parsed>()
  const series = new Set<string>()
  let family = ""
  for (const line of text.slice(0, -1).split("\n")) {
    const head = /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$/.exec(line)
    if (head) {
      const [, kind, name, rest] = head as unknown as [string, string, string, string]
      if (kind === "HELP") {
        if (metrics.has(name)) throw new Error(`${name} has two HELP lines, or its series are not together`)
        metrics.set(name, { help: rest, type: "gauge", samples: [] })
        family = name
      } else {
        if (name !== family || metrics.get(name)!.samples.length > 0) throw new Error(`TYPE of ${name} is out of place`)
        if (!["counter", "gauge", "histogram"].includes(rest)) throw new Error(`${rest} is no type`)
        metrics.get(name)!.type = rest as Metric["type"]
      }
      continue
    }
    const sample = sampleOf(line)
    const metric = metrics.get(family)
    const suffixes = metric?.type === "histogram" ? ["_bucket", "_sum", "_count"] : [""]
    if (!suffixes.some((suffix) => sample.name === family + suffix)) throw new Error(`stray series: ${line}`)
    const id = `${sample.name}${JSON.stringify(Object.entries(sample.labels).sort())}`
    if (series.has(id)) throw new Error(`twice: ${line}`)
    series.add(id)
    metric!.samples.push(sample)
  }
  return metrics
}

/** Returns what `promtool check metrics` reports in addition to what `parsed` refuses. */
export function complaints(metrics: Map<string, Parsed>): string[] {
  return [...metrics].flatMap(([name, { help, type, samples }]) => {
    const wrong: [boolean, string][] = [
      [help.trim() === "", "no help text"],
      [samples.length === 0, "no series"],
      [type === "counter" && !name.endsWith("_total"), 'counters should end with "_total"'],
      [type !== "counter" && name.endsWith("_total"), 'only counters should end with "_total"'],
      [/_(count|sum|bucket)$/.test(name), "reserved ending"],
      [/[A-Z]/.test(name) || name.includes(":"), "lower-case words with underscores"],
      [
        /_(ms|s|sec|millis|milliseconds|minutes|hours|days|kb|mb|kilobytes|megabytes|bits|percent)(_|$)/.test(name),
        "base units",
      ],
      [new RegExp(`_(${type})(_|$)`).test(name), "the type does not belong into the name"],
      [
        samples.some(({ labels }) => Object.keys(labels).some((label) => name.includes(`_by_${label}`))),
        "label in the name",
      ],
      [type !== "histogram" && samples.some(({ labels }) => "le" in labels || "quantile" in labels), "reserved label"],
      [type === "counter" && samples.some(({ value }) => !(value >= 0)), "a counter below 0"],
      [type === "histogram" && !buckets(samples), "buckets that do not grow to the count"],
    ]
    return wrong.filter(([isWrong]) => isWrong).map(([, why]) => `${name}: ${why}`)
  })
}

/**
 * Returns whether each series of a histogram has growing buckets in order, +Inf last and equal to its count, and a sum.
 */
function buckets(samples: ParsedSample[]): boolean {
  const groups = Map.groupBy(samples, ({ labels: { le, ...labels } }) => JSON.stringify(labels))
  return [...groups.values()].every((group) => {
    const sameSeries = group.filter(({ name }) => name.endsWith("_bucket"))
    const bounds = sameSeries.map(({ labels }) => (labels.le === "+Inf" ? Number.POSITIVE_INFINITY : Number(labels.le)))
    const count = group.find(({ name }) => name.endsWith("_count"))?.value
    const sum = group.find(({ name }) => name.endsWith("_sum"))?.value
    return (
      bounds.at(-1) === Number.POSITIVE_INFINITY &&
      bounds.every((bound, i) => i === 0 || bound > bounds[i - 1]!) &&
      sameSeries.every(({ value }, i) => i === 0 || value >= sameSeries[i - 1]!.value) &&
      sameSeries.at(-1)!.value === count &&
      sum !== undefined &&
      sum >= 0
    )
  })
}

function sampleOf(line: string): ParsedSample {
  const [, name, inner = "", number] =
    /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[^"{}]|"(?:[^"\\]|\\[\\"n])*")*)\})? (\S+)$/.exec(line) ?? []
  if (name === undefined || !/^[+-]?(\d+(\.\d+)?(e[+-]?\d+)?|Inf)$|^NaN$/i.test(number!))
    throw new Error(`no series: ${line}`)
  const labels: Record<string, string> = {}
  const rest = inner.replaceAll(/([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\[\\"n])*)"(,|$)/g, (_, label, value) => {
    if (label in labels) throw new Error(`${label} twice: ${line}`)
    labels[label] = value.replaceAll(/\\(.)/g, (_: string, c: string) => (c === "n" ? "\n" : c))
    return ""
  })
  if (rest !== "") throw new Error(`labels are malformed: ${line}`)
  return { name, labels, value: Number(number) }
}
