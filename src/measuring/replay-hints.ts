import type { Sql } from "../database/types.ts"
import type { HintsObservation, Platform } from "../observations/types.ts"
import type { Sources } from "../sources/all.ts"
import { parseBody } from "../sources/source.ts"
import { differing, type Range, type ReadFrom } from "./replay-subjects.ts"

interface HintRow {
  platform: Platform
  storefront: string
  prefix: string
  day: string
  source: HintsObservation["source"]
  seenAt: Date
  terms: string[]
  parser: number
  origin: string
  sha256: Uint8Array
}

const HINT_PAGE = 200

/** What these sources suggested, page by page. */
export async function* storedHints(
  sql: Sql,
  sources: Sources["hints"],
  { since, source }: Range,
): AsyncGenerator<ReadFrom[]> {
  const names = sources.map(({ name }) => name).filter((name) => source === null || name === source)
  if (names.length === 0) return
  let after = { platform: "", storefront: "", prefix: "", day: "0001-01-01", source: "" }
  for (;;) {
    const rows = await sql<HintRow[]>`
      select platform, storefront, prefix, day, source, seen_at as "seenAt", terms, parser, origin, sha256
      from hint_answer
      where day >= ${since ?? "0001-01-01"} and source = any(${names}::text[])
        and (platform, storefront, prefix, day, source)
          > (${after.platform}, ${after.storefront}, ${after.prefix}, ${after.day}::date, ${after.source})
      order by platform, storefront, prefix, day, source
      limit ${HINT_PAGE}`
    if (rows.length === 0) return
    yield rows.map((row) => hintsOf(row, sources))
    after = rows.at(-1) as HintRow
  }
}

function hintsOf(row: HintRow, sources: Sources["hints"]): ReadFrom {
  const { source, platform, storefront, prefix, seenAt, sha256, parser, origin, terms } = row
  return {
    source,
    platform,
    storefront,
    seenAt,
    sha256,
    parser,
    subjects: [prefix],
    read(body) {
      const read = parseBody(sources.find(({ name }) => name === source)!, { storefront, prefix }, body, undefined)
      return { ...read, origin }
    },
    compare(seen) {
      const now = (seen as HintsObservation).terms
      const places = differing(terms, now)
      return [places > 0 ? { places, detail: `${places} of ${Math.max(terms.length, now.length)} terms` } : null]
    },
  }
}
