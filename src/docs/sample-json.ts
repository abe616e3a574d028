/** How much of a sample to show. */
interface SampleLimits {
  /** Maximum entries of a list that does not fit on one line. */
  entries: number
  /** Maximum characters of a text. */
  characters: number
}

/** Formats JSON for reading: values that fit are on one line, and "…" shows where a list or text was shortened. */
export function sampleJson(value: unknown, shortening: SampleLimits = WHOLE, indent = ""): string {
  const line = JSON.stringify(value)
  if (typeof value === "string") return JSON.stringify(cut(value, shortening.characters))
  if (typeof value !== "object" || value === null || line.length + indent.length <= LINE_WIDTH) return line
  const deeper = `${indent}  `
  if (!Array.isArray(value)) {
    const parts = Object.entries(value).map(
      ([name, entry]) => `${deeper}${JSON.stringify(name)}: ${sampleJson(entry, shortening, deeper)}`,
    )
    return `{\n${parts.join(",\n")}\n${indent}}`
  }
  const entries = value.slice(0, shortening.entries).map((entry) => `${deeper}${sampleJson(entry, shortening, deeper)}`)
  const left = value.length - entries.length
  return `[\n${entries.join(",\n")}${left > 0 ? `\n${deeper}… ${left} more` : ""}\n${indent}]`
}

const WHOLE: SampleLimits = { entries: Number.POSITIVE_INFINITY, characters: Number.POSITIVE_INFINITY }
const LINE_WIDTH = 76

function cut(text: string, characters: number): string {
  const points = [...text]
  return points.length > characters ? `${points.slice(0, characters).join("")}…` : text
}
