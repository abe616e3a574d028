import { normaliseTerm } from "../../../lib/term.ts"
import { cutText } from "../../../lib/text.ts"
import { ReadFailure } from "../../../measuring/source.ts"
import { MAX_NAME } from "../../kinds/reports-shape.ts"

/** What the platform says of a thing; read field by field. */
export type PlatformRow = Record<string, unknown>

/** The rows of a page; null where there is no list of them. An entry that is no object becomes a row without fields. */
export function rowsIn(result: unknown): PlatformRow[] | null {
  const rows = Array.isArray(result) ? result : (result as { rows?: unknown } | null | undefined)?.rows
  return Array.isArray(rows) ? rows.map((row) => (typeof row === "object" && row !== null ? row : {})) : null
}

/** An object within another; an empty one where there is none. */
export function within(row: PlatformRow, name: string): PlatformRow {
  const found = row[name]
  return typeof found === "object" && found !== null ? (found as PlatformRow) : {}
}

/** Throws ReadFailure where there is none. */
export function idIn(row: PlatformRow, name: string): string {
  const id = idOrNothing(row, name)
  if (id === undefined) throw new ReadFailure("changed", `it has no ${name}`)
  return id
}

export function idOrNothing(row: PlatformRow, name: string): string | undefined {
  const id = String(row[name] ?? "")
  return /^\d{1,20}$/.test(id) ? id : undefined
}

/** Names a row where it is put aside. */
export function rowName(row: PlatformRow, place: number): string {
  const id = idOrNothing(row, "id") ?? idOrNothing(within(row, "metadata"), "id")
  return id === undefined ? `row ${place + 1}` : `row ${place + 1}, id ${id}`
}

/** Trimmed; undefined where nothing is said. */
export function wordIn(row: PlatformRow, name: string, most = MAX_NAME): string | undefined {
  const word = row[name]
  return typeof word === "string" && word.trim() !== ""
    ? cutText(word.replaceAll("\0", "").trim().toWellFormed(), most)
    : undefined
}

/** As keywords are told apart everywhere. */
export function termIn(row: PlatformRow, name: string): string | undefined {
  const word = wordIn(row, name)
  return word === undefined ? undefined : normaliseTerm(word) || undefined
}

/** Null if the platform names no figure. Throws ReadFailure for what is no count. */
export function countOrNull(row: PlatformRow, name: string): number | null {
  const count = row[name]
  if (count === null || count === undefined) return null
  if (typeof count === "number" && Number.isSafeInteger(count) && count >= 0) return count
  if (typeof count === "string" && /^\d{1,10}$/.test(count)) return Number(count)
  throw new ReadFailure("changed", `${name} is no count`)
}

/** Throws ReadFailure where there is none. */
export function countIn(row: PlatformRow, name: string): number {
  const count = countOrNull(row, name)
  if (count !== null) return count
  throw new ReadFailure("changed", `it has no ${name}`)
}

interface SaidMoney {
  amount: string
  currency: string
}

/** {amount, currency}, the amount as decimal text. Throws ReadFailure for what looks like money and is none. */
export function moneyIn(row: PlatformRow, name: string): SaidMoney | undefined {
  const said = row[name]
  if (said === null || said === undefined) return undefined
  const { amount, currency } = said as PlatformRow
  const text = String(amount)
  if (typeof currency === "string" && /^[A-Z]{3}$/.test(currency) && /^\d{1,12}(\.\d+)?$/.test(text))
    return { amount: text.replace(/(\.\d{6})\d+$/, "$1"), currency }
  throw new ReadFailure("changed", `${name} is no money`)
}

/** "DE" → "de". Undefined if it names no country. */
export function countryIn(row: PlatformRow, name: string): string | undefined {
  const code = String(row[name] ?? "").toLowerCase()
  return /^[a-z]{2}$/.test(code) ? code : undefined
}
