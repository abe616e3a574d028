import { WORD_LISTS } from "../../src/lib/words/lists.ts"
import { problemsOf } from "../../src/texts/checks/checker.ts"
import listings from "./opentracks-listings.json"

// The store texts of OpenTracksApp/OpenTracks at 3c23a9f5400c7b5b914a221469d76cc019a18296, fastlane/metadata/android
// (Apache-2.0, Copyright the OpenTracks authors), unchanged.

export interface PeoplesListing {
  locale: string
  title: string | null
  short: string | null
  full: string
}

export const ORIGINAL = listings["en-US"] as { title: string; short: string; full: string }

export const BY_PEOPLE: readonly PeoplesListing[] = Object.entries(listings)
  .filter(([locale]) => locale !== "en-US")
  .map(([locale, texts]) => ({ locale, ...texts }))

/** Returns true if a translation has every line. 17 of the 31 human translations do. */
export const isWhole = ({ full }: { full: string }): boolean => linesIn(full) === linesIn(ORIGINAL.full)

function linesIn(text: string): number {
  return text.split("\n").filter((line) => line.trim() !== "").length
}

/** Returns a key of the word lists. */
export const languageOfLocale = (locale: string): string =>
  ({ "zh-CN": "zh-Hans", "zh-TW": "zh-Hant" })[locale] ?? locale.split("-")[0]!

/** Returns the translation rules that a human translation breaks. */
export function problemsIn(locale: string, text: string, translated: string, most: number) {
  const language = languageOfLocale(locale)
  const isKnown = language in WORD_LISTS
  const ground = { sources: [translated], language: isKnown ? language : "en", most, translated, names: ["OpenTracks"] }
  // seven languages do not exist in store listings
  return problemsOf("translation", text, ground).filter(({ rule }) => isKnown || rule !== "language")
}

/**
 * Returns the similarity of two texts from 0 to 1: the F-score of character n-grams of length one to six, with recall
 * weighted twice (chrF2).
 */
export function chrF(text: string, reference: string): number {
  const [a, b] = [text, reference].map((side) => [...side.replace(/\s+/gu, "")]) as [string[], string[]]
  const scores = [1, 2, 3, 4, 5, 6].flatMap((size) => {
    const [ownRuns, theirRuns] = [runsOf(a, size), runsOf(b, size)]
    const [all, theirTotal] = [sum(ownRuns), sum(theirRuns)]
    if (all === 0 || theirTotal === 0) return []
    const shared = [...ownRuns].reduce((total, [run, count]) => total + Math.min(count, theirRuns.get(run) ?? 0), 0)
    return [[shared / all, shared / theirTotal] as const]
  })
  if (scores.length === 0) return 0
  const [precision, recall] = [0, 1].map(
    (at) => scores.reduce((total, score) => total + score[at as 0]!, 0) / scores.length,
  )
  return precision === 0 || recall === 0 ? 0 : (5 * precision! * recall!) / (4 * precision! + recall!)
}

function runsOf(characters: readonly string[], size: number): Map<string, number> {
  const counted = new Map<string, number>()
  for (let at = 0; at + size <= characters.length; at++) {
    const run = characters.slice(at, at + size).join("")
    counted.set(run, (counted.get(run) ?? 0) + 1)
  }
  return counted
}

const sum = (counted: ReadonlyMap<string, number>) => [...counted.values()].reduce((total, count) => total + count, 0)
