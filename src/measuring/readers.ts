import type { Platform, Side } from "../core/observation/provenance.ts"
import type { Sql } from "../database/types.ts"

/** Why something is not being measured, worst first: each with what it says to a caller. */
export const NOT_MEASURING = {
  not_scheduled: "nothing asks for it: it is not tracked there, or is of the demo",
  no_worker: "no process that reads the stores is running",
  source_off: "its sources are switched off",
  no_egress_country: "Google Play is read for one country from an address, and which one was not said (EGRESS_COUNTRY)",
  other_country: "Google Play is read for one country from an address (EGRESS_COUNTRY), which is another",
  source_refuses: "the store refuses, and is left alone for more than ten minutes",
  read_failed: "the latest reading failed; it is tried again later",
  overdue: "due for more than a day: more is due than can be read",
  awaits_results: "it is made of search results, and follows their first reading",
  not_due: "nothing is due: its next reading is to come",
  past: "the day is over",
} as const
export type IdleReason = keyof typeof NOT_MEASURING

/** One sentence for a schema: every reason with its meaning. */
export const REASONS = Object.entries(NOT_MEASURING)
  .map(([reason, meaning]) => `${reason}: ${meaning}`)
  .join("; ")

/** A kind of measurement in one storefront of one store. */
interface ReadPlace extends Side {
  kind: string
}

/** Why nothing reads this now; null = something does. */
export type Reading = (place: ReadPlace) => IdleReason | null

/** What the processes read that give a sign of life, wherever they run. */
export async function readReaders(sql: Sql): Promise<Reading> {
  return readingBy(await sql<Reader[]>`${readersQuery(sql)}`)
}

/** The same as part of another statement: the query, and what its rows say. */
export function readersQuery(sql: Sql) {
  return sql`
    select reads, (
      select coalesce(array_agg(p.upstream order by p.upstream), '{}')
      from pace p
      where p.egress = r.egress and p.refusals > 0 and p.next_at > now() + interval '10 minutes'
    ) as "leftAlone"
    from reader r
    where seen_at > now() - interval '75 seconds'
    order by process
    limit 1000`
}

export function readingBy(readers: readonly Reader[]): Reading {
  return (place) => bestOf(readers.map((reader) => whyNot(reader, place)))
}

export interface Reader {
  /** `storefronts` null = all. */
  reads: { kind: string; platform: Platform; upstream: string; storefronts: readonly string[] | null }[]
  /** Upstreams that refused it. */
  leftAlone: string[]
}

function whyNot({ reads, leftAlone }: Reader, { kind, platform, storefront }: ReadPlace): IdleReason | null {
  const read = reads.find((one) => one.kind === kind && one.platform === platform)
  if (!read) return "source_off"
  if (read.storefronts?.length === 0) return "no_egress_country"
  if (read.storefronts && !read.storefronts.includes(storefront)) return "other_country"
  return leftAlone.includes(read.upstream) ? "source_refuses" : null
}

/** One process that reads it is enough; else the reason of the one that comes nearest to it. */
function bestOf(reasons: readonly (IdleReason | null)[]): IdleReason | null {
  if (reasons.includes(null)) return null
  const nearest = (["source_refuses", "other_country", "no_egress_country", "source_off"] as const).find((reason) =>
    reasons.includes(reason),
  )
  return nearest ?? "no_worker"
}
