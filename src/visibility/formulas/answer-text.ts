import { Cache } from "../../lib/cache.ts"
import { storeIdInLink } from "../../lib/store-pages.ts"
import { UNSPACED, wordsOf } from "../../stores/app-text.ts"

/**
 * The letters of an answer without separators, folded in the same way as app names, with the positions of the
 * separators.
 */
export interface AnswerText {
  raw: string
  letters: string
  /** Start and end of the letter's word in the answer, by letter. */
  from: Int32Array
  to: Int32Array
  /** Index of the letter's word, by letter. */
  word: Int32Array
  /** Bits of `FLAG`, by letter, with one more entry for the end. */
  flags: Uint8Array
  /** Store ids and packages that the answer links to. */
  links: string[]
}

/**
 * Flags of a letter: a name may begin before it, a name may end before it, no name may span the position before it, an
 * apostrophe precedes it.
 */
export const FLAG = { begins: 1, ends: 2, parts: 4, apostrophe: 8 } as const

/** Links count by the app that they lead to. The words inside a URL are ignored. */
export function answerText(answer: string): AnswerText {
  const raw = answer.toWellFormed()
  const links = [...raw.matchAll(ADDRESS)].flatMap(([address]) => storeIdInLink(address.replace(/[.,;]+$/, "")) ?? [])
  const words = wordsIn(raw.replace(SOURCE, blanks).replace(ADDRESS, blanks))
  const size = words.reduce((sum, { parts }) => sum + parts.reduce((letters, part) => letters + part.length, 0), 0)
  const text: AnswerText = {
    raw,
    letters: words.flatMap(({ parts }) => parts).join(""),
    links,
    from: new Int32Array(size),
    to: new Int32Array(size),
    word: new Int32Array(size),
    flags: new Uint8Array(size + 1),
  }
  let at = 0
  words.forEach((word, index) => {
    at = place(text, word, index, at)
  })
  if (size > 0) text.flags[size]! |= FLAG.ends
  return text
}

const ADDRESS = /https?:\/\/[^\s<>)\]"'|]+/g
/** A source that is cited after a sentence by its host only. */
const SOURCE = /\[(?:[\w-]+\.)+[a-z]{2,}\]\(https?:\/\/[^\s)]*\)/gi

function blanks(text: string): string {
  return " ".repeat(text.length)
}

interface RawWord {
  from: number
  to: number
  /** Folded, split at apostrophes. */
  parts: string[]
  unspaced: boolean
  /**
   * True if names may contain the separator before this word. This word and the previous word may then belong to one
   * name.
   */
  joined: boolean
}

const LETTER = `(?:(?![${UNSPACED}])[\\p{L}\\p{N}\\p{M}])`
const WORD = new RegExp(`(?<unspaced>[${UNSPACED}]+)|${LETTER}+(?:['’ʼ＇]${LETTER}+)*`, "gu")
const JOINING = /^(?:[ \u00a0]?[-–&+*_·/™®]{0,3}[ \u00a0]?|[.!！])$/

/**
 * Entries never become stale. Folding is the most expensive step, and the answers to one keyword have most words in
 * common.
 */
const foldedWords = new Cache<string, string[]>(20_000)

function wordsIn(text: string): RawWord[] {
  let end = 0
  return [...text.matchAll(WORD)].map(({ 0: raw, index, groups }) => {
    const unspaced = groups?.unspaced !== undefined
    const folded = foldedWords.getOrMake(raw, () => raw.split(/['’ʼ＇]/).map((part) => wordsOf(part).join("")))
    const joined = JOINING.test(text.slice(end, index))
    end = index + raw.length
    return { from: index, to: end, parts: folded, unspaced, joined }
  })
}

function place(text: AnswerText, word: RawWord, index: number, start: number): number {
  const { flags } = text
  let at = start
  flags[at]! |= FLAG.begins | FLAG.ends | (word.joined ? 0 : FLAG.parts)
  word.parts.forEach((part, nth) => {
    if (nth > 0) flags[at]! |= FLAG.begins | FLAG.ends | FLAG.apostrophe
    for (let step = 0; step < part.length; step++) {
      const letter = at + step
      text.from[letter] = word.from
      text.to[letter] = word.to
      text.word[letter] = index
      if (word.unspaced && step > 0) flags[letter]! |= withinRun(part, step)
    }
    at += part.length
  })
  return at
}

/**
 * Returns where a name may begin and end inside a run of a script without spaces. Japanese words often end where the
 * script changes; Korean particles follow a name without a space.
 */
function withinRun(run: string, step: number): number {
  const [before, after] = [scriptOf(run[step - 1]!), scriptOf(run[step]!)]
  if (before !== after) return FLAG.begins | FLAG.ends
  if (after === "hangul") return FLAG.ends
  if (after === "kana") return 0
  if (after !== "hiragana") return FLAG.begins | FLAG.ends
  return (PARTICLE.test(run[step - 1]!) ? FLAG.begins : 0) | (PARTICLE.test(run[step]!) ? FLAG.ends : 0)
}

const PARTICLE = /[はがをにでとのもやへ]/

function scriptOf(letter: string): string {
  if (/[\p{Script=Katakana}ー]/u.test(letter)) return "kana"
  if (/\p{Script=Hiragana}/u.test(letter)) return "hiragana"
  return /\p{Script=Hangul}/u.test(letter) ? "hangul" : "other"
}
