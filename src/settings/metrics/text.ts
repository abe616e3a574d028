/** A metric with all its series. */
export interface Metric {
  name: string
  help: string
  type: "counter" | "gauge" | "histogram"
  samples: Sample[]
}

export interface Sample {
  /** "_bucket", "_sum" or "_count" of a histogram. */
  suffix?: string
  labels?: Record<string, string>
  value: number
}

export function gauge(name: string, help: string, samples: Sample[]): Metric {
  return { name, help, type: "gauge", samples }
}

export const TEXT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

/** Formats metrics as Prometheus text, version 0.0.4. Omits metrics without series. */
export function exposed(metrics: readonly Metric[]): string {
  return metrics
    .filter(({ samples }) => samples.length > 0)
    .map(({ name, help, type, samples }) => {
      const lines = samples.map(
        ({ suffix = "", labels = {}, value }) => `${name}${suffix}${labelled(labels)} ${value}\n`,
      )
      return `# HELP ${name} ${escaped(help)}\n# TYPE ${name} ${type}\n${lines.join("")}`
    })
    .join("")
}

function labelled(labels: Record<string, string>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value).replaceAll('"', '\\"')}"`)
  return pairs.length > 0 ? `{${pairs.join(",")}}` : ""
}

function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")
}
