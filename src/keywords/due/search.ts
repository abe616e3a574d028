import type { Platform } from "../../core/observation/provenance.ts"
import type { Tx } from "../../database/types.ts"
import { dueKind, type ReadPort, type Subject } from "../../measuring/due-kind.ts"
import { putForwardTerms } from "../../measuring/put-forward.ts"
import { ReadFailure, type Source } from "../../measuring/source.ts"
import { search } from "../kinds/search.ts"
import type { SearchObservation, SearchQuestion } from "../kinds/search-shape.ts"
import { deriveMetrics } from "./metrics.ts"

export type SearchSource = Source<SearchQuestion, SearchObservation>

/**
 * Declares the daily search reading. If a source fails, the next one is tried. If all sources fail, the reading fails
 * with the error of the preferred source.
 */
export function searchKind(platform: Platform, sources: readonly [SearchSource, ...SearchSource[]]) {
  return dueKind({
    name: "search",
    observes: search,
    platform,
    upstream: sources[0].upstream,
    together: 1,
    requests: 1,
    everyDays: 1,
    async read([subject], port) {
      const { storefront, subject: term } = subject
      return [await firstOf(sources, { storefront, term }, port)]
    },
    derive: platform === "ios" ? makeDifficultyDue : deriveMetrics,
    putsForward: putForwardTerms,
  })
}

async function firstOf(
  sources: readonly SearchSource[],
  question: SearchQuestion,
  port: ReadPort,
): Promise<SearchObservation> {
  let failure: unknown
  for (const source of sources) {
    try {
      return await port.ask(source, question)
    } catch (error) {
      if (!(error instanceof ReadFailure)) throw error
      failure ??= error
    }
  }
  throw failure
}

/**
 * Makes the difficulty of tracked keywords due after their first search reading, because it is calculated from the
 * results.
 */
export async function makeDifficultyDue(
  tx: Tx,
  subjects: readonly Pick<Subject, "platform" | "storefront" | "subject">[],
): Promise<void> {
  await tx`
    insert into due (kind, platform, storefront, subject, priority)
    select 'difficulty', s.platform, s.storefront, s.subject, min(t.priority)
    from unnest(
      ${subjects.map(({ platform }) => platform)}::text[],
      ${subjects.map(({ storefront }) => storefront)}::text[],
      ${subjects.map(({ subject }) => subject)}::text[]
    ) s (platform, storefront, subject)
    cross join lateral (
      select priority
      from tracked_subject
      where kind = 'difficulty' and platform = s.platform and storefront = s.storefront and subject = s.subject
      -- A lateral look-up per term: a join reads all tracked terms after every search.
      offset 0
    ) t
    group by s.platform, s.storefront, s.subject
    order by s.platform, s.storefront, s.subject
    on conflict do nothing`
}
