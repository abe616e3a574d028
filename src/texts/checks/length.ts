import { normalForm } from "../../lib/normal-form.ts"
import type { TextProblem, TextRule } from "./check.ts"

/** Longer than it may be, in code points of its NFC, or nothing at all. */
export const length: TextRule = (text, { most }): TextProblem[] => {
  const points = [...normalForm(text, "NFC")].length
  if (text.trim() === "") return [{ rule: "length", what: "" }]
  return most !== undefined && points > most ? [{ rule: "length", what: `${points - most}` }] : []
}
