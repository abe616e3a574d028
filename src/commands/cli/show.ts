import { type CsvCell, csvRecord } from "../../lib/csv.ts"
import type { Invocation } from "./command.ts"

/** Prints `value` as JSON if --json was given, otherwise the lines. */
export function show({ terminal, has }: Invocation, value: unknown, lines: () => string[]): void {
  if (has("json")) terminal.json(value)
  else
    terminal.out(
      lines()
        .map((line) => `${line}\n`)
        .join(""),
    )
}

/** The option of commands that print rows. */
export const CSV = { csv: { meaning: "Print CSV for a spreadsheet." } }

/** Returns CSV. Null is an empty cell. */
export function csvOf(columns: string[], rows: readonly (readonly CsvCell[])[]): string {
  return [columns, ...rows].map(csvRecord).join("")
}

/** Aligns cells under their headings by their width in a terminal. Without rows it returns `none`. */
export function table(headings: string[], rows: (string | number | null)[][], none?: string): string[] {
  if (rows.length === 0 && none !== undefined) return [none]
  const cells = [headings, ...rows.map((row) => row.map((cell) => String(cell ?? "-")))]
  const widths = headings.map((_, i) => Math.max(...cells.map((row) => widthOf(row[i]!))))
  return cells.map((row) =>
    row
      .map((cell, i) => cell + " ".repeat(widths[i]! - widthOf(cell)))
      .join("  ")
      .trimEnd(),
  )
}

/** Returns the width of a text in a terminal. On other runtimes than Bun each character counts as one. */
function widthOf(text: string): number {
  return globalThis.Bun ? Bun.stringWidth(text) : [...text.replaceAll(COLOURS, "")].length
}

/** Cuts a line to the width of a terminal and ends it with "…". Does not cut colour sequences. */
export function fitted(line: string, columns: number | undefined): string {
  if (columns === undefined || widthOf(line) <= columns) return line
  let left = Math.max(0, columns - 1)
  let fitting = ""
  for (const [part, colour] of line.matchAll(COLOUR_OR_TEXT)) {
    if (colour !== undefined) fitting += colour
    else
      for (const { segment } of graphemes.segment(part)) {
        left -= widthOf(segment)
        if (left >= 0) fitting += segment
      }
  }
  return `${fitting}…`
}

/** Wraps a line at spaces. The line must not contain colour sequences. Continuation lines are indented. */
export function wrapped(line: string, columns: number | undefined): string[] {
  if (columns === undefined || widthOf(line) <= columns) return [line]
  const lines: string[] = []
  let current = ""
  for (const word of line.split(" ")) {
    const longer = current === "" ? word : `${current} ${word}`
    if (current.trim() !== "" && widthOf(longer) > columns) {
      lines.push(current)
      current = `${WRAP_INDENT}${word}`
    } else current = longer
  }
  return [...lines, current]
}

const WRAP_INDENT = "    "

// biome-ignore lint/suspicious/noControlCharactersInRegex: what sets a colour begins with one
const COLOUR_OR_TEXT = /(\u001b\[[\d;]*m)|[^\u001b]+/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: likewise
const COLOURS = /\u001b\[[\d;]*m/g
const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" })

/** Replaces control characters, with which foreign text could redraw the terminal. */
export function harmless(text: string): string {
  return text.replaceAll(/\p{C}/gu, "�")
}

/** Returns a name from a store or a caller for one line: without control characters, at most 60 characters. */
export function printable(text: string): string {
  const name = harmless(text)
  return name.length > LONGEST ? `${name.slice(0, LONGEST - 1)}…` : name
}

const LONGEST = 60
