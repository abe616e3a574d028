import { WORD_LISTS } from "../../lib/words/lists.ts"
import { UNSPACED, wordsOf } from "../../stores/app-text.ts"
import { ORDINARY_WORDS } from "./ordinary-words.ts"

/** An app that an answer may name, in one store or both. */
export interface NamedApp {
  /** Display name. */
  name: string
  /** Full names, as stores or people write them. The part before the first separator (": – | -") matches too. */
  names: readonly string[]
  /** Store ids and packages. */
  ids: readonly string[]
}

/**
 * One way to write an app's name, folded. If several apps share a name, the first of these apps in the list gets it.
 */
export interface Spelling {
  app: number
  letters: string
  /**
   * The store's spelling, which is required if the name is ambiguous, such as an ordinary word. Null if any capitals
   * match.
   */
  exact: string | null
  /** True if the name has capitals inside, so that the store's capitalisation alone identifies the app. */
  sure: boolean
  /** True if longer names begin with this one. A capitalised word after this name then indicates another app. */
  opens: boolean
  apostrophe: boolean
}

export interface AppNames {
  apps: readonly NamedApp[]
  /** Indexed by the first two letters, longest first. */
  spellings: ReadonlyMap<string, readonly Spelling[]>
  ofLink: ReadonlyMap<string, number>
}

/** Increment it whenever the same answer and apps may give other mentions than before. */
export const MATCHER_VERSION = 1

/**
 * Returns the names to find. `answers` are used to detect names that also occur in small letters, and so are ordinary
 * words too.
 */
export function toAppNames(apps: readonly NamedApp[], answers: readonly string[]): AppNames {
  const spoken = wordsInSmallLetters(answers)
  const found = new Map<string, Spelling & { owners: Set<string> }>()
  apps.forEach(({ names, name }, app) => {
    for (const spelt of new Set(names.flatMap((item) => [shortName(item), ...calledName(item), item]))) {
      const words = wordsOf(spelt)
      const letters = words.join("")
      if (letters.length < 2) continue
      const spelling = found.get(letters)
      if (spelling) spelling.owners.add(name)
      else {
        const opens = words.length === 1 && UMBRELLAS.has(letters)
        const exact = opens || isOrdinary(words, spelt, spoken) ? spelt : null
        // ordinary words have no capitals inside
        const sure = !opens && /^\p{L}\P{L}*\p{L}*\p{Lu}/u.test(spelt)
        const apostrophe = /['’]/.test(spelt)
        found.set(letters, { app, letters, exact, sure, opens, apostrophe, owners: new Set([name]) })
      }
    }
  })
  const all = [...found.values()].map(({ owners, ...one }) => {
    const shared =
      owners.size > 1 ? apps[one.app]!.names.map(shortName).find((spelt) => sameLetters(spelt, one.letters)) : undefined
    return { ...one, exact: one.exact ?? shared ?? null }
  })
  const sorted = all.toSorted((a, b) => b.letters.length - a.letters.length)
  return {
    apps,
    spellings: Map.groupBy(sorted, ({ letters }) => letters.slice(0, 2)),
    ofLink: new Map(apps.flatMap(({ ids }, app) => ids.map((id) => [id, app] as const)).toReversed()),
  }
}

function sameLetters(spelt: string, letters: string): boolean {
  return wordsOf(spelt).join("") === letters
}

/** Returns the name before the first separator: "Canva" for "Canva: Photo & Video Editor". */
export function shortName(name: string): string {
  const [short = ""] = name.split(APART)
  return short.trim() === "" ? name : short.trim()
}

const APART = new RegExp(
  "\\s*[・•·:：|｜]\\s*|\\s+[–—-]+\\s*|\\s*[–—]\\s+|\\s*[(（【[]|" +
    `(?<=[${UNSPACED}])[-–—]|[-–—](?=[${UNSPACED}])|\\.\\s|\\sby\\s`,
  "u",
)

/** Companies whose apps begin with the company's name. */
const UMBRELLAS = new Set([
  "google",
  "microsoft",
  "apple",
  "adobe",
  "amazon",
  "samsung",
  "yahoo",
  "yandex",
  "proton",
  "zoho",
  "naver",
  "kakao",
  "meta",
  "fitbit",
  "garmin",
  "nike",
  "norton",
  "avast",
  "ea",
  "disney",
  "bbc",
  "cnn",
  "espn",
  "xbox",
  "playstation",
  "sony",
  "intuit",
  "baidu",
  "tencent",
])

const ORDINARY = new Set([
  ...ORDINARY_WORDS.flatMap(wordsOf),
  ...Object.values(WORD_LISTS).flatMap(({ stop, filler, free, deal }) => wordsOf(`${stop} ${filler} ${free} ${deal}`)),
])
const SHORT_UNSPACED = new RegExp(`^[${UNSPACED}]{1,2}$`, "u")

/**
 * Returns whether a name is an ordinary word. A name that the store itself writes in small letters is never ordinary,
 * even if answers write it so too.
 */
function isOrdinary(words: readonly string[], spelt: string, spoken: ReadonlySet<string>): boolean {
  const [word] = words
  if (words.length !== 1 || word === undefined) return false
  return ORDINARY.has(word) || SHORT_UNSPACED.test(word) || (spoken.has(word) && /\p{Lu}/u.test(spelt))
}

/**
 * Returns the short form of a name that ends in a description: "Waze" for "Waze Navigation & Live Traffic". Empty if
 * the rest would be an ordinary word or the name of a company.
 */
function calledName(name: string): string[] {
  const parts = shortName(name).split(/\s+/)
  const kind = parts.findIndex((part, at) => at > 0 && wordsOf(part).some((word) => KINDS.has(word)))
  if (kind < 1 || !parts.slice(kind).every((part) => wordsOf(part).every((word) => KINDS.has(word)))) return []
  const called = parts.slice(0, kind).join(" ")
  const words = wordsOf(called)
  return words.length === 1 && (ORDINARY.has(words[0]!) || UMBRELLAS.has(words[0]!)) ? [] : [called]
}

/** Words that describe an app inside its name. */
const KINDS = new Set(
  wordsOfAll([
    "app ai messenger messaging photo photos video editor camera navigation live traffic gps maps map music player " +
      "browser mail email inbox",
    "notes calendar planner tracker timer meditation sleep finance budget money bank banking wallet fitness " +
      "workout running diary journal",
    "language learning lessons translate weather news games vpn cloud storage scanner pdf reader radio podcasts " +
      "and the for your",
  ]),
)

function wordsOfAll(lines: readonly string[]): string[] {
  return lines.flatMap((line) => line.split(" "))
}

/** Minimum share of a word's occurrences in small letters for the word to count as ordinary. */
const SMALL_SHARE = 0.2
const SPOKEN = /(?<![\p{L}\p{N}.@/#_-])\p{L}[\p{L}\p{M}]+(?![\p{L}\p{N}@/_-]|\.\p{L})/gu

function wordsInSmallLetters(answers: readonly string[]): Set<string> {
  const counts = new Map<string, { small: number; all: number }>()
  for (const answer of answers) {
    for (const [word] of answer.replace(/https?:\/\/\S+/g, " ").matchAll(SPOKEN)) {
      const key = word.toLowerCase()
      const count = counts.get(key) ?? { small: 0, all: 0 }
      counts.set(key, {
        small: count.small + (word === key && word !== word.toUpperCase() ? 1 : 0),
        all: count.all + 1,
      })
    }
  }
  return new Set(
    [...counts].flatMap(([word, { small, all }]) => (small >= SMALL_SHARE * all && small > 0 ? wordsOf(word) : [])),
  )
}
