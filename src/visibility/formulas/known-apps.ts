import { WORD_LISTS } from "../../lib/words/lists.ts"
import { UNSPACED, wordsOf } from "../../stores/app-text.ts"
import { ORDINARY_WORDS } from "./ordinary-words.ts"

/** An app that an answer may name, in whichever stores it is. */
export interface KnownApp {
  /** As it is shown. */
  name: string
  /** As stores or people call it, whole: what is behind the first ": – | -" is left out where that names it too. */
  names: readonly string[]
  /** Store ids and packages. */
  ids: readonly string[]
}

/** A way to write an app, folded. Those of one name: the app that comes first among the known. */
export interface Spelling {
  app: number
  letters: string
  /** As the store has it, for names that are ordinary words; null = any capitals will do. */
  exact: string | null
  /** It has capitals within, so that the store's capitals are enough. */
  sure: boolean
  /** It begins longer names too: a capital behind it is of another app. */
  opens: boolean
  apostrophe: boolean
}

export interface KnownNames {
  apps: readonly KnownApp[]
  /** By the first two letters, the longest first. */
  spellings: ReadonlyMap<string, readonly Spelling[]>
  ofLink: ReadonlyMap<string, number>
}

/** Raised whenever the same answer and apps can give other mentions. */
export const MATCHER_VERSION = 1

/** `answers` say which names they hold in small letters: those are words too. */
export function knownNames(apps: readonly KnownApp[], answers: readonly string[]): KnownNames {
  const spoken = wordsInSmallLetters(answers)
  const found = new Map<string, Spelling & { owners: Set<string> }>()
  apps.forEach(({ names, name }, app) => {
    for (const spelt of new Set(names.flatMap((one) => [shortName(one), ...calledName(one), one]))) {
      const words = wordsOf(spelt)
      const letters = words.join("")
      if (letters.length < 2) continue
      const held = found.get(letters)
      if (held) held.owners.add(name)
      else {
        const opens = words.length === 1 && UMBRELLAS.has(letters)
        const exact = opens || isOrdinary(words, spelt, spoken) ? spelt : null
        // nobody writes a word so
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

/** "Canva: Photo & Video Editor" is Canva. */
export function shortName(name: string): string {
  const [short = ""] = name.split(APART)
  return short.trim() === "" ? name : short.trim()
}

const APART = new RegExp(
  `\\s*[・•·:：|｜]\\s*|\\s+[–—-]+\\s*|\\s*[–—]\\s+|\\s*[(（【[]|(?<=[${UNSPACED}])[-–—]|[-–—](?=[${UNSPACED}])|\\.\\s|\\sby\\s`,
  "u",
)

/** Houses whose apps are called after them. */
const UMBRELLAS = new Set([
  "google", "microsoft", "apple", "adobe", "amazon", "samsung", "yahoo", "yandex", "proton", "zoho", "naver", "kakao", "meta", "fitbit",
  "garmin", "nike", "norton", "avast", "ea", "disney", "bbc", "cnn", "espn", "xbox", "playstation", "sony", "intuit", "baidu", "tencent",
]) // biome-ignore format: a list to scan

const ORDINARY = new Set([
  ...ORDINARY_WORDS.flatMap(wordsOf),
  ...Object.values(WORD_LISTS).flatMap(({ stop, filler, free, deal }) => wordsOf(`${stop} ${filler} ${free} ${deal}`)),
])
const SHORT_UNSPACED = new RegExp(`^[${UNSPACED}]{1,2}$`, "u")

/** What a store writes in small letters anyway is known by them as a name, not as a word. */
function isOrdinary(words: readonly string[], spelt: string, spoken: ReadonlySet<string>): boolean {
  const [word] = words
  if (words.length !== 1 || word === undefined) return false
  return ORDINARY.has(word) || SHORT_UNSPACED.test(word) || (spoken.has(word) && /\p{Lu}/u.test(spelt))
}

/**
 * What people call an app whose name ends in what it is: "Waze" of "Waze Navigation & Live Traffic". None where what would be
 * left is a word, or the name of a house.
 */
function calledName(name: string): string[] {
  const parts = shortName(name).split(/\s+/)
  const kind = parts.findIndex((part, at) => at > 0 && wordsOf(part).some((word) => KINDS.has(word)))
  if (kind < 1 || !parts.slice(kind).every((part) => wordsOf(part).every((word) => KINDS.has(word)))) return []
  const called = parts.slice(0, kind).join(" ")
  const words = wordsOf(called)
  return words.length === 1 && (ORDINARY.has(words[0]!) || UMBRELLAS.has(words[0]!)) ? [] : [called]
}

/** What apps are, as their names say it. */
const KINDS = new Set(
  wordsOfAll([
    "app ai messenger messaging photo photos video editor camera navigation live traffic gps maps map music player browser mail email inbox",
    "notes calendar planner tracker timer meditation sleep finance budget money bank banking wallet fitness workout running diary journal",
    "language learning lessons translate weather news games vpn cloud storage scanner pdf reader radio podcasts and the for your",
  ]),
)

function wordsOfAll(lines: readonly string[]): string[] {
  return lines.flatMap((line) => line.split(" "))
}

/** So much of what answers hold of a word must be in small letters. */
const SMALL_SHARE = 0.2
const SPOKEN = /(?<![\p{L}\p{N}.@/#_-])\p{L}[\p{L}\p{M}]+(?![\p{L}\p{N}@/_-]|\.\p{L})/gu

function wordsInSmallLetters(answers: readonly string[]): Set<string> {
  const counts = new Map<string, { small: number; all: number }>()
  for (const answer of answers) {
    for (const [word] of answer.replace(/https?:\/\/\S+/g, " ").matchAll(SPOKEN)) {
      const key = word.toLowerCase()
      const held = counts.get(key) ?? { small: 0, all: 0 }
      counts.set(key, { small: held.small + (word === key && word !== word.toUpperCase() ? 1 : 0), all: held.all + 1 })
    }
  }
  return new Set(
    [...counts].flatMap(([word, { small, all }]) => (small >= SMALL_SHARE * all && small > 0 ? wordsOf(word) : [])),
  )
}
