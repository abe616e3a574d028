import type { Platform } from "../../core/observation/provenance.ts"
import type { SourceName } from "../../lib/upstreams.ts"
import type { Kind } from "../../measuring/due-kind.ts"
import { ReadFailure, type Source } from "../../measuring/source.ts"
import { canaryOf } from "../../measuring/source-alarms.ts"
import type { HintsObservation, HintsQuestion } from "../kinds/hints.ts"
import type { SearchObservation } from "../kinds/search-shape.ts"
import type { SearchSource } from "./search.ts"

type HintSource = Source<HintsQuestion, HintsObservation>

/**
 * Returns the canary kind of a platform, or none without sources. Its subject is a source, its storefront the country
 * in which the source is tested.
 */
export function canaryKinds(
  platform: Platform,
  searches: readonly SearchSource[],
  hints: readonly HintSource[],
): Kind[] {
  const [first] = [...searches, ...hints]
  if (!first) return []
  const kind: Kind = {
    name: "canary",
    platform,
    upstream: first.upstream,
    together: 1,
    requests: 1,
    everyDays: 1,
    async read([subject], port) {
      const { subject: name, storefront } = subject
      const canary = canaryOf(name as SourceName, storefront)
      const search = searches.find((source) => source.name === name)
      const hint = hints.find((source) => source.name === name)
      if (!canary || (!search && !hint)) return []
      const seen = search
        ? await port.ask(search, { storefront, term: canary.term })
        : await port.ask(hint!, { storefront, prefix: canary.term })
      assertCanary(seen)
      return [seen]
    },
  }
  return [kind]
}

// Google Play shows about 30 apps for such a term; the App Store shows more.
const MIN_APPS = 10

/** Throws ReadFailure (`changed`) if the answer is too short or too unrelated to be right. */
export function assertCanary(seen: SearchObservation | HintsObservation): void {
  if (seen.kind === "search") {
    const { term, storefront, results } = seen
    if (results.length >= MIN_APPS) return
    throw new ReadFailure("changed", `${results.length} apps for ${JSON.stringify(term)} in ${storefront}`)
  }
  const { prefix, storefront, terms } = seen
  if (terms.some((term) => term.includes(prefix))) return
  throw new ReadFailure(
    "changed",
    `no suggestion has ${JSON.stringify(prefix)} in it, of ${terms.length} in ${storefront}`,
  )
}
