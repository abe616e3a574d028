/** The places of a search's results that two keywords are compared by. */
export const NEAR_PLACES = 20

/** What a place of a search's results tells of the search, of what the first tells. */
export function placeWeight(place: number): number {
  return 1 / Math.log2(place + 1)
}

/** What a phrase of three words counts of one of fewer: who searches types less than a name says. */
const LONG_PHRASE = 0.8

/**
 * Phrases by the names that hold them, a name the less the lower it stands. Those of the highest weight
 * first, then the shortest, then in the order of their letters.
 *
 * Measured on 187 recorded lists of 20 places (`bun test/bench/research.ts`): Apple's monthly report of 7,500 terms has 58 % of the first ten, and of the keywords that share
 * three apps of 20 the first fifty hold 50 %. LONG_PHRASE was chosen on them: without it 57 and 49 %.
 */
export function weighPhrases(
  names: readonly ReadonlySet<string>[],
): { phrase: string; names: number; weight: number }[] {
  const found = new Map<string, { phrase: string; names: number; weight: number }>()
  names.forEach((phrases, at) => {
    for (const phrase of phrases) {
      const held = found.get(phrase) ?? { phrase, names: 0, weight: 0 }
      found.set(phrase, { phrase, names: held.names + 1, weight: held.weight + placeWeight(at + 1) })
    }
  })
  for (const one of found.values()) if (one.phrase.split(" ").length > 2) one.weight *= LONG_PHRASE
  return [...found.values()].sort(
    (a, b) => b.weight - a.weight || a.phrase.length - b.phrase.length || (a.phrase < b.phrase ? -1 : 1),
  )
}

/** How alike two words or phrases are written, 0 to 1: the runs of three letters that they share, of all that either has. */
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
