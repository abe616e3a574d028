/** Difficulty in words, in steps of 20 from 0 to 100. */
export const DIFFICULTY_BANDS = ["very easy", "easy", "moderate", "hard", "very hard"] as const

/**
 * A band begins at the score `from`. `terms` is the number of checked terms with such a score. `held` is the number of
 * these terms with a figure between `low` and `high`, and `atFloor` the number with Apple's minimum of 5 to 9; a wide
 * band therefore looks higher than it is. `bun test/bench/popularity.ts` prints these figures.
 */
export const POPULARITY_BANDS = [
  { from: 0, low: 5, high: 9, terms: 124, held: 119, atFloor: 119 },
  { from: 59, low: 5, high: 50, terms: 76, held: 70, atFloor: 49 },
  { from: 73, low: 6, high: 100, terms: 27, held: 26, atFloor: 13 },
]

/** Warns that hardly anybody searches for most terms of a wide band. */
export const AT_FLOOR = `In a wide band, many terms are at Apple's floor of 5 to 9: ${POPULARITY_BANDS.slice(1)
  .map(({ low, high, terms, atFloor }) => `${atFloor} of ${terms} checked in ${low} to ${high}`)
  .join(", ")}.`
