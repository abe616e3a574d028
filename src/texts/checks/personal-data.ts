import { normalForm } from "../../lib/normal-form.ts"
import type { TextProblem, TextRule } from "./check.ts"

/** Fails on email addresses, phone numbers, card and account numbers. They are never shown, whatever their source. */
export const personalData: TextRule = (text): TextProblem[] => {
  const plain = normalForm(text, "NFKC")
  const found = [
    ...plain.matchAll(MAILBOX),
    ...plain.matchAll(ACCOUNT),
    ...[...plain.matchAll(DIGITS)].filter(isNumber),
  ]
  return found.map(([what]) => ({ rule: "personal_data", what }))
}

const MAILBOX = /(?<![\p{L}\p{N}])[\p{L}\p{N}._%+-]{1,64}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,5}/gu
// an IBAN: country, check digits, 11 to 30 letters and digits
const ACCOUNT = /(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![A-Za-z0-9])/g
const DIGITS = /(?<![\p{L}\p{N}.,])(?:\+|00)?\(?\d(?:[ ()./-]{0,2}\d){6,18}(?![\p{L}\p{N}])/gu

/**
 * Returns true if the digits look like a personal number: at least seven digits that are not a date, a version or a
 * plain amount.
 */
function isNumber([text]: RegExpMatchArray): boolean {
  if (/^(?:19|20)\d\d[-./]\d\d?[-./]\d\d?$|^\d\d?[-./]\d\d?[-./](?:19|20)\d\d$/.test(text)) return false
  if (/^\d+(?:\.\d+){1,3}$/.test(text)) return false
  const digits = text.replace(/\D/g, "").length
  return text.startsWith("+") || /[ ()/-]/.test(text) ? digits >= 7 : digits >= 9
}
