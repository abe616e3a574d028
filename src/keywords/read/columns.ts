import type { PendingQuery, Row } from "postgres"
import type { Db } from "../../database/types.ts"

// A statement about many keywords returns one row with a text per column: parsing a row per keyword took five times as
// long. The caller orders the rows that the texts are made of.

type Part = PendingQuery<Row[]>

export function termsTogether(sql: Db, term: Part): Part {
  return sql`string_agg(${term}, ${LINE})`
}

export function termsIn(text: string | null): string[] {
  return text?.split(LINE) ?? []
}

/** Between two keywords; no text of one holds it. */
const LINE = "\u0001"

export function numbersTogether(sql: Db, number: Part): Part {
  return sql`array_to_string(array_agg(${number}), ',', '')`
}

export function numbersIn(text: string): (number | null)[] {
  return text.split(",").map((part) => (part === "" ? null : Number(part)))
}
