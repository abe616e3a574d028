import { json } from "../../database/json.ts"
import type { Tx } from "../../database/types.ts"
import {
  type ListingChange,
  type ListingChangeKind,
  LOOK_BACK,
  PAGE_CHANGES,
  type PageRun,
  pageChanges,
} from "../changes.ts"
import type { Series } from "./listing-runs.ts"

/**
 * The period in which runs of an app's page were added, removed or changed: from the earliest to the latest first time.
 */
export interface Span extends Series {
  from: Date
  to: Date
}

/**
 * Derives the changes of the runs in these spans and of the few runs after them. The caller must hold the lock of the
 * series. Idempotent.
 */
export async function deriveChanges(tx: Tx, spans: readonly Span[]): Promise<void> {
  const replacements: Replacement[] = []
  for (const span of spans) {
    const runs = await readRunsAround(tx, span)
    const within = placesWithin(
      runs.map(({ firstSeenAt }) => firstSeenAt),
      span,
    )
    const changes = within.places.flatMap((place) =>
      pageChanges(runs, place).map((change) => ({ ...change, origin: runs[place]?.origin as string })),
    )
    replacements.push({ ...span, before: within.before, changes })
  }
  await replaceChanges(tx, PAGE_CHANGES, replacements)
}

type StoredRun = PageRun & { origin: string }

/**
 * Reads the runs of a span, the runs before the span to compare with, the runs after the span that may be compared with
 * it, and one more.
 */
async function readRunsAround(tx: Tx, { appId, storefront, source, from, to }: Span): Promise<StoredRun[]> {
  return await tx<StoredRun[]>`
    with own as (
      select first_seen_at, seen_at, parser, origin, digest
      from listing_run
      where (app_id, storefront, source, section) = (${appId}, ${storefront}, ${source}, 'page')
    ), around as (
      (select * from own where first_seen_at < ${from} order by first_seen_at desc limit ${LOOK_BACK})
      union all
      select * from own where first_seen_at between ${from} and ${to}
      union all
      (select * from own where first_seen_at > ${to} order by first_seen_at limit ${LOOK_BACK + 1})
    )
    select r.first_seen_at as "firstSeenAt", r.seen_at as "seenAt", r.parser, r.origin, c.content as page
    from around r
    join listing_content c
      on (c.app_id, c.storefront, c.source, c.section, c.digest) = (${appId}, ${storefront}, ${source}, 'page',
        r.digest)
    order by r.first_seen_at`
}

/**
 * Returns the indices of the runs whose changes to derive for a span, and the first time after those runs (null if
 * there is none). `firsts` are oldest first.
 */
export function placesWithin(firsts: readonly Date[], { from, to }: { from: Date; to: Date }) {
  const start = firsts.findIndex((first) => first >= from)
  if (start < 0) return { places: [], before: null }
  const inside = firsts.filter((first) => first >= from && first <= to).length
  const end = Math.min(firsts.length, start + inside + LOOK_BACK)
  return { places: Array.from({ length: end - start }, (_, i) => start + i), before: firsts[end] ?? null }
}

/** The new changes of a series from `from` until before `before`. */
export interface Replacement extends Series {
  from: Date
  /** Null: until the end of the series. */
  before: Date | null
  changes: readonly (ListingChange & { origin: string })[]
}

/** Replaces the stored changes of these kinds. Rows that are already correct stay untouched. */
export async function replaceChanges(
  tx: Tx,
  kinds: readonly ListingChangeKind[],
  replacements: readonly Replacement[],
): Promise<void> {
  if (replacements.length === 0) return
  const spans = replacements.map(({ from, before, ...series }) => {
    return { ...columnsOf(series), since: from.toISOString(), until: before?.toISOString() ?? null }
  })
  const rows = replacements.flatMap(({ changes, ...series }) =>
    changes.map(({ at, beforeSeenAt, ...what }) => {
      return { ...columnsOf(series), ...what, at: at.toISOString(), before_seen_at: beforeSeenAt.toISOString() }
    }),
  )
  await tx`
    delete from listing_change c
    using jsonb_to_recordset(${tx.json(spans)}) s (
      app_id int, storefront text, source text, since timestamptz, until timestamptz
    )
    where (c.app_id, c.storefront, c.source) = (s.app_id, s.storefront, s.source)
      and c.at >= s.since
      and (s.until is null or c.at < s.until)
      and c.kind = any(${kinds as string[]}::text[])
      and (c.app_id, c.storefront, c.source, c.at, c.kind, c.subject) not in (
        select app_id, storefront, source, at, kind, subject
        from jsonb_to_recordset(${json(tx, rows)}) r (
          app_id int, storefront text, source text, at timestamptz, kind text, subject text
        )
      )`
  if (rows.length > 0) await insertChanges(tx, rows)
}

function columnsOf({ appId, storefront, source }: Series) {
  return { app_id: appId, storefront, source }
}

async function insertChanges(tx: Tx, rows: readonly object[]): Promise<void> {
  await tx`
    insert into listing_change as held
      (app_id, at, storefront, source, kind, subject, before, after, before_seen_at, origin)
    select app_id, at, storefront, source, kind, subject, nullif(before, 'null'), nullif(after, 'null'), before_seen_at,
      origin
    from jsonb_to_recordset(${json(tx, rows)}) r (
      app_id int, at timestamptz, storefront text, source text, kind text, subject text, before jsonb, after jsonb,
      before_seen_at timestamptz, origin text
    )
    order by app_id, at, storefront, source, kind, subject
    on conflict (app_id, at, storefront, source, kind, subject) do update
    set before = excluded.before, after = excluded.after, before_seen_at = excluded.before_seen_at,
      origin = excluded.origin
    where (held.before, held.after, held.before_seen_at, held.origin)
      is distinct from (excluded.before, excluded.after, excluded.before_seen_at, excluded.origin)`
}
