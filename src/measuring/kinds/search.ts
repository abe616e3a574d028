import type { Tx } from "../../database/types.ts"
import type { SearchQuestion } from "../../observations/shapes/search.ts"
import type { Platform, SearchObservation } from "../../observations/types.ts"
import { ReadFailure, type Source } from "../../sources/source.ts"
import type { Kind, ReadPort, Subject } from "../kind.ts"
import { putForwardTerms } from "../put-forward.ts"
import { deriveMetrics } from "./metrics.ts"

export type SearchSource = Source<SearchQuestion, SearchObservation>

/** The preferred source; the next is asked when it gives nothing. What the preferred one failed with is what counts. */
export function searchKind(platform: Platform, sources: readonly [SearchSource, ...SearchSource[]]): Kind {
  return {
    name: "search",
    platform,
    upstream: sources[0].upstream,
    together: 1,
    requests: 1,
    everyDays: 1,
    async read([subject], port) {
      const { storefront, subject: term } = subject!
      return [await firstOf(sources, { storefront, term }, port)]
    },
    derive: platform === "ios" ? makeDifficultyDue : deriveMetrics,
    putsForward: putForwardTerms,
  }
}

async function firstOf(
  sources: readonly SearchSource[],
  asked: SearchQuestion,
  port: ReadPort,
): Promise<SearchObservation> {
  let failure: unknown
  for (const source of sources) {
    try {
      return await port.ask(source, asked)
    } catch (error) {
      if (!(error instanceof ReadFailure)) throw error
      failure ??= error
    }
  }
  throw failure
}

/** A tracked keyword's difficulty needs its results first: it becomes due with the first reading of them. */
export async function makeDifficultyDue(
  tx: Tx,
  subjects: readonly Pick<Subject, "platform" | "storefront" | "subject">[],
): Promise<void> {
  await tx`
    insert into due (kind, platform, storefront, subject, priority)
    select t.kind, t.platform, t.storefront, t.subject, min(t.priority)
    from tracked_subject t
    join unnest(
      ${subjects.map(({ platform }) => platform)}::text[],
      ${subjects.map(({ storefront }) => storefront)}::text[],
      ${subjects.map(({ subject }) => subject)}::text[]
    ) s (platform, storefront, subject) using (platform, storefront, subject)
    where t.kind = 'difficulty'
    group by t.kind, t.platform, t.storefront, t.subject
    order by t.kind, t.platform, t.storefront, t.subject
    on conflict do nothing`
}
