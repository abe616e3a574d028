import type { Difference } from "../../core/kind.ts"
import type { Platform } from "../../core/observation/provenance.ts"
import type { Observation } from "../../kinds.ts"
import type { SourceName } from "../../lib/upstreams.ts"
import type { RawBody } from "../../measuring/source.ts"

/** A stored body and the readings that were parsed from it, or the failed reads. */
export interface ReplaySubject {
  source: SourceName
  platform: Platform
  storefront: string
  seenAt: Date
  sha256: Uint8Array
  /** Version of the parser that parsed the body. Null if the read failed. */
  parser: number | null
  /** Each subject counts as one reading. */
  subjects: readonly string[]
  /** Parses the body again. Throws ReadFailure. */
  read(body: RawBody): Observation | Promise<Observation>
  /** Returns, for each subject, the difference from its stored reading. Null if they are equal. */
  compare(seen: Observation): (Difference | null)[]
}

/** The range of readings to replay. */
export interface Range {
  /** "YYYY-MM-DD" */
  since: string | null
  source: SourceName | null
}

/** Returns the start of a day for SQL, or a time before all others for null. */
export function startOf(day: string | null): string {
  return day === null ? "-infinity" : `${day}T00:00:00Z`
}
