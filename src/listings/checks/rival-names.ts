import type { AppBackground } from "./app-background.ts"
import { wordsOf } from "./field-text.ts"
import { phrasesFrom } from "./phrases.ts"
import type { Vocabulary } from "./vocabulary.ts"

interface NameContext {
  language: string
  vocabulary: Vocabulary
  /** Terms of the words of the tracked keywords. */
  common: readonly string[]
}

/**
 * Returns the names to search for: the part of an app's name before the first dash, colon or bracket, and the developer
 * without its legal form. Names made only of common words are left out, because they identify nobody. Common words are
 * the words of the tracked keywords, fillers, stop words, words in the names of two or more rivals, and words after the
 * dash.
 */
export function rivalNames(app: AppBackground, { language, vocabulary, common }: NameContext) {
  const brand = (name: string) => termsOf(headOf(name), language)
  const maker = (name: string | null) => termsOf((name ?? "").slice(0, LONGEST).replace(LEGAL_FORM, ""), language)
  const names = [...new Set(app.rivals.map(({ name }) => name))]
  const parts = names.map((name) => partsOf(name, language))
  const makers = [...new Set(app.rivals.map(({ developer }) => developer))].map(maker)
  const isCommon = new Set([...common, ...commonWords(parts, vocabulary)])
  const telling = (all: string[][]) => phrasesFrom(all.filter((words) => isTelling(words, isCommon)))
  return {
    brand: brand(app.name ?? ""),
    maker: maker(app.developer),
    rivals: telling(parts.map(({ head }) => head)),
    makers: telling(makers),
  }
}

const ENDS_BRAND = /\s+[-–—|·•~]\s*|\s*[:：|(（,，、【「]|[-–—]\s+/u
const LEGAL_FORM = new RegExp(
  [
    String.raw`(?:[\s,.]+(?:inc|llc|ltd|limited|gmbh|ug|ag|bv|oy|ab|as|aps|sa|sas|sarl|srl|spa|sl|kg|co|corp|`,
    String.raw`corporation|company|pty|plc|pte|lda|ltda|kft|doo|sro|zoo|oü)\.?)+$|株式会社|有限公司|주식회사|\(주\)`,
  ].join(""),
  "giu",
)

/** A limit for upstream data. No name is longer. */
const LONGEST = 200

function headOf(name: string): string {
  return name.slice(0, LONGEST).split(ENDS_BRAND)[0] as string
}

function termsOf(name: string, language: string): string[] {
  return wordsOf(name.slice(0, LONGEST), language).map(({ term }) => term)
}

/** The terms of a name before its first dash, the terms after it, and all terms. */
interface NameParts {
  head: string[]
  tail: string[]
  all: string[]
}

function partsOf(name: string, language: string): NameParts {
  const head = headOf(name)
  return {
    head: termsOf(head, language),
    tail: termsOf(name.slice(head.length), language),
    all: termsOf(name, language),
  }
}

function commonWords(names: readonly NameParts[], vocabulary: Vocabulary): string[] {
  const terms = names.flatMap(({ all }) => [...new Set(all)])
  const often = [...Map.groupBy(terms, (term) => term)].filter(([, { length }]) => length > 1).map(([term]) => term)
  const fillers = [...vocabulary.filler.byFirst.values()].flat(2)
  return [...often, ...names.flatMap(({ tail }) => tail), ...fillers, ...vocabulary.stop]
}

/** Returns whether the words identify an app. In alphabetic scripts, fewer than three letters do not. */
function isTelling(words: readonly string[], common: ReadonlySet<string>): boolean {
  if (words.length === 0 || words.length > 5 || words.every((word) => common.has(word))) return false
  return words.join("").length >= 3 || /^\p{Script=Han}{2}/u.test(words.join(""))
}
