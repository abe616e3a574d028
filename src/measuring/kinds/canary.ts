import type { Platform } from "../../observations/types.ts"
import type { SourceName } from "../../vocabulary/upstreams.ts"
import type { Kind } from "../kind.ts"
import { assertCanary, canaryOf } from "../source-alarms.ts"
import type { SearchSource } from "./search.ts"

/** Its subject is a source, its storefront where that source is tried: a search that never comes back empty. */
export function canaryKind(platform: Platform, sources: readonly [SearchSource, ...SearchSource[]]): Kind {
  return {
    name: "canary",
    platform,
    upstream: sources[0].upstream,
    together: 1,
    requests: 1,
    everyDays: 1,
    async read([subject], port) {
      const { subject: name, storefront } = subject!
      const source = sources.find((one) => one.name === name)
      const canary = canaryOf(name as SourceName, storefront)
      if (!source || !canary) return []
      const seen = await port.ask(source, { storefront, term: canary.term })
      assertCanary(seen)
      return [seen]
    },
  }
}
