import type { TextProblem, TextRule } from "./check.ts"
import { addressesIn } from "./links.ts"
import { numbersIn } from "./numbers.ts"

/** Fails unless a translation has each address, number and placeholder as often as the original. */
export const keptMarks: TextRule = (text, { translated }): TextProblem[] => {
  if (translated === undefined) return []
  const what = [addressesIn, numbersIn, placeholdersIn].flatMap((marksIn) =>
    difference(marksIn(translated), marksIn(text)),
  )
  return what.map((mark) => ({ rule: "kept_marks", what: mark }))
}

function placeholdersIn(text: string): string[] {
  return text.match(/%(?:\d+\$)?(?:@|s|d|i|f|ld|lld)(?!\p{L})|\{\{?\s?\w+\s?\}?\}|<\w+\/?>/gu) ?? []
}

/** Returns the marks whose counts differ, each once. */
function difference(before: readonly string[], after: readonly string[]): string[] {
  const count = (list: readonly string[], mark: string) => list.filter((one) => one === mark).length
  return [...new Set([...before, ...after])].filter((mark) => count(before, mark) !== count(after, mark))
}
