import type { Attempt } from "../../core/observation/attempt.ts"
import type { Platform } from "../../core/observation/provenance.ts"
import type { Sql } from "../../database/types.ts"
import type { SourceName } from "../../lib/upstreams.ts"
import type { Sources } from "../../sources.ts"
import { type Range, type ReplaySubject, startOf } from "./replay-subjects.ts"
import { isStored, readAgain, readableNames } from "./stored-readings.ts"

interface AttemptRow {
  id: number
  kind: Attempt["kind"]
  at: Date
  subject: string
  storefront: string
  platform: Platform
  source: SourceName
  sha256: Uint8Array
}

const PAGE = 200

/**
 * Yields failed reads whose subjects were not stored later. Leaves out responses with a status other than 200, because
 * an error page is not an answer.
 */
export async function* readUnreadAttempts(
  sql: Sql,
  sources: Sources,
  { since, source }: Range,
): AsyncGenerator<ReplaySubject[]> {
  const names = readableNames(sources).filter((name) => source === null || name === source)
  if (names.length === 0) return
  let after = 0
  for (;;) {
    const rows = await sql<AttemptRow[]>`
      select id, kind, at, subject, storefront, platform, source, sha256
      from attempt a
      where id > ${after} and outcome = 'changed' and sha256 is not null and at >= ${startOf(since)}::text::timestamptz
        and source = any(${names}::text[]) and coalesce(detail, '') !~ '^status [0-9]+$'
        and not (${isStored(sql)})
      order by id
      limit ${PAGE}`
    if (rows.length === 0) return
    yield rows.map((row) => attemptOf(row, sources))
    after = (rows.at(-1) as AttemptRow).id
  }
}

function attemptOf(row: AttemptRow, sources: Sources): ReplaySubject {
  const { source, platform, storefront, at, sha256, subject } = row
  return {
    source,
    platform,
    storefront,
    seenAt: at,
    sha256,
    parser: null,
    subjects: [subject],
    // the country of the reading address is not stored for a failed read
    read: (body) => readAgain(sources, row, body),
    compare: () => [],
  }
}
