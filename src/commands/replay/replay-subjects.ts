import type { Difference } from "../../core/kind.ts"
import type { Platform } from "../../core/observation/provenance.ts"
import type { Observation } from "../../kinds.ts"
import type { SourceName } from "../../lib/upstreams.ts"
import type { RawBody } from "../../measuring/source.ts"

/** What was read from one body, or was to be. */
export interface ReplaySubject {
  source: SourceName
  platform: Platform
  storefront: string
  seenAt: Date
  sha256: Uint8Array
  /** Of the parser that read it; null for none that could. */
  parser: number | null
  /** Each counts as one reading. */
  subjects: readonly string[]
  /** Reads the body anew. Throws ReadFailure. */
  read(body: RawBody): Observation | Promise<Observation>
  /** How what was read now differs from what is stored of each subject; null = in nothing. */
  compare(seen: Observation): (Difference | null)[]
}

/** What of the database is looked at. */
export interface Range {
  /** "YYYY-MM-DD" */
  since: string | null
  source: SourceName | null
}

/** When a day begins, as the database spells it; of none, before all times. */
export function startOf(day: string | null): string {
  return day === null ? "-infinity" : `${day}T00:00:00Z`
}
