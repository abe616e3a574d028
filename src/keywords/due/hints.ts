import type { Platform } from "../../core/observation/provenance.ts"
import type { Sql } from "../../database/types.ts"
import { dueKind, type ReadPort, type Subject } from "../../measuring/due-kind.ts"
import { isTracked } from "../../measuring/is-tracked.ts"
import { ReadFailure, type Source } from "../../measuring/source.ts"
import { ladderNext } from "../formulas/hint-ladder.ts"
import { type HintsObservation, type HintsQuestion, hints } from "../kinds/hints.ts"
import { appleHints } from "../sources/apple-hints.ts"
import { playSuggest } from "../sources/play-suggest.ts"
import { deriveMetrics } from "./metrics.ts"

const HINTS_EVERY_DAYS = 7

export const hintsOnAppStore = dueKind({
  name: "hints",
  observes: hints,
  platform: "ios",
  upstream: appleHints.upstream,
  together: 1,
  // Estimated from the ladders of 36 real keywords: most are suggested at once or not at all.
  requests: 4,
  everyDays: HINTS_EVERY_DAYS,
  async read([subject], port) {
    const isWhole = await isTracked(subject, port)
    return await ladder(subject, port, appleHints, isWhole)
  },
  derive: deriveMetrics,
})

export const hintsOnPlay = dueKind({
  name: "hints",
  observes: hints,
  platform: "android",
  upstream: playSuggest.upstream,
  together: 1,
  requests: 1,
  everyDays: HINTS_EVERY_DAYS,
  async read([subject], port) {
    const { storefront, subject: prefix } = subject
    // Suggestions name no country, so the country that the store's pages name is checked.
    const named = (await port.readNamedCountry(playSuggest.upstream, storefront)) ?? storefront
    if (named !== storefront)
      throw new ReadFailure("mismatched", `pages name ${named.toUpperCase()}`, { country: named })
    return [await port.ask(playSuggest, { storefront, prefix })]
  },
  derive: deriveMetrics,
})

/** Requests ever shorter prefixes until the store suggests nothing more. Reuses responses of the past week. */
async function ladder(
  { storefront, platform, subject: term }: Subject,
  port: ReadPort,
  source: Source<HintsQuestion, HintsObservation>,
  isWhole: boolean,
): Promise<HintsObservation[]> {
  const answers = await readStoredHints(port.sql, { platform, storefront, term, source: source.name })
  const read: HintsObservation[] = []
  for (let prefix = ladderNext(term, answers); prefix !== null; prefix = ladderNext(term, answers)) {
    if (!isWhole && prefix !== term) break
    const seen = await port.ask(source, { storefront, prefix })
    read.push(seen)
    answers.set(prefix, seen.terms)
  }
  return read
}

async function readStoredHints(
  sql: Sql,
  { platform, storefront, term, source }: { platform: Platform; storefront: string; term: string; source: string },
): Promise<Map<string, string[]>> {
  const rows = await sql<{ prefix: string; terms: string[] }[]>`
    select distinct on (prefix) prefix, terms
    from hint_answer
    where platform = ${platform} and storefront = ${storefront} and source = ${source}
      and prefix = any(${prefixesOf(term)}::text[])
      and seen_at > now() - ${HINTS_EVERY_DAYS - 1}::int * interval '1 day'
    order by prefix, seen_at desc
    limit 200`
  return new Map(rows.map(({ prefix, terms }) => [prefix, terms]))
}

function prefixesOf(term: string): string[] {
  const letters = [...term]
  return letters.map((_, at) => letters.slice(0, at + 1).join(""))
}
