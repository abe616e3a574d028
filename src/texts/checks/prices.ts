import { normalForm } from "../../lib/normal-form.ts"
import type { TextProblem, TextRule } from "./check.ts"

/**
 * Fails on an amount of money that no source has. The store shows prices, and they change independently of the text.
 */
export const prices: TextRule = (text, { sources }): TextProblem[] => {
  const sourceAmounts = new Set(sources.flatMap(amountsIn))
  return amountsIn(text)
    .filter((amount) => !sourceAmounts.has(amount))
    .map((what) => ({ rule: "prices", what }))
}

function amountsIn(text: string): string[] {
  const plain = normalForm(text, "NFKC")
  return [...plain.matchAll(AMOUNT)].map(([amount]) => amount.replace(/\s/g, "").toLowerCase())
}

const MARK = "[$€£¥₹₩₺₽₴₫฿]|\\b(?:usd|eur|gbp|jpy|chf|try|rub|brl|inr|krw|cny|dollars?|euros?|pounds?)\\b|円|元|원|руб"
const AMOUNT = new RegExp(`(?:${MARK})\\s?\\d+(?:[.,]\\d+)*|\\d+(?:[.,]\\d+)*\\s?(?:${MARK})`, "giu")
