/**
 * Whether a page that should have held data asks for a proof of humanity instead, or refuses outright. Only for pages
 * in which no data was found: an app's own name or description may say any of this.
 */
export function asksForProof(page: string): boolean {
  return ASKS.test(page.slice(0, 200_000))
}

const ASKS =
  /captcha|unusual traffic|automated (?:queries|requests)|are you (?:a )?(?:human|robot)|not a robot|access (?:to this page )?(?:is |has been )?denied|verify (?:that )?you are (?:a )?human|too many requests|cf-challenge/i
