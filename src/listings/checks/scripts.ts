import { SCRIPTS, type Script } from "../../lib/words/entry.ts"
import { quoted } from "./finding.ts"
import { type Check, type FieldText, given, type Listing, type Mark, markOf, type Word } from "./listing.ts"

/**
 * Reports letters of other scripts. A Latin name or keyword is common everywhere and only a hint; a longer text with
 * less than a third of its letters in the locale's script is a warning.
 */
export const scripts: Check = (listing) => [
  ...given(listing, "name", "subtitle", "keywords", "promotionalText", "description").flatMap((field) =>
    foreign(field, listing),
  ),
  ...given(listing, "name", "subtitle", "keywords").flatMap((field) =>
    field.words.flatMap((word) => mixed(field, word)),
  ),
]

/** Counts the letters of a text by script. */
export function lettersOf(text: string): Map<Script, number> {
  const letters = new Map<Script, number>()
  for (const { 0: run, groups } of text.matchAll(RUNS)) {
    const script = SCRIPTS.find((name) => groups?.[name] !== undefined)
    if (script) letters.set(script, (letters.get(script) ?? 0) + run.length)
  }
  return letters
}

/** Returns the share of a text's letters in these scripts. Null if it has no letters. */
export function shareIn(text: string, scripts: readonly Script[]): number | null {
  const letters = lettersOf(text)
  const all = [...letters.values()].reduce((sum, count) => sum + count, 0)
  return all === 0 ? null : scripts.reduce((sum, script) => sum + (letters.get(script) ?? 0), 0) / all
}

const RUNS = new RegExp(SCRIPTS.map((script) => `(?<${script}>\\p{Script=${script}}+)`).join("|"), "gu")
const MIN_SHARE = 1 / 3

function foreign(field: FieldText, { vocabulary }: Listing): Mark[] {
  const { scripts } = vocabulary.lists
  const share = shareIn(field.text, scripts)
  if (share === null || share >= MIN_SHARE) return []
  const word = field.words.find(({ text }) => shareIn(text, scripts) === 0)
  if (!word) return []
  const latin = !scripts.includes("Latin") && (shareIn(field.text, [...scripts, "Latin"]) ?? 0) > 0.9
  const severity = latin && (field.field === "name" || field.field === "keywords") ? "hint" : "warning"
  const message =
    `${percent(share)} of the ${field.label}'s letters are ${scripts.join(", ")}, the locale's script; ` +
    `${quoted(word.text)} is not.`
  return [markOf(field, word, { code: "foreign_script", severity, message })]
}

function percent(share: number): string {
  return share === 0 ? "None" : `Only ${Math.floor(share * 100)} %`
}

const LOOKALIKES: readonly Script[] = ["Latin", "Cyrillic", "Greek"]

function mixed(field: FieldText, word: Word): Mark[] {
  if (!/\p{Script=Cyrillic}|\p{Script=Greek}/u.test(word.text)) return []
  const letters = lettersOf(word.text)
  const alike = LOOKALIKES.filter((script) => letters.has(script))
  if (alike.length < 2) return []
  const message = `${quoted(word.text)} mixes ${alike.join(" and ")} letters, so searches do not find it.`
  return [markOf(field, word, { code: "mixed_script", severity: "warning", message })]
}
