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
