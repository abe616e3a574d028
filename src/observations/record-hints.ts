import type { Tx } from "../database/types.ts"
import { dayOf } from "../formulas/days.ts"
import { hexOf, latestOf } from "./latest.ts"
import type { HintsObservation } from "./types.ts"

/** Stores what each source suggested last on each day, and returns the answers that are new there. */
export async function storeHints(tx: Tx, answers: readonly HintsObservation[]): Promise<HintsObservation[]> {
  if (answers.length === 0) return []
  const rows = latestOf(answers.map((from) => ({ from, key: keyOf(from, dayOf(from.seenAt)) })))
  const written = await tx<(Key & { day: string })[]>`
    insert into hint_answer as held
      (platform, storefront, prefix, day, source, seen_at, terms, parser, origin, sha256)
    select platform, storefront, prefix, day, source, seen_at, terms, parser, origin, decode(sha256, 'hex')
    from jsonb_to_recordset(${tx.json(rows.map(({ from }) => stored(from)))}) r (
      platform text, storefront text, prefix text, day date, source text, seen_at timestamptz, terms text[],
      parser smallint, origin text, sha256 text
    )
    order by platform, storefront, prefix, day, source
    on conflict (platform, storefront, prefix, day, source) do update
    set seen_at = excluded.seen_at, terms = excluded.terms, parser = excluded.parser, origin = excluded.origin,
      sha256 = excluded.sha256
    where (excluded.seen_at, excluded.parser, excluded.sha256) > (held.seen_at, held.parser, held.sha256)
    returning platform, storefront, prefix, day, source`
  const keys = new Set(written.map((row) => keyOf(row, row.day)))
  return rows.filter(({ key }) => keys.has(key)).map(({ from }) => from)
}

type Key = Pick<HintsObservation, "platform" | "storefront" | "prefix" | "source">

function keyOf({ platform, storefront, prefix, source }: Key, day: string): string {
  return `${platform} ${storefront} ${day} ${source} ${prefix}`
}

function stored({ platform, storefront, prefix, source, seenAt, terms, parser, origin, sha256 }: HintsObservation) {
  return {
    platform,
    storefront,
    prefix,
    day: dayOf(seenAt),
    source,
    seen_at: seenAt.toISOString(),
    terms,
    parser,
    origin,
    sha256: hexOf(sha256),
  }
}
