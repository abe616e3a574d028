import type { Platform } from "../../core/observation/provenance.ts"
import type { SourceName } from "../../lib/upstreams.ts"
import { dueKind } from "../../measuring/due-kind.ts"
import { ReadFailure, type Source } from "../../measuring/source.ts"
import { canaryOf } from "../../measuring/source-alarms.ts"
import { type HintsObservation, type HintsQuestion, hints } from "../kinds/hints.ts"
import type { SearchObservation } from "../kinds/search-shape.ts"
import type { SearchSource } from "./search.ts"

type HintSource = Source<HintsQuestion, HintsObservation>

type CanarySource = SearchSource | HintSource

/**
 * Returns the canary kind of a platform. Its subject is a source, its storefront the country in which the source is
 * tested.
 */
export function canaryKind(platform: Platform, sources: readonly [CanarySource, ...CanarySource[]]) {
  return dueKind({
    name: "canary",
    platform,
    upstream: sources[0].upstream,
    together: 1,
    requests: 1,
    everyDays: 1,
    async read([subject], port) {
      const { subject: name, storefront } = subject
      const canary = canaryOf(name as SourceName, storefront)
      const source = sources.find((item) => item.name === name)
      if (!canary || !source) return []
      const seen = isOfHints(source)
        ? await port.ask(source, { storefront, prefix: canary.term })
        : await port.ask(source, { storefront, term: canary.term })
      assertCanary(seen)
      return [seen]
    },
  })
}

function isOfHints(source: CanarySource): source is HintSource {
  return source.kind === hints
}

// Google Play shows about 30 apps for such a term; the App Store shows more.
const MIN_APPS = 10

/** Throws ReadFailure (`changed`) if there are too few results, or if no suggestion contains the prefix. */
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
    `none of ${terms.length} suggestions in ${storefront} contains ${JSON.stringify(prefix)}`,
  )
}
