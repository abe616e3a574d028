import { foldReviewText } from "../../reviews/formulas/review-text.ts"

/** A quote of fewer code points proves nothing. */
const SHORTEST_QUOTE = 4

/**
 * Where a text says what a quote says, in the text's own characters: the two are compared as reviews are searched
 * (foldReviewText). Null where the text does not say it, or only in part of a character.
 */
export function findQuote(quote: string, text: string): string | null {
  const exact = quote.trim()
  if ([...exact].length < SHORTEST_QUOTE) return null
  if (text.includes(exact)) return exact
  const sought = foldReviewText(quote)
  if ([...sought].length < SHORTEST_QUOTE) return null
  const { folded, starts, ends } = foldedClusters(text)
  for (let at = folded.indexOf(sought); at >= 0; at = folded.indexOf(sought, at + 1)) {
    const [from, to] = [starts.get(at), ends.get(at + sought.length)]
    if (from === undefined || to === undefined) continue
    const found = text.slice(from, to)
    // what folds otherwise together than apart is not taken for the same
    if (foldReviewText(found) === sought) return found
  }
  return null
}

/** A text folded character by character, with the places in the text where those begin and end. */
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
