import { normalForm } from "../../lib/normal-form.ts"
import type { TextProblem, TextRule } from "./check.ts"

/**
 * Fails if the original contains the app's own name and the translation does not, because people search for the app by
 * that name.
 */
export const names: TextRule = (text, { translated, names: brand = [] }): TextProblem[] => {
  if (translated === undefined) return []
  const folded = (item: string) => normalForm(item, "NFC").toLowerCase()
  const before = folded(translated)
  const after = folded(text)
  return brand
    .filter((name) => before.includes(name.toLowerCase()) && !after.includes(name.toLowerCase()))
    .map((what) => ({ rule: "names", what }))
}

/** Returns the app's own name: the part before the first separator. */
export function ownNameIn(name: string): string {
  const [brand = ""] = name.split(/\s?[:–—|·]\s?| - /u)
  return brand.trim()
}
