import { type AnswerText, answerText, FLAG } from "./answer-text.ts"
import type { AppNames, Spelling } from "./app-names.ts"
import { type MarkedPart, markedParts } from "./marked-parts.ts"

/** The apps that an answer names, as indexes into the known apps. */
export interface AnswerMentions {
  /** Apps that are named, in order of appearance. Apps that only the answer's sources link to come last. */
  named: number[]
  /** Apps whose name occurs where it may be an ordinary word. These apps count as neither named nor absent. */
  uncertain: number[]
  /** Capitalised heads of lists and bold words that match no known app, as written. */
  unknownNames: string[]
}

/**
 * Finds the known apps in an answer. A link to an app's page always counts. Otherwise the name must stand between word
 * borders; longer names are tried first. A name that is also an ordinary word counts only if it is formatted as a name
 * and capitalised as in the store. If it is capitalised like that but not formatted, it is uncertain.
 */
export function mentionsIn(answer: string, cited: readonly string[], names: AppNames): AnswerMentions {
  const text = answerText(answer)
  const parts = markedParts(text.raw)
  const named = new Map<number, number>()
  const uncertain = new Set<number>()
  for (const { spelling, at } of namesIn(text, names)) {
    const verdict = verdictOf(text, spelling, at, parts)
    if (verdict === "named" && !named.has(spelling.app)) named.set(spelling.app, text.from[at]!)
    if (verdict === "uncertain") uncertain.add(spelling.app)
  }
  for (const id of [...text.links, ...cited.flatMap((address) => answerText(address).links)]) {
    const app = names.ofLink.get(id)
    if (app !== undefined && !named.has(app)) named.set(app, Number.POSITIVE_INFINITY)
  }
  return {
    named: [...named].toSorted(([, a], [, b]) => (a === b ? 0 : a - b)).map(([app]) => app),
    uncertain: [...uncertain].filter((app) => !named.has(app)),
    unknownNames: othersIn(text, parts, names),
  }
}

interface NameAt {
  spelling: Spelling
  at: number
}

function namesIn(text: AnswerText, { spellings }: AppNames): NameAt[] {
  const { letters, flags } = text
  const found: NameAt[] = []
  for (let at = 0; at < letters.length; ) {
    const here = (flags[at]! & FLAG.begins) > 0 ? spellings.get(letters.slice(at, at + 2)) : undefined
    const spelling = here?.find((item) => letters.startsWith(item.letters, at) && isWhole(text, item, at))
    if (spelling) found.push({ spelling, at })
    at += spelling ? spelling.letters.length : 1
  }
  return found
}

/** Returns whether the match lies on word borders and spans no separator that ends a name. */
function isWhole({ flags }: AnswerText, { letters: { length }, apostrophe }: Spelling, at: number): boolean {
  if ((flags[at + length]! & FLAG.ends) === 0) return false
  for (let step = 1; step < length; step++) {
    const flag = flags[at + step]!
    if ((flag & FLAG.parts) > 0 || ((flag & FLAG.apostrophe) > 0 && !apostrophe)) return false
  }
  return true
}

function verdictOf(
  text: AnswerText,
  spelling: Spelling,
  at: number,
  parts: readonly MarkedPart[],
): "named" | "uncertain" | "word" {
  const last = at + spelling.letters.length - 1
  const [from, to] = [text.from[at]!, text.to[last]!]
  if (spelling.opens && isOpened(text.raw, to)) return "uncertain"
  if (spelling.exact === null) return "named"
  const written = text.raw.slice(from, to)
  const isName = parts.some((part) => part.from <= from && to <= part.to && wordsIn(text, part) <= 2)
  // a suffix may follow the name
  if (written.includes(spelling.exact)) return isName || spelling.sure ? "named" : "uncertain"
  return isName && written.toUpperCase() === written ? "uncertain" : "word"
}

const PLANS =
  /^(?:pro|premium|plus|lite|free|app|apps|go|max|family|business|ai|mobile|basic|standard|teams|play|store)$/i

/** Returns whether the next word is capitalised and belongs to the name of another app. */
function isOpened(raw: string, to: number): boolean {
  const [, next] = /^[  -]([\p{Lu}\p{N}][\p{L}\p{N}]*)/u.exec(raw.slice(to, to + 40)) ?? []
  return next !== undefined && !PLANS.test(next)
}

/** Counts the words of a part, without articles and generic words such as "app". */
function wordsIn({ raw }: AnswerText, { from, to }: MarkedPart): number {
  const all = raw.slice(from, to).match(/[\p{L}\p{N}][\p{L}\p{N}\p{M}'’]*/gu) ?? []
  return all.filter((word) => !/^(?:app|apps|the|die|der|das|la|le|el|アプリ|앱)$/iu.test(word)).length
}

const LONGEST_OTHER = 5
const IS_NAME = /^[\p{Lu}\p{Lo}\p{N}]/u

function othersIn(text: AnswerText, parts: readonly MarkedPart[], names: AppNames): string[] {
  const taken = namesIn(text, names).map(
    ({ at, spelling }) => [text.from[at]!, text.to[at + spelling.letters.length - 1]!] as const,
  )
  const written = parts.flatMap(({ from, to }) => {
    const isTaken = taken.some(([start, end]) => start < to && end > from)
    const name = text.raw
      .slice(from, to)
      .replace(/[*_[\]"“”「」『』]/g, "")
      .trim()
    const words = name.split(/\s+/)
    return !isTaken && IS_NAME.test(name) && words.length <= LONGEST_OTHER && name.length <= 60 ? [name] : []
  })
  return [...new Set(written)]
}
