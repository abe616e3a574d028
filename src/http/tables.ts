import { setImmediate as nextTurn } from "node:timers/promises"
import type * as v from "valibot"
import type { Operation } from "../core/operation.ts"
import { type CsvCell, csvRecord } from "../lib/csv.ts"
import type { TableRow } from "../lib/list-table.ts"
import { type Schema, unwrap } from "../lib/schema.ts"

/** Media types for callers that prefer a table to JSON. */
export const TABLE_TYPES = {
  "text/csv": "text/csv; charset=utf-8; header=present",
  "application/jsonl": "application/jsonl; charset=utf-8",
  "application/x-ndjson": "application/x-ndjson; charset=utf-8",
} as const
export type TableType = keyof typeof TABLE_TYPES

/**
 * Returns the media type that an Accept header prefers (RFC 9110, 12.5.1). Null for JSON, and for a header without any
 * supported type, because such callers get JSON instead of a refusal. A named type wins over "*" with the same weight,
 * and an earlier named type wins over a later one.
 */
export function tableTypeFor(accepted: string): TableType | null {
  const ranges = accepted.toLowerCase().split(",").map(weighed)
  const named = ranges.filter(
    ({ type, weight }) => weight > 0 && (Object.hasOwn(TABLE_TYPES, type) || type === "application/json"),
  )
  const [best] = named.toSorted((a, b) => b.weight - a.weight)
  if (!best || best.type === "application/json") return null
  const anything = ranges.find(({ type }) => type === "*/*" || type === "application/*")
  return anything && anything.weight > best.weight ? null : (best.type as TableType)
}

function weighed(range: string): { type: string; weight: number } {
  const [type = "", ...parameters] = range.split(";").map((text) => text.trim())
  const weight = Number(parameters.find((text) => text.startsWith("q="))?.slice(2) ?? 1)
  return { type, weight: weight >= 0 && weight <= 1 ? weight : 0 }
}

/** Returns the columns of an operation's table: those of its rows, then the fields that occur once in the answer. */
export function tableColumns(operation: Operation): string[] {
  return [...(operation.table?.columns ?? []), ...onceColumns(operation)]
}

/**
 * Formats an answer as rows. Fields that occur once in the answer are repeated in each row. An answer without rows
 * becomes one row with empty cells. Columns that the caller excluded are absent. A hundred thousand rows would block
 * the thread for 100 ms, so other work gets a turn between chunks.
 */
export async function tableText(operation: Operation, answer: unknown, type: TableType): Promise<string> {
  const whole = answer as Record<string, CsvCell>
  const once: TableRow = Object.fromEntries(onceColumns(operation).map((name) => [name, whole[name]]))
  const found: TableRow[] = [...(operation.table?.rows(answer) ?? [])]
  const isLeft = (name: string) =>
    found.length > 0 && once[name] === undefined && !found.some((row) => row[name] !== undefined)
  const columns = tableColumns(operation).filter((name) => !isLeft(name))
  const isCsv = type === "text/csv"
  const lines = isCsv ? [csvRecord(columns)] : []
  for (const row of found.length > 0 ? found : [once]) {
    const cells = columns.map((name) => once[name] ?? row[name] ?? null)
    if (lines.push(isCsv ? csvRecord(cells.map(csvCell)) : jsonLine(columns, cells)) % CHUNK === 0) await nextTurn()
  }
  return lines.join("")
}

/** Number of rows that are written before other work gets a turn. */
const CHUNK = 2_000

/** Converts a list inside a row to JSON. */
function csvCell(cell: CsvCell | object): CsvCell {
  return typeof cell === "object" && cell !== null ? JSON.stringify(cell) : cell
}

function jsonLine(columns: readonly string[], cells: readonly (CsvCell | object)[]): string {
  return `${JSON.stringify(Object.fromEntries(columns.map((name, at) => [name, cells[at]])))}\n`
}

/**
 * Returns the answer's single-value fields that are not columns of its rows. Lists and objects are converted by the
 * table.
 */
function onceColumns({ table, output }: Operation): string[] {
  const { entries } = output as v.StrictObjectSchema<v.ObjectEntries, undefined>
  const isOne = (name: string) => !COMPOSED.test(unwrap(entries[name] as Schema).type)
  return Object.keys(entries).filter((name) => isOne(name) && !table?.columns.includes(name))
}

const COMPOSED = /array|object|record|tuple|variant|union/
