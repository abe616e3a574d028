import type { TextProblem, TextRule } from "./check.ts"

/** As many lines as the text that was translated: of 31 translations by people the 14 that lack some are not whole. */
export const lines: TextRule = (text, { translated }): TextProblem[] => {
  if (translated === undefined) return []
  const [before, after] = [translated, text].map(linesIn)
  return before === after ? [] : [{ rule: "lines", what: `${after} in place of ${before}` }]
}

/** Those with something in them. */
function linesIn(text: string): number {
  return text.split("\n").filter((line) => line.trim() !== "").length
}
