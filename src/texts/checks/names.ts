import { normalForm } from "../../lib/normal-form.ts"
import type { TextProblem, TextRule } from "./check.ts"

/**
 * Fails if the original has the app's own name and the translation lacks it, because people search for the app by that
 * name.
 */
export const names: TextRule = (text, { translated, names: own = [] }): TextProblem[] => {
  if (translated === undefined) return []
  const folded = (one: string) => normalForm(one, "NFC").toLowerCase()
  const before = folded(translated)
  const after = folded(text)
  return own
    .filter((name) => before.includes(name.toLowerCase()) && !after.includes(name.toLowerCase()))
    .map((what) => ({ rule: "names", what }))
}

/** Returns the app's own name: the part before the first separator. */
export function ownNameIn(name: string): string {
  const [own = ""] = name.split(/\s?[:–—|·]\s?| - /u)
  return own.trim()
}
