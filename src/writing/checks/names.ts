import { normalForm } from "../../vocabulary/normal-form.ts"
import type { TextProblem, TextRule } from "./check.ts"

/** The app's own name, where the text that was translated has it: nobody searches for it under another. */
export const names: TextRule = (text, { translated, names: own = [] }): TextProblem[] => {
  if (translated === undefined) return []
  const [before, after] = [translated, text].map((one) => normalForm(one, "NFC").toLowerCase())
  return own
    .filter((name) => before!.includes(name.toLowerCase()) && !after!.includes(name.toLowerCase()))
    .map((what) => ({ rule: "names", what }))
}

/** What of an app's name is its own: up to what parts it from a description. */
export function ownNameIn(name: string): string {
  return name.split(/\s?[:–—|·]\s?| - /u)[0]!.trim()
}
