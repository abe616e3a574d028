import type { PendingQuery, Row } from "postgres"
import type { Db } from "../../database/types.ts"

// Statements about many keywords return one row with a text per column, which parses five times as fast as a row per
// keyword. The caller orders the rows that are aggregated.

type Part = PendingQuery<Row[]>

export function termsTogether(sql: Db, term: Part): Part {
  return sql`string_agg(${term}, ${LINE})`
}

export function termsIn(text: string | null): string[] {
  return text?.split(LINE) ?? []
}

/** Separates keywords; no keyword contains it. */
const LINE = "\u0001"

export function numbersTogether(sql: Db, number: Part): Part {
  return sql`array_to_string(array_agg(${number}), ',', '')`
}

export function numbersIn(text: string): (number | null)[] {
  return text.split(",").map((part) => (part === "" ? null : Number(part)))
}
