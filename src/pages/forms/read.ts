/** Returns the lines of a field, or of several selected fields, each once. Commas and semicolons separate too. */
export function linesIn(fields: URLSearchParams, name: string): string[] {
  return wordsIn(fields.getAll(name).join("\n"), /[\r\n,;]+/)
}

export function wordsIn(text: string, separator: RegExp): string[] {
  const words = text.split(separator).map((word) => word.trim())
  return [...new Set(words.filter(Boolean))]
}

/** Returns the field as an argument, or nothing if it is empty. */
export function textIn(name: string, fields: URLSearchParams): Record<string, string> {
  const value = fields.get(name) ?? ""
  return value === "" ? {} : { [name]: value }
}

/** Returns the field as a number, or nothing if it is empty. Other text becomes NaN, which the check refuses. */
export function numberIn(name: string, fields: URLSearchParams): Record<string, number> {
  const value = fields.get(name)?.trim() ?? ""
  return value === "" ? {} : { [name]: Number(value) }
}

export const appIn = (fields: URLSearchParams) => ({ appId: fields.get("appId") ?? "" })
