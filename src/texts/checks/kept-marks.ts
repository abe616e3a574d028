import type { TextProblem, TextRule } from "./check.ts"
import { addressesIn } from "./links.ts"
import { numbersIn } from "./numbers.ts"

/** Addresses, numbers and placeholders of the text that was translated: each as often, no more and no fewer. */
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

/** What stands more often in one than in the other, each once. */
function difference(before: readonly string[], after: readonly string[]): string[] {
  const count = (list: readonly string[], mark: string) => list.filter((one) => one === mark).length
  return [...new Set([...before, ...after])].filter((mark) => count(before, mark) !== count(after, mark))
}
