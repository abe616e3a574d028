import { normaliseTerm } from "../../../lib/term.ts"
import { cutText } from "../../../lib/text.ts"
import { ReadFailure } from "../../../measuring/source.ts"
import { MAX_NAME } from "../../kinds/reports-shape.ts"

/** An object in a response, read field by field. */
export type PlatformRow = Record<string, unknown>

/**
 * Returns the rows of a page. Null if the response has no list. An entry that is not an object becomes a row without
 * fields.
 */
export function rowsIn(result: unknown): PlatformRow[] | null {
  const rows = Array.isArray(result) ? result : (result as { rows?: unknown } | null | undefined)?.rows
  return Array.isArray(rows) ? rows.map((row) => (typeof row === "object" && row !== null ? row : {})) : null
}

/** Returns a nested object. Empty if it is missing. */
export function within(row: PlatformRow, name: string): PlatformRow {
  const found = row[name]
  return typeof found === "object" && found !== null ? (found as PlatformRow) : {}
}

/** Returns an id. Throws ReadFailure when it is missing. */
export function idIn(row: PlatformRow, name: string): string {
  const id = idOrNothing(row, name)
  if (id === undefined) throw new ReadFailure("changed", `it has no ${name}`)
  return id
}

export function idOrNothing(row: PlatformRow, name: string): string | undefined {
  const id = String(row[name] ?? "")
  return /^\d{1,20}$/.test(id) ? id : undefined
}

/** Returns the label that names the row if it is skipped. */
export function rowName(row: PlatformRow, place: number): string {
  const id = idOrNothing(row, "id") ?? idOrNothing(within(row, "metadata"), "id")
  return id === undefined ? `row ${place + 1}` : `row ${place + 1}, id ${id}`
}

/** Returns the trimmed text. Undefined if it is missing or blank. */
export function wordIn(row: PlatformRow, name: string, most = MAX_NAME): string | undefined {
  const word = row[name]
  return typeof word === "string" && word.trim() !== ""
    ? cutText(word.replaceAll("\0", "").trim().toWellFormed(), most)
    : undefined
}

/** Returns the text in the normal form of terms. */
export function termIn(row: PlatformRow, name: string): string | undefined {
  const word = wordIn(row, name)
  return word === undefined ? undefined : normaliseTerm(word) || undefined
}

/** Returns a count. Null if it is missing. Throws ReadFailure when the value is not a count. */
export function countOrNull(row: PlatformRow, name: string): number | null {
  const count = row[name]
  if (count === null || count === undefined) return null
  if (typeof count === "number" && Number.isSafeInteger(count) && count >= 0) return count
  if (typeof count === "string" && /^\d{1,10}$/.test(count)) return Number(count)
  throw new ReadFailure("changed", `${name} is not a count`)
}

/** Returns a count. Throws ReadFailure when it is missing. */
export function countIn(row: PlatformRow, name: string): number {
  const count = countOrNull(row, name)
  if (count !== null) return count
  throw new ReadFailure("changed", `it has no ${name}`)
}

interface SaidMoney {
  amount: string
  currency: string
}

/** Returns {amount, currency} with the amount as decimal text. Throws ReadFailure for invalid money. */
export function moneyIn(row: PlatformRow, name: string): SaidMoney | undefined {
  const money = row[name]
  if (money === null || money === undefined) return undefined
  const { amount, currency } = money as PlatformRow
  const text = String(amount)
  if (typeof currency === "string" && /^[A-Z]{3}$/.test(currency) && /^\d{1,12}(\.\d+)?$/.test(text))
    return { amount: text.replace(/(\.\d{6})\d+$/, "$1"), currency }
  throw new ReadFailure("changed", `${name} is not money`)
}

/** Converts a country code, such as "DE" to "de". Undefined if the value is not a country code. */
export function countryIn(row: PlatformRow, name: string): string | undefined {
  const code = String(row[name] ?? "").toLowerCase()
  return /^[a-z]{2}$/.test(code) ? code : undefined
}
