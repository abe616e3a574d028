import type { Sql } from "../database/types.ts"
import { kindNamed } from "../observations/kinds.ts"
import type { AppsObservation, Attempt, Observation, Platform, SourceName } from "../observations/types.ts"
import type { Sources } from "../sources/all.ts"
import type { RawBody } from "../sources/source.ts"
import { appSources, readApps } from "./replay-apps.ts"
import { isHeld, readAgain } from "./replay-held.ts"
import { type Range, type ReadFrom, startOf } from "./replay-subjects.ts"

interface Row {
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
 * Reads whose body the parser of the time did not know, page by page; not those that were recorded since, nor pages that
 * came with another status than 200: an error that looks like an answer is none.
 */
export async function* unreadAttempts(
  sql: Sql,
  sources: Sources,
  { since, source }: Range,
): AsyncGenerator<ReadFrom[]> {
  const { search, hints, charts, genres, developers } = sources
  const others = [...search, ...hints, ...charts, ...genres, ...developers].map(({ name }): string => name)
  const asked = [...others, ...appSources(sources)]
  const names = asked.filter((name) => source === null || name === source)
  if (names.length === 0) return
  let after = 0
  for (;;) {
    const rows = await sql<Row[]>`
      select id, kind, at, subject, storefront, platform, source, sha256
      from attempt a
      where id > ${after} and outcome = 'changed' and sha256 is not null and at >= ${startOf(since)}::text::timestamptz
        and source = any(${names}::text[]) and coalesce(detail, '') !~ '^status [0-9]+$'
        and not (${isRecorded(sql)})
      order by id
      limit ${PAGE}`
    if (rows.length === 0) return
    yield rows.map((row) => attemptOf(row, sources))
    after = (rows.at(-1) as Row).id
  }
}

/** Whether what the failed read `a` was after is held from the same body or from a later reading. */
function isRecorded(sql: Sql) {
  return sql`
    exists (
      select
      from store_app s
      join rating_count c on c.app_id = s.id
      where a.kind = 'apps' and s.platform = a.platform and s.store_id = any(string_to_array(a.subject, ','))
        and c.storefront = a.storefront and c.day = (a.at at time zone 'utc')::date and c.source = a.source
        and c.seen_at >= a.at
    )
    or exists (
      select
      from store_app s
      join app_storefront f on f.app_id = s.id
      where a.kind = 'apps' and s.platform = a.platform and s.store_id = any(string_to_array(a.subject, ','))
        and f.storefront = a.storefront and f.source = a.source and f.sha256 = a.sha256
    )
    ${isHeld(sql)}`
}

function attemptOf(row: Row, sources: Sources): ReadFrom {
  const { source, platform, storefront, at, sha256, subject } = row
  return {
    source,
    platform,
    storefront,
    seenAt: at,
    sha256,
    parser: null,
    subjects: [subject],
    read: (body) => readAttempt(row, sources, body),
    compare: () => [],
  }
}

/** The country that it was read from is not known of a read that failed. */
function readAttempt(row: Row, sources: Sources, body: RawBody): Observation {
  const { kind, subject, source, platform, storefront } = row
  if (kindNamed(kind)?.replay) return readAgain(sources, row, body)
  const ids = subject.split(",")
  return readApps(sources, { source: source as AppsObservation["source"], platform, storefront, ids }, body)
}
