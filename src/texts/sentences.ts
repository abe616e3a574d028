const SHORTEST = 6
const LONGEST = 280
const SENTENCES = new Intl.Segmenter("en", { granularity: "sentence" })

/** Sentences of a quotable length. One that is longer is cut at none of its words, so it is left out. */
export function sentencesOf(text: string): string[] {
  return [...SENTENCES.segment(text)]
    .map(({ segment }) => segment.trim())
    .filter((sentence) => {
      const points = [...sentence].length
      return points >= SHORTEST && points <= LONGEST
    })
}
