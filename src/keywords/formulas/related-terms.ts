/** Number of places of two keywords' results that are compared. */
export const NEAR_PLACES = 20

/** Returns the weight of a place in search results; the first place has weight 1. */
export function placeWeight(place: number): number {
  return 1 / Math.log2(place + 1)
}

/** The weight factor of phrases of three or more words: searches are shorter than names. */
const LONG_PHRASE = 0.8

/**
 * Returns each phrase with the number of names that contain it and its weight; names further down weigh less. Ordered
 * by weight, then the shortest first, then alphabetically.
 *
 * Checked on 187 recorded lists of 20 places with `bun test/bench/research.ts`: Apple's monthly report of 7,500 terms
 * contains 58 % of the first ten phrases, and the first fifty contain 50 % of the keywords that share three apps of 20.
 * LONG_PHRASE was chosen on these lists; without it the shares are 57 and 49 %.
 */
export function weighPhrases(
  names: readonly ReadonlySet<string>[],
): { phrase: string; names: number; weight: number }[] {
  const found = new Map<string, { phrase: string; names: number; weight: number }>()
  names.forEach((phrases, at) => {
    for (const phrase of phrases) {
      const previous = found.get(phrase) ?? { phrase, names: 0, weight: 0 }
      found.set(phrase, { phrase, names: previous.names + 1, weight: previous.weight + placeWeight(at + 1) })
    }
  })
  for (const entry of found.values()) if (entry.phrase.split(" ").length > 2) entry.weight *= LONG_PHRASE
  return [...found.values()].sort(
    (a, b) => b.weight - a.weight || a.phrase.length - b.phrase.length || (a.phrase < b.phrase ? -1 : 1),
  )
}

/** Returns the similarity of two spellings, 0 to 1: the share of all their trigrams that both contain. */
export function likeness(one: string, other: string): number {
  const [ours, theirs] = [runsOf(one), runsOf(other)]
  const shared = [...ours].filter((run) => theirs.has(run)).length
  return shared / (ours.size + theirs.size - shared)
}

function runsOf(text: string): Set<string> {
  const runs = new Set<string>()
  for (const word of text.split(/\s+/u)) {
    const letters = [..."  ", ...word, " "]
    for (let at = 0; at + 3 <= letters.length; at++) runs.add(letters.slice(at, at + 3).join(""))
  }
  return runs
}
