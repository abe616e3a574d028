import { ReadFailure } from "../source.ts"

/**
 * Returns true if a page asks for a CAPTCHA or refuses access. Call it only for pages in which no data was found: an
 * app's name or description may contain the same words.
 */
export function asksForProof(page: string): boolean {
  return ASKS.test(page.slice(0, 200_000))
}

/** Returns the failure `blocked` if a page asks for a CAPTCHA or refuses access, otherwise the given error. */
export function blockedOr(error: unknown, page: string): unknown {
  return asksForProof(page)
    ? new ReadFailure("blocked", "the page asks for a CAPTCHA or refuses access", { cause: error })
    : error
}

const ASKS = new RegExp(
  [
    "captcha",
    "unusual traffic",
    "automated (?:queries|requests)",
    "are you (?:a )?(?:human|robot)",
    "not a robot",
    "access (?:to this page )?(?:is |has been )?denied",
    "verify (?:that )?you are (?:a )?human",
    "too many requests",
    "cf-challenge",
  ].join("|"),
  "i",
)
