import { normaliseTerm } from "../../../vocabulary/term.ts"
import { ReadFailure } from "../../source.ts"

/** What the platform says of a thing; read field by field. */
export type PlatformRow = Record<string, unknown>

/** The rows of a page; null where there is no list of them. */
export function rowsIn(result: unknown): PlatformRow[] | null {
  const rows = Array.isArray(result) ? result : (result as { rows?: unknown } | null | undefined)?.rows
  const isSound = Array.isArray(rows) && rows.every((row) => typeof row === "object" && row !== null)
  return isSound ? rows : null
}

/** An object within another; an empty one where there is none. */
export function within(row: PlatformRow, name: string): PlatformRow {
  const found = row[name]
  return typeof found === "object" && found !== null ? (found as PlatformRow) : {}
}

/** Throws ReadFailure where there is none. */
export function idIn(row: PlatformRow, name: string): string {
  const id = idOrNothing(row, name)
  if (id === undefined) throw new ReadFailure("changed", `a thing of Apple Ads has no ${name}`)
  return id
}

export function idOrNothing(row: PlatformRow, name: string): string | undefined {
  const id = String(row[name] ?? "")
  return /^\d{1,20}$/.test(id) ? id : undefined
}

const MOST_TEXT = 500

/** Trimmed; undefined where nothing is said. */
export function wordIn(row: PlatformRow, name: string): string | undefined {
  const word = row[name]
  return typeof word === "string" && word.trim() !== "" ? word.trim().slice(0, MOST_TEXT) : undefined
}

/** As keywords are told apart everywhere. */
export function termIn(row: PlatformRow, name: string): string | undefined {
  const word = wordIn(row, name)
  return word === undefined ? undefined : normaliseTerm(word)
}

/** Throws ReadFailure where there is none. */
export function countIn(row: PlatformRow, name: string): number {
  const count = row[name]
  if (typeof count === "number" && Number.isSafeInteger(count) && count >= 0) return count
  throw new ReadFailure("changed", `a report of Apple Ads has no ${name}`)
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

/** "DE" → "de". Throws ReadFailure. */
export function countryIn(row: PlatformRow, name: string): string {
  const code = String(row[name] ?? "").toLowerCase()
  if (/^[a-z]{2}$/.test(code)) return code
  throw new ReadFailure("changed", `a row of Apple Ads names no country in ${name}`)
}
