/**
 * Returns the lines of one field or of several selected fields, without duplicates. Commas and semicolons also separate
 * entries.
 */
export function linesIn(fields: URLSearchParams, name: string): string[] {
  return wordsIn(fields.getAll(name).join("\n"), /[\r\n,;]+/)
}

export function wordsIn(text: string, separator: RegExp): string[] {
  const words = text.split(separator).map((word) => word.trim())
  return [...new Set(words.filter(Boolean))]
}

/** Returns an object with the field as an argument, or an empty object if the field is empty. */
export function textIn(name: string, fields: URLSearchParams): Record<string, string> {
  const value = fields.get(name) ?? ""
  return value === "" ? {} : { [name]: value }
}

/**
 * Returns an object with the field as a number, or an empty object if the field is empty. Other text becomes NaN, which
 * the check refuses.
 */
export function numberIn(name: string, fields: URLSearchParams): Record<string, number> {
  const value = fields.get(name)?.trim() ?? ""
  return value === "" ? {} : { [name]: Number(value) }
}

export const appIn = (fields: URLSearchParams) => ({ appId: fields.get("appId") ?? "" })
