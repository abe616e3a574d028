/**
 * Returns true if a page asks for a CAPTCHA or refuses access. Call it only for pages in which no data was found: an
 * app's name or description may contain the same words.
 */
export function asksForProof(page: string): boolean {
  return ASKS.test(page.slice(0, 200_000))
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
