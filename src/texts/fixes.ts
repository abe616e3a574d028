import type { RuleName, TextProblem } from "./checks/check.ts"

/** Returns the feedback to a model about its refused text. */
export function fixesOf(problems: readonly TextProblem[]): string[] {
  return problems.map(({ rule, what }) => (what === "" ? SENTENCES[rule] : `${SENTENCES[rule]} At fault: ${what}`))
}

const SENTENCES: Readonly<Record<RuleName, string>> = {
  length: "It was empty, or longer than it may be by so many characters.",
  language: "It was not in the language asked for.",
  links: "It named an address that no record has.",
  personal_data: "It named personal data.",
  numbers: "It named a number that no record has.",
  quantities: "It said how many people think so.",
  promises: "It promised money, or asked for a rating.",
  stores: "It named another store or platform.",
  told: "It repeated its orders.",
  superlatives: "It claimed more than its sources do.",
  prices: "It named a price that no record has.",
  names: "It lacked the app's own name, which is not translated.",
  kept_marks: "It did not keep each address, number and placeholder as often as the original has it.",
  lines: "It did not have as many lines as the original.",
  proportion: "It was much shorter or longer than the original: this share of its length.",
  untranslated: "It left sentences in the original's language.",
  features: "It spoke of what no record does, in most of its words.",
  instructions: "It spoke to its writer.",
}
