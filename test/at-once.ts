/** The answer of work in pieces (src/vocabulary/pieces.ts), without a stop. */
export function atOnce<Answer>(work: Iterator<unknown, Answer>): Answer {
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
  }
}
