import { normaliseTerm } from "../../lib/term.ts"
import { at, text } from "../../measuring/parsing/json.ts"
import { blockedOr } from "../../measuring/parsing/proof.ts"
import { MAX_XML_BYTES } from "../../measuring/parsing/xml.ts"
import { ReadFailure, type Source } from "../../measuring/source.ts"
import { parsePlist } from "../../stores/apple/plist.ts"
import { appleStorefront } from "../../stores/apple/storefronts.ts"
import type { HintsObservation } from "../kinds/hints.ts"
import { type HintsQuestion, hints } from "../kinds/hints.ts"

const PARSER = 1

// The maximum length of a list. Recorded lists have at most 10 suggestions; earlier ones had up to 25.
const MAX_TERMS = 25
const MAX_ITEMS = 1_000

/**
 * The App Store's suggestions for a typed prefix, in its order: a property list with `hints`, each a dict with a `term`
 * (recorded in 2026) or a bare string. The header X-Apple-Store-Front selects the storefront and the platform (29).
 * Without it the endpoint answers 200 with an empty list for any prefix; with it an empty list means that the store
 * suggests nothing. A language behind a dash (143443-4,29) must be one of the storefront: other languages are reported
 * to give no suggestions, and without a language the storefront's default is used. Suggestions over 150 characters
 * cannot be terms and are left out.
 */
export const appleHints = {
  name: "apple-hints",
  kind: hints,
  upstream: "search.itunes.apple.com",
  parser: PARSER,
  maxBytes: MAX_XML_BYTES,

  request: ({ storefront, prefix }) => ({
    path:
      "/WebObjects/MZSearchHints.woa/wa/hints?clientApplication=Software&term=" +
      encodeURIComponent(normaliseTerm(prefix)),
    headers: { "x-apple-store-front": `${appleStorefront(storefront).id},29` },
  }),

  parse: (body, { storefront, prefix }, about) => ({
    kind: "hints",
    source: "apple-hints",
    platform: "ios",
    storefront,
    prefix: normaliseTerm(prefix),
    terms: termsOf(body),
    origin: "own",
    parser: PARSER,
    ...about,
  }),
} satisfies Source<HintsQuestion, HintsObservation>

const changed = (detail: string) => new ReadFailure("changed", detail)

function termsOf(body: string): string[] {
  const hints = at(parseAnswer(body), "hints")
  if (!Array.isArray(hints)) throw changed("no list of hints")
  if (hints.length > MAX_ITEMS) throw changed("more hints than any list has")
  const terms = hints.map(termOf).filter((term) => [...term].length <= 150)
  return [...new Set(terms)].slice(0, MAX_TERMS)
}

function parseAnswer(body: string): unknown {
  try {
    return parsePlist(body, "the answer")
  } catch (error) {
    // Checks only HTML pages: a truncated property list may contain the same words.
    throw !/<plist[\s>]/.test(body) ? blockedOr(error, body) : error
  }
}

function termOf(hint: unknown): string {
  const term = text(typeof hint === "string" ? hint : at(hint, "term"))
  if (term === undefined) throw changed("a hint without a term")
  return normaliseTerm(term)
}
