import { normalForm } from "../../lib/normal-form.ts"
import type { TextProblem, TextRule } from "./check.ts"

/** Fails on a number that no source has. "1,000" equals "1000", but "2012" does not contain "12". */
export const numbers: TextRule = (text, { sources }): TextProblem[] => {
  const sourceNumbers = new Set(sources.flatMap(numbersIn))
  const unknown = numbersIn(text).filter((number) => !sourceNumbers.has(number))
  return [...new Set(unknown)].map((what) => ({ rule: "numbers", what }))
}

/** Returns the numbers of a text in ASCII digits, without thousands separators. */
export function numbersIn(text: string): string[] {
  const plain = normalForm(text, "NFKC").replace(/\p{Nd}/gu, asciiDigit)
  return [...plain.matchAll(/\d+(?:[.,'’\u00a0\u202f]\d+)*/g)].map(([number]) => withoutThousands(number))
}

function withoutThousands(number: string): string {
  const grouped = /^\d{1,3}(?:([.,'’\u00a0\u202f])\d{3})(?:\1\d{3})*$/.test(number)
  return grouped ? number.replace(/\D/g, "") : number.replace(/[^\d.,]/g, "").replace(",", ".")
}

/**
 * Unicode places the ten digits of a script next to each other, so the script's zero is at most nine code points before
 * the digit.
 */
function asciiDigit(digit: string): string {
  if (digit <= "9") return digit
  let zero = digit.codePointAt(0) as number
  while (/^\p{Nd}$/u.test(String.fromCodePoint(zero - 1)) && (digit.codePointAt(0) as number) - zero < 9) zero--
  return String((digit.codePointAt(0) as number) - zero)
}
