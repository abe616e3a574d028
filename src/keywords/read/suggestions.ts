import type { Side } from "../../core/observation/provenance.ts"
import type { Sql } from "../../database/types.ts"

/** A keyword that a store suggests for a prefix. */
interface SuggestedTerm {
  term: string
  prefix: string
  day: string
}

/**
 * Returns the latest suggestions for each prefix since a day, in the order of the prefixes and of the store. At most
 * 5,000.
 */
export async function readSuggestedTerms(
  sql: Sql,
  { platform, storefront }: Side,
  { prefixes, since }: { prefixes: readonly string[]; since: string },
): Promise<SuggestedTerm[]> {
  return await sql<SuggestedTerm[]>`
    select t.term, p.prefix, h.day
    from unnest(${prefixes as string[]}::text[]) with ordinality p (prefix, place)
    cross join lateral (
      select day, terms
      from hint_answer
      where (platform, storefront, prefix) = (${platform}, ${storefront}, p.prefix) and day >= ${since}::date
      order by day desc, seen_at desc, source
      limit 1
    ) h
    cross join lateral unnest(h.terms) with ordinality t (term, place)
    order by p.place, t.place
    limit 5000`
}
