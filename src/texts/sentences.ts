const SHORTEST = 6
const LONGEST = 280
const SENTENCES = new Intl.Segmenter("en", { granularity: "sentence" })

/** Returns the sentences that are short enough to quote. Longer sentences are left out rather than shortened. */
export function sentencesOf(text: string): string[] {
  return [...SENTENCES.segment(text)]
    .map(({ segment }) => segment.trim())
    .filter((sentence) => {
      const points = [...sentence].length
      return points >= SHORTEST && points <= LONGEST
    })
}
