import { normaliseTerm } from "../../lib/term.ts"
import { at, text } from "../../measuring/parsing/json.ts"
import { ReadFailure, type Source } from "../../measuring/source.ts"
import { answerOf, playRequest } from "../../stores/play/blocks.ts"
import { required } from "../../stores/play/listing.ts"
import type { HintsObservation } from "../kinds/hints.ts"
import { type HintsQuestion, hints } from "../kinds/hints.ts"

const PARSER = 1

/**
 * What the search box of play.google.com suggests for a beginning, in its order: at most five, though ten are asked for.
 * The answer names neither what was typed nor a country: whose suggestions they are is known only as far as pages asked for in
 * the same way from the same address name that country.
 */
export const playSuggest: Source<HintsQuestion, HintsObservation> = {
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
}

const RPC = "IJ4APc"
const FORM = "application/x-www-form-urlencoded;charset=UTF-8"
const MOST = 5
const MOST_ITEMS = 1_000

/**
 * An answer of nothing, or one whose list is empty or null, is the store's way to suggest nothing. What cannot be a term
 * (over 150 characters) is left out.
 */
function termsOf(answer: unknown): string[] {
  if (answer === null) return []
  const suggestions = at(answer, 0, 0)
  if (suggestions === null) return []
  if (!Array.isArray(suggestions) || suggestions.length > MOST_ITEMS)
    throw new ReadFailure("changed", "no list of suggestions")
  const terms = suggestions.map((suggestion) => normaliseTerm(required(at(suggestion, 0), text)))
  return [...new Set(terms)].filter((term) => [...term].length <= 150).slice(0, MOST)
}
