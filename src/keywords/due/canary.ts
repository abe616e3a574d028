import type { Platform } from "../../core/observation/provenance.ts"
import type { SourceName } from "../../lib/upstreams.ts"
import type { Kind } from "../../measuring/due-kind.ts"
import type { Source } from "../../measuring/source.ts"
import { assertCanary, canaryOf } from "../../measuring/source-alarms.ts"
import type { HintsObservation, HintsQuestion } from "../kinds/hints.ts"
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
