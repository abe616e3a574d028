import { foldReviewText } from "../../reviews/formulas/review-text.ts"

/** Minimum length of a quote, in code points. Shorter quotes may match by chance. */
const SHORTEST_QUOTE = 4

/**
 * Finds a quote in a text and returns the matching part of the text unchanged. The comparison folds quote and text as
 * in review search (foldReviewText). Null if the quote does not occur, or begins or ends within a character.
 */
export function findQuote(quote: string, text: string): string | null {
  const exact = quote.trim()
  if ([...exact].length < SHORTEST_QUOTE) return null
  if (text.includes(exact)) return exact
  const foldedQuote = foldReviewText(quote)
  if ([...foldedQuote].length < SHORTEST_QUOTE) return null
  const { folded, starts, ends } = foldedClusters(text)
  for (let at = folded.indexOf(foldedQuote); at >= 0; at = folded.indexOf(foldedQuote, at + 1)) {
    const [from, to] = [starts.get(at), ends.get(at + foldedQuote.length)]
    if (from === undefined || to === undefined) continue
    const found = text.slice(from, to)
    // skip a match that exists only because each character was folded separately
    if (foldReviewText(found) === foldedQuote) return found
  }
  return null
}

/**
 * Folds a text character by character. Returns the folded text and the original positions where characters begin and
 * end.
 */
function foldedClusters(text: string) {
  const starts = new Map<number, number>()
  const ends = new Map<number, number>()
  let folded = ""
  for (const { segment, index } of GRAPHEMES.segment(text)) {
    const blank = /^\s+$/u.test(segment)
    const part = blank ? " " : foldReviewText(segment)
    if (part === "" || (blank && (folded === "" || folded.endsWith(" ")))) continue
    starts.set(folded.length, index)
    folded += part
    ends.set(folded.length, index + segment.length)
  }
  return { folded, starts, ends }
}

const GRAPHEMES = new Intl.Segmenter("en", { granularity: "grapheme" })
