import { type CsvCell, csvRecord } from "../../lib/csv.ts"
import type { Invocation } from "./command.ts"

/** Answers with `value` as JSON when --json was given, else with lines for the eye. */
export function show({ terminal, has }: Invocation, value: unknown, lines: () => string[]): void {
  if (has("json")) terminal.json(value)
  else
    terminal.out(
      lines()
        .map((line) => `${line}\n`)
        .join(""),
    )
}

/** The option of commands whose answer is rows, and what it writes: null is an empty cell. */
export const CSV = { csv: { meaning: "Print CSV for a spreadsheet." } }

export function csvOf(columns: string[], rows: readonly (readonly CsvCell[])[]): string {
  return [columns, ...rows].map(csvRecord).join("")
}

/** Aligned columns under their headings, by the columns of a terminal that each text takes; without rows what `none` says. */
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

/** Columns of a terminal that a text takes; elsewhere than on Bun each character counts as one. */
function widthOf(text: string): number {
  return globalThis.Bun ? Bun.stringWidth(text) : [...text.replaceAll(COLOURS, "")].length
}

/** A line of at most so many columns of a terminal; what is cut off leaves "…". Colours are kept whole. */
export function fitted(line: string, columns: number | undefined): string {
  if (columns === undefined || widthOf(line) <= columns) return line
  let left = Math.max(0, columns - 1)
  let shown = ""
  for (const [part, colour] of line.matchAll(COLOUR_OR_TEXT)) {
    if (colour !== undefined) shown += colour
    else
      for (const { segment } of graphemes.segment(part)) {
        left -= widthOf(segment)
        if (left >= 0) shown += segment
      }
  }
  return `${shown}…`
}

/** Lines of at most so many columns, broken between words; those after the first are indented. Without colours. */
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

/** What others wrote, whole: a control character in it could redraw the terminal. */
export function harmless(text: string): string {
  return text.replaceAll(/\p{C}/gu, "�")
}

/** What a store or a caller named, on one line and not too long. */
export function printable(text: string): string {
  const shown = harmless(text)
  return shown.length > LONGEST ? `${shown.slice(0, LONGEST - 1)}…` : shown
}

const LONGEST = 60
