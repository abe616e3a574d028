import { Cache } from "../../lib/cache.ts"
import { storeIdInLink } from "../../lib/store-pages.ts"
import { UNSPACED, wordsOf } from "../../stores/app-text.ts"

/** The letters of an answer in a row, folded as apps' names are, with what stands between them. */
export interface AnswerText {
  raw: string
  letters: string
  /** By letter: where its word begins and ends in the answer. */
  from: Int32Array
  to: Int32Array
  /** By letter: which word it is of. */
  word: Int32Array
  /** By letter, and one for the end: what may happen there. */
  flags: Uint8Array
  /** Store ids and packages that the answer links to. */
  links: string[]
}

/** A name may begin before this letter; may end before it; may not go on over it; goes on over an apostrophe. */
export const FLAG = { begins: 1, ends: 2, parts: 4, apostrophe: 8 } as const

/** Web addresses are taken for what they lead to, and not for the words in them. */
export function answerText(answer: string): AnswerText {
  const raw = answer.toWellFormed()
  const links = [...raw.matchAll(ADDRESS)].flatMap(([address]) => storeIdInLink(address.replace(/[.,;]+$/, "")) ?? [])
  const words = wordsIn(raw.replace(SOURCE, blanks).replace(ADDRESS, blanks))
  const size = words.reduce((sum, { parts }) => sum + parts.reduce((letters, part) => letters + part.length, 0), 0)
  const text: AnswerText = {
    ...{ raw, letters: words.flatMap(({ parts }) => parts).join(""), links },
    ...{ from: new Int32Array(size), to: new Int32Array(size), word: new Int32Array(size) },
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
/** A source that stands behind a sentence by its host alone. */
const SOURCE = /\[(?:[\w-]+\.)+[a-z]{2,}\]\(https?:\/\/[^\s)]*\)/gi

function blanks(text: string): string {
  return " ".repeat(text.length)
}

interface RawWord {
  from: number
  to: number
  /** Folded, between its apostrophes. */
  parts: string[]
  unspaced: boolean
  /** What stands before it joins it with the word before: they may be of one name. */
  joined: boolean
}

const WORD = new RegExp(
  `(?<unspaced>[${UNSPACED}]+)|(?:(?![${UNSPACED}])[\\p{L}\\p{N}\\p{M}])+(?:['’ʼ＇](?:(?![${UNSPACED}])[\\p{L}\\p{N}\\p{M}])+)*`,
  "gu",
)
const JOINING = /^(?:[ \u00a0]?[-–&+*_·/™®]{0,3}[ \u00a0]?|[.!！])$/

/** An entry is never stale. Folding is the dearest step, and the answers to a keyword share their words. */
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

/** Within a run of a script without spaces. Japanese words change their script; Korean particles stand behind a name. */
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
