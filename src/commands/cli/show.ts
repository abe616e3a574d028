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

/** Aligned columns under their headings. */
export function table(headings: string[], rows: (string | number | null)[][]): string[] {
  const cells = [headings, ...rows.map((row) => row.map((cell) => String(cell ?? "-")))]
  const widths = headings.map((_, i) => Math.max(...cells.map((row) => row[i]!.length)))
  return cells.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i]!))
      .join("  ")
      .trimEnd(),
  )
}

/** What a store or a caller named, on one line and not too long: a control character in it could redraw the terminal. */
export function printable(text: string): string {
  const shown = text.replaceAll(/\p{C}/gu, "�")
  return shown.length > LONGEST ? `${shown.slice(0, LONGEST - 1)}…` : shown
}

const LONGEST = 60
