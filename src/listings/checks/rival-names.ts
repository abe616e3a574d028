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
 * The names to look for: what stands before the first dash, colon or bracket of an app's name, and a maker without its legal
 * form. Names made of nothing but common words tell nobody apart and are left out: common are the words of the tracked
 * keywords, fillers, small words, what two rivals or more have in their names, and what stands after that dash in one.
 */
export function rivalNames(known: AppBackground, { language, vocabulary, common }: NameContext) {
  const brand = (name: string) => termsOf(headOf(name), language)
  const maker = (name: string | null) => termsOf((name ?? "").slice(0, LONGEST).replace(LEGAL_FORM, ""), language)
  const names = [...new Set(known.rivals.map(({ name }) => name))]
  const parts = names.map((name) => partsOf(name, language))
  const makers = [...new Set(known.rivals.map(({ developer }) => developer))].map(maker)
  const isCommon = new Set([...common, ...commonWords(parts, vocabulary)])
  const telling = (all: string[][]) => phrasesFrom(all.filter((words) => isTelling(words, isCommon)))
  return {
    brand: brand(known.name ?? ""),
    maker: maker(known.developer),
    rivals: telling(parts.map(({ head }) => head)),
    makers: telling(makers),
  }
}

const ENDS_BRAND = /\s+[-–—|·•~]\s*|\s*[:：|(（,，、【「]|[-–—]\s+/u
const LEGAL_FORM =
  /(?:[\s,.]+(?:inc|llc|ltd|limited|gmbh|ug|ag|bv|oy|ab|as|aps|sa|sas|sarl|srl|spa|sl|kg|co|corp|corporation|company|pty|plc|pte|lda|ltda|kft|doo|sro|zoo|oü)\.?)+$|株式会社|有限公司|주식회사|\(주\)/giu

/** No name is longer; what an upstream says might be. */
const LONGEST = 200

function headOf(name: string): string {
  return name.slice(0, LONGEST).split(ENDS_BRAND)[0] as string
}

function termsOf(name: string, language: string): string[] {
  return wordsOf(name.slice(0, LONGEST), language).map(({ term }) => term)
}

/** Terms of a name: before its first dash, behind it, and of all of it. */
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
  const held = names.flatMap(({ all }) => [...new Set(all)])
  const often = [...Map.groupBy(held, (term) => term)].filter(([, { length }]) => length > 1).map(([term]) => term)
  const fillers = [...vocabulary.filler.byFirst.values()].flat(2)
  return [...often, ...names.flatMap(({ tail }) => tail), ...fillers, ...vocabulary.stop]
}

/** One word of fewer than three letters is no name to look for, in scripts that spell. */
function isTelling(words: readonly string[], common: ReadonlySet<string>): boolean {
  if (words.length === 0 || words.length > 5 || words.every((word) => common.has(word))) return false
  return words.join("").length >= 3 || /^\p{Script=Han}{2}/u.test(words.join(""))
}
