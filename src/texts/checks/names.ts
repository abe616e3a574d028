import { normalForm } from "../../lib/normal-form.ts"
import type { TextProblem, TextRule } from "./check.ts"

/** The app's own name, where the text that was translated has it: nobody searches for it under another. */
export const names: TextRule = (text, { translated, names: own = [] }): TextProblem[] => {
  if (translated === undefined) return []
  const folded = (one: string) => normalForm(one, "NFC").toLowerCase()
  const before = folded(translated)
  const after = folded(text)
  return own
    .filter((name) => before.includes(name.toLowerCase()) && !after.includes(name.toLowerCase()))
    .map((what) => ({ rule: "names", what }))
}

/** What of an app's name is its own: up to what parts it from a description. */
export function ownNameIn(name: string): string {
  const [own = ""] = name.split(/\s?[:–—|·]\s?| - /u)
  return own.trim()
}
