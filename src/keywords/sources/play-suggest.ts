import { normaliseTerm } from "../../lib/term.ts"
import { at, text } from "../../measuring/parsing/json.ts"
import { ReadFailure, type Source } from "../../measuring/source.ts"
import { answerOf, playRequest } from "../../stores/play/blocks.ts"
import { required } from "../../stores/play/listing.ts"
import type { HintsObservation } from "../kinds/hints.ts"
import { type HintsQuestion, hints } from "../kinds/hints.ts"

const PARSER = 1

/**
 * The suggestions of the search box of play.google.com for a prefix, in its order: at most five, though ten are
 * requested. The answer names neither the prefix nor a country. Its country is inferred from pages requested in the
 * same way from the same address.
 */
export const playSuggest = {
  name: "play-suggest",
  kind: hints,
  upstream: "play.google.com",
  parser: PARSER,
  request({ storefront, prefix }) {
    const query = { rpcids: RPC, "soc-app": "121", "soc-platform": "1", "soc-device": "1" }
    const { path, headers } = playRequest("/_/PlayStoreUi/data/batchexecute", storefront, query)
    const call = [RPC, JSON.stringify([[null, [prefix], [10], [2], 4]])]
    const body = new URLSearchParams({ "f.req": JSON.stringify([[call]]) }).toString()
    return { path, method: "POST", headers: { ...headers, "content-type": FORM }, body }
  },
  parse(body, { storefront, prefix }, about) {
    const terms = termsOf(answerOf(body, RPC))
    return {
      kind: "hints",
      source: "play-suggest",
      platform: "android",
      storefront,
      prefix,
      terms,
      parser: PARSER,
      origin: "own",
      ...about,
    }
  },
} satisfies Source<HintsQuestion, HintsObservation>

const RPC = "IJ4APc"
const FORM = "application/x-www-form-urlencoded;charset=UTF-8"
const MAX_TERMS = 5
const MAX_ITEMS = 1_000

/**
 * Returns the suggestions as terms. Null, or a list that is empty or null, means that the store suggests nothing.
 * Suggestions over 150 characters cannot be terms and are left out.
 */
function termsOf(answer: unknown): string[] {
  if (answer === null) return []
  const suggestions = at(answer, 0, 0)
  if (suggestions === null) return []
  if (!Array.isArray(suggestions) || suggestions.length > MAX_ITEMS)
    throw new ReadFailure("changed", "no list of suggestions")
  const terms = suggestions.map((suggestion) => normaliseTerm(required(at(suggestion, 0), text)))
  return [...new Set(terms)].filter((term) => [...term].length <= 150).slice(0, MAX_TERMS)
}
