import { foldReviewText } from "../../reviews/formulas/review-text.ts"

/** By language, phrases apart by blanks, "_" joining the words of one; "/" parts words of which one stands there, "*" at an end of a word stands for any letters. */
export type PhraseList = Readonly<Record<string, string>>

/** Phrases of a language that a text holds, in the text's folded spelling. A language without a list has none. */
export function phrasesIn(text: string, list: PhraseList, language: string): string[] {
  const pattern = patternOf(list[language] ?? "")
  return pattern === null ? [] : [...foldReviewText(text).matchAll(pattern)].map(([found]) => found)
}

/** Whole words; in scripts without blanks wherever the characters stand. The longest is found. Null = no phrases. */
export function patternOf(phrases: string): RegExp | null {
  const known = patterns.get(phrases)
  if (known !== undefined) return known
  const parts = phrases.split(/\s+/).filter((phrase) => phrase !== "")
  const made = parts.length === 0 ? null : new RegExp(sourceOf(treeOf(parts.flatMap(spelledOut).map(atomsOf))), "gu")
  patterns.set(phrases, made)
  return made
}

const patterns = new Map<string, RegExp | null>()

/** Each way to read a phrase with alternatives. */
function spelledOut(phrase: string): string[] {
  return phrase
    .split("_")
    .map((word) => word.split("/"))
    .reduce<string[]>((begun, words) => begun.flatMap((one) => words.map((word) => `${one} ${word}`)), [""])
    .map((one) => one.trim())
}

/** Korean writes blanks, but its particles are joined to the word. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u
/** A word in Latin letters ends where another script begins: "CMが". */
const LATIN = /^[\p{Script=Latin}\p{Script=Common}\p{M}]+$/u
const letterOf = (word: string): string => (LATIN.test(word) ? "[\\p{Script=Latin}\\p{M}\\p{N}]" : "[\\p{L}\\p{N}]")

/** What a phrase is made of, one after another: where it may begin, its characters, where it may end. */
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

/** Phrases by what they begin with: a text is looked through once for all that begin alike. The key "" = one ends here. */
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
  // what goes on is tried before what ends: what is taken out of a text goes whole
  const ends = (atom: string) => (atom === "" ? 2 : atom.startsWith("(?!") ? 1 : 0)
  const branches = [...tree]
    .toSorted(([a], [b]) => ends(a) - ends(b))
    .map(([atom, rest]) => (atom === "" ? "" : atom + sourceOf(rest)))
  return branches.length === 1 ? branches[0]! : `(?:${branches.join("|")})`
}
