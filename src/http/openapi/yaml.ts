/**
 * Returns YAML 1.2 with texts in double quotes, so that readers do not misinterpret values such as no, 1e3 or
 * 2025-11-01.
 */
export function yamlOf(value: unknown, indent = ""): string {
  if (Array.isArray(value)) return value.length === 0 ? " []\n" : listOf(value, indent)
  if (typeof value !== "object" || value === null) return ` ${scalar(value)}\n`
  const entries = Object.entries(value).filter(([, item]) => item !== undefined)
  if (entries.length === 0) return " {}\n"
  const lines = entries.map(([name, item]) => `${indent}${key(name)}:${yamlOf(item, `${indent}  `)}`)
  return `\n${lines.join("")}`
}

function listOf(values: readonly unknown[], indent: string): string {
  return `\n${values.map((item) => `${indent}-${itemOf(item, `${indent}  `)}`).join("")}`
}

/** Puts the first line of an item on the line of its dash. */
function itemOf(item: unknown, indent: string): string {
  const text = yamlOf(item, indent)
  return text.startsWith("\n") ? ` ${text.slice(1 + indent.length)}` : text
}

function scalar(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value) : String(value)
}

function key(name: string): string {
  return /^[A-Za-z$][\w$-]*$/.test(name) && !WORDS.test(name) ? name : JSON.stringify(name)
}

/** YAML 1.1 readers interpret these words as other types if unquoted. */
const WORDS = /^(?:y|n|yes|no|on|off|true|false|null)$/i
