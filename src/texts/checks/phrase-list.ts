import { foldReviewText } from "../../reviews/formulas/review-text.ts"

/**
 * Phrases by language, separated by spaces. "_" joins the words of a phrase, "/" separates alternative words, and "*"
 * at the start or end of a word matches any letters.
 */
export type PhraseList = Readonly<Record<string, string>>

/** Returns the phrases of a language that occur in a text, in folded spelling. Empty for a language without a list. */
export function phrasesIn(text: string, list: PhraseList, language: string): string[] {
  const pattern = patternOf(list[language] ?? "")
  return pattern === null ? [] : [...foldReviewText(text).matchAll(pattern)].map(([found]) => found)
}

/**
 * Returns a pattern for whole words, or for any position in scripts without spaces. It matches the longest phrase. Null
 * if there are no phrases.
 */
export function patternOf(phrases: string): RegExp | null {
  const cached = patterns.get(phrases)
  if (cached !== undefined) return cached
  const parts = phrases.split(/\s+/).filter((phrase) => phrase !== "")
  const made = parts.length === 0 ? null : new RegExp(sourceOf(treeOf(parts.flatMap(spelledOut).map(atomsOf))), "gu")
  patterns.set(phrases, made)
  return made
}

const patterns = new Map<string, RegExp | null>()

/** Expands the alternatives of a phrase. */
function spelledOut(phrase: string): string[] {
  return phrase
    .split("_")
    .map((word) => word.split("/"))
    .reduce<string[]>((begun, words) => begun.flatMap((item) => words.map((word) => `${item} ${word}`)), [""])
    .map((item) => item.trim())
}

/** Korean separates words with spaces, but attaches particles to the word. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u
/** A word in Latin letters ends where another script begins: "CMが". */
const LATIN = /^[\p{Script=Latin}\p{Script=Common}\p{M}]+$/u
const letterOf = (word: string): string => (LATIN.test(word) ? "[\\p{Script=Latin}\\p{M}\\p{N}]" : "[\\p{L}\\p{N}]")

/** Returns the parts of a pattern for a phrase: its start, its characters, its end. */
function atomsOf(phrase: string): string[] {
  const words = phrase.split(" ")
  const folded = words.map((word) => foldReviewText(word.replace(/^\*|\*$/g, "")))
  const isJoined = (place: number) => UNSPACED.test(folded.at(place)!)
  const begin = isJoined(0) || phrase.startsWith("*") ? [] : [`(?<!${letterOf(folded[0]!)})`]
  const characters = folded.flatMap((word, at) => [
    ...(at === 0 ? [] : [" "]),
    ...[...word].map((character) => character.replace(/[.*+?^${}()|[\]\\]/, "\\$&")),
    ...(words[at]!.endsWith("*") && !UNSPACED.test(word) ? [`${letterOf(word)}*`] : []),
  ])
  const isOpen = isJoined(-1) || phrase.endsWith("*") || folded.at(-1)!.endsWith("'")
  return [...begin, ...characters, ...(isOpen ? [] : [`(?!${letterOf(folded.at(-1)!)})`])]
}

/** A prefix tree of phrases, so that the pattern tries a common start once. The key "" marks the end of a phrase. */
type Tree = Map<string, Tree>

function treeOf(phrases: readonly (readonly string[])[]): Tree {
  const tree: Tree = new Map()
  for (const phrase of phrases) {
    let at = tree
    for (const atom of [...phrase, ""]) {
      const next: Tree = at.get(atom) ?? new Map()
      at.set(atom, next)
      at = next
    }
  }
  return tree
}

function sourceOf(tree: Tree): string {
  // longer branches come first, so that the longest phrase matches
  const ends = (atom: string) => (atom === "" ? 2 : atom.startsWith("(?!") ? 1 : 0)
  const branches = [...tree]
    .toSorted(([a], [b]) => ends(a) - ends(b))
    .map(([atom, rest]) => (atom === "" ? "" : atom + sourceOf(rest)))
  return branches.length === 1 ? branches[0]! : `(?:${branches.join("|")})`
}
