import type { Platform, Side } from "../core/observation/provenance.ts"
import type { Sql } from "../database/types.ts"

/** Reasons why something is not being measured, worst first, each with its text for callers. */
export const NOT_MEASURING = {
  not_scheduled: "it is not tracked there, or belongs to the demo",
  no_worker: "no worker process is running",
  source_off: "its sources are disabled",
  no_egress_country: "an address can read Google Play only for its own country, and EGRESS_COUNTRY is not set",
  other_country: "an address can read Google Play only for its own country, and EGRESS_COUNTRY is another one",
  source_refuses: "the store refuses requests, and the instance pauses for more than ten minutes",
  read_failed: "the latest reading failed and is retried later",
  overdue: "due for more than a day, because more is due than can be read",
  awaits_results: "it depends on search results that were not read yet",
  not_due: "its next reading is not due yet",
  past: "the day is over",
} as const
export type IdleReason = keyof typeof NOT_MEASURING

/** All reasons with their meaning, for a schema's description. */
export const REASONS = Object.entries(NOT_MEASURING)
  .map(([reason, meaning]) => `${reason}: ${meaning}`)
  .join("; ")

/** A kind of measurement in one storefront of one store. */
interface ReadPlace extends Side {
  kind: string
}

/** Returns why no process reads this. Null if one does. */
export type Reading = (place: ReadPlace) => IdleReason | null

/**
 * Returns what the running processes read, on any machine. A process counts as running while its heartbeat is recent.
 */
export async function readReaders(sql: Sql): Promise<Reading> {
  return readingBy(await sql<Reader[]>`${readersQuery(sql)}`)
}

/** Returns the query of readReaders, for use within another statement; readingBy evaluates its rows. */
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
  /** `storefronts` is null if the process reads all storefronts. */
  reads: { kind: string; platform: Platform; upstream: string; storefronts: readonly string[] | null }[]
  /** Upstreams that refused this process and get no requests from it for now. */
  leftAlone: string[]
}

function whyNot({ reads, leftAlone }: Reader, { kind, platform, storefront }: ReadPlace): IdleReason | null {
  const read = reads.find((item) => item.kind === kind && item.platform === platform)
  if (!read) return "source_off"
  if (read.storefronts?.length === 0) return "no_egress_country"
  if (read.storefronts && !read.storefronts.includes(storefront)) return "other_country"
  return leftAlone.includes(read.upstream) ? "source_refuses" : null
}

/** Returns null if one process reads it; else the reason of the process that comes closest to reading it. */
function bestOf(reasons: readonly (IdleReason | null)[]): IdleReason | null {
  if (reasons.includes(null)) return null
  const nearest = (["source_refuses", "other_country", "no_egress_country", "source_off"] as const).find((reason) =>
    reasons.includes(reason),
  )
  return nearest ?? "no_worker"
}
