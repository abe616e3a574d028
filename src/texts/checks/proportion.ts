import type { TextProblem, TextRule } from "./check.ts"

/** Shorter texts may have any length in another language. */
const SHORTEST = 60

/**
 * Fails if a translation is much shorter or longer than the original. Complete human translations have 0.98 to 1.31
 * times the English length, in Chinese 0.40 to 0.42 (17 translations of one listing).
 */
export const proportion: TextRule = (text, { translated }): TextProblem[] => {
  if (translated === undefined) return []
  const [before, after] = [translated, text].map((one) => [...one.trim()].length) as [number, number]
  if (before < SHORTEST) return []
  const share = after / before
  const [least, most] = BOUNDS[`${isDense(translated)}${isDense(text)}`]!
  return share >= least && share <= most ? [] : [{ rule: "proportion", what: share.toFixed(2) }]
}

/** Limits by script of the original and of the translation: true if its characters are syllables or words. */
const BOUNDS: Readonly<Record<string, readonly [number, number]>> = {
  falsefalse: [0.7, 1.5],
  falsetrue: [0.3, 0.9],
  truefalse: [1.1, 3.4],
  truetrue: [0.5, 1.8],
}

function isDense(text: string): boolean {
  const dense = text.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu)?.length ?? 0
  return dense > (text.match(/\p{L}/gu)?.length ?? 0) / 3
}
