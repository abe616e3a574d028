import { normalForm } from "../../lib/normal-form.ts"
import type { TextProblem, TextRule } from "./check.ts"

/** Fails if a text is empty or too long, in code points after NFC. */
export const length: TextRule = (text, { most }): TextProblem[] => {
  const points = [...normalForm(text, "NFC")].length
  if (text.trim() === "") return [{ rule: "length", what: "" }]
  return most !== undefined && points > most ? [{ rule: "length", what: `${points - most}` }] : []
}
