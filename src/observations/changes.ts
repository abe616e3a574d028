import type { Sql, Tx } from "../database/types.ts"
import { addDays, dayOf } from "../formulas/days.ts"
import {
  type ListingChange,
  type ListingChangeKind,
  LOOK_BACK,
  PAGE_CHANGES,
  type PageRun,
  pageChanges,
  RATING_CHANGES,
  type RatingDay,
  ratingChanges,
} from "../formulas/listing-changes.ts"
import type { Identified } from "./identified.ts"
import type { Series } from "./listing-runs.ts"
import { DEMO, type ListingObservation } from "./types.ts"

export interface ChangesAsked {
  /** Ids of store_app, tracked ones and rivals alike. */
  apps: readonly number[]
  /** Without it, all. */
  storefront?: string
  /** UTC days, both included. */
  from: string
  to: string
  /** Without them, all. */
  kinds?: readonly ListingChangeKind[]
  limit: number
}

export interface StoredChange extends ListingChange, Series {
  /** The UTC day of `at`. */
  day: string
}

/**
 * Changes of apps' listings, newest first, at most `limit`; of one moment in the order of app, storefront, source, kind
 * and subject, from the last. What a change holds is said where it is told (formulas/listing-changes.ts).
 */
export async function changesOf(
  sql: Sql | Tx,
  { apps, storefront, from, to, kinds, limit }: ChangesAsked,
): Promise<StoredChange[]> {
  const only = { storefront: storefront ?? null, kinds: (kinds as string[] | undefined) ?? null }
  // of 200 apps with 200 changes each: which they are, the index alone tells
  const rows = await sql<Omit<StoredChange, "day">[]>`
    with newest as materialized (
      select k.*
      from (select distinct unnest(${apps as number[]}::int[]) as id) a
      cross join lateral (
        select app_id, at, storefront, source, kind, subject
        from listing_change
        where app_id = a.id
          and at >= ${`${from}T00:00:00Z`}::timestamptz
          and at < ${`${addDays(to, 1)}T00:00:00Z`}::timestamptz
          and (${only.storefront}::text is null or storefront = ${only.storefront})
          and (${only.kinds}::text[] is null or kind = any(${only.kinds}::text[]))
        order by at desc, storefront desc, source desc, kind desc, subject desc
        limit ${limit}
      ) k
      order by k.at desc, k.app_id desc, k.storefront desc, k.source desc, k.kind desc, k.subject desc
      limit ${limit}
    )
    select c.app_id as "appId", c.storefront, c.source, c.kind, c.subject, c.before, c.after, c.at,
      c.before_seen_at as "beforeSeenAt"
    from newest n
    join listing_change c using (app_id, at, storefront, source, kind, subject)
    order by c.at desc, c.app_id desc, c.storefront desc, c.source desc, c.kind desc, c.subject desc`
  return rows.map((row) => ({ ...row, day: dayOf(row.at) }))
}

/** Where runs of an app's page came, went or changed: their first moments, from the earliest to the latest. */
export interface Span extends Series {
  from: Date
  to: Date
}

/**
 * Derives the changes of pages anew, as far as runs that came, went or changed bear upon them: for these, and the few after
 * them. Idempotent. The caller holds the lock of the series.
 */
export async function deriveChanges(tx: Tx, spans: readonly Span[]): Promise<void> {
  for (const span of spans) {
    const runs = await runsAround(tx, span)
    const within = placesWithin(
      runs.map(({ firstSeenAt }) => firstSeenAt),
      span,
    )
    const changes = within.places.flatMap((place) =>
      pageChanges(runs, place).map((change) => ({ ...change, origin: runs[place]?.origin as string })),
    )
    await replaceChanges(tx, span, { from: span.from, before: within.before, kinds: PAGE_CHANGES, changes })
  }
}

type HeldRun = PageRun & { origin: string }

/** Of a span, with those before that it is compared with, those after that may be compared with it, and one more. */
async function runsAround(tx: Tx, { appId, storefront, source, from, to }: Span): Promise<HeldRun[]> {
  return await tx<HeldRun[]>`
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
      on (c.app_id, c.storefront, c.source, c.section, c.digest) = (${appId}, ${storefront}, ${source}, 'page', r.digest)
    order by r.first_seen_at`
}

/** The places of those to derive; and the moment of the first one after them, where there is one. */
function placesWithin(firsts: readonly Date[], { from, to }: { from: Date; to: Date }) {
  const start = firsts.findIndex((first) => first >= from)
  if (start < 0) return { places: [], before: null }
  const inside = firsts.filter((first) => first >= from && first <= to).length
  const end = Math.min(firsts.length, start + inside + LOOK_BACK)
  return { places: Array.from({ length: end - start }, (_, i) => start + i), before: firsts[end] ?? null }
}

interface Replacement {
  from: Date
  /** Null = all after `from`. */
  before: Date | null
  kinds: readonly ListingChangeKind[]
  changes: readonly (ListingChange & { origin: string })[]
}

/** Makes the changes of these kinds and moments what they are now, and leaves those alone that are so already. */
async function replaceChanges(
  tx: Tx,
  { appId, storefront, source }: Series,
  { from, before, kinds, changes }: Replacement,
): Promise<void> {
  const rows = changes.map(({ kind, subject, at, beforeSeenAt, origin, ...what }) => {
    return { kind, subject, at: at.toISOString(), before_seen_at: beforeSeenAt.toISOString(), origin, ...what }
  })
  await tx`
    delete from listing_change
    where (app_id, storefront, source) = (${appId}, ${storefront}, ${source})
      and at >= ${from}
      and (${before}::timestamptz is null or at < ${before})
      and kind = any(${kinds as string[]}::text[])
      and (at, kind, subject) not in (
        select at, kind, subject
        from jsonb_to_recordset(${tx.json(rows as never)}) r (at timestamptz, kind text, subject text)
      )`
  if (rows.length === 0) return
  await tx`
    insert into listing_change as held
      (app_id, at, storefront, source, kind, subject, before, after, before_seen_at, origin)
    select ${appId}::int, at, ${storefront}, ${source}, kind, subject, nullif(before, 'null'), nullif(after, 'null'),
      before_seen_at, origin
    from jsonb_to_recordset(${tx.json(rows as never)}) r (
      at timestamptz, kind text, subject text, before jsonb, after jsonb, before_seen_at timestamptz, origin text
    )
    order by at, kind, subject
    on conflict (app_id, at, storefront, source, kind, subject) do update
    set before = excluded.before, after = excluded.after, before_seen_at = excluded.before_seen_at, origin = excluded.origin
    where (held.before, held.after, held.before_seen_at, held.origin)
      is distinct from (excluded.before, excluded.after, excluded.before_seen_at, excluded.origin)`
}

/**
 * Derives the jumps of ratings anew around days whose counts came from these readings. Idempotent. The caller holds the lock
 * of their series.
 */
export async function deriveJumps(
  tx: Tx,
  counted: readonly ListingObservation[],
  { appOf }: Identified,
): Promise<void> {
  const series = Map.groupBy(
    counted,
    ({ platform, id, storefront, source }) => `${appOf(platform, id)} ${storefront} ${source}`,
  )
  for (const readings of series.values()) {
    const [{ platform, id, storefront, source }] = readings as [ListingObservation]
    const moments = readings.map(({ seenAt }) => dayOf(seenAt)).sort()
    const own = { appId: appOf(platform, id), storefront, source }
    await deriveDays(tx, own, moments[0] as string, moments.at(-1) as string)
  }
}

async function deriveDays(tx: Tx, series: Series, first: string, last: string): Promise<void> {
  const days = await daysAround(tx, series, first, last)
  const span = { from: new Date(first), to: new Date(Date.parse(addDays(last, 1)) - 1) }
  const within = placesWithin(
    days.map(({ seenAt }) => seenAt),
    span,
  )
  const changes = within.places.flatMap((place) =>
    ratingChanges(days, place).map((change) => ({ ...change, origin: days[place]?.origin as string })),
  )
  await replaceChanges(tx, series, { from: span.from, before: within.before, kinds: RATING_CHANGES, changes })
}

/** The demo's days count only where there are no others. */
async function daysAround(
  tx: Tx,
  { appId, storefront, source }: Series,
  first: string,
  last: string,
): Promise<(RatingDay & { origin: string })[]> {
  return await tx<(RatingDay & { origin: string })[]>`
    with own as (
      select day, seen_at as "seenAt", rating, ratings, origin
      from rating_count c
      where (app_id, storefront, source) = (${appId}, ${storefront}, ${source})
        and (origin = ${DEMO}) = not exists (
          select
          from rating_count o
          where (o.app_id, o.storefront, o.source) = (c.app_id, c.storefront, c.source) and o.origin <> ${DEMO}
        )
    )
    (select * from own where day < ${first} order by day desc limit ${LOOK_BACK})
    union all
    select * from own where day between ${first} and ${last}
    union all
    (select * from own where day > ${last} order by day limit ${LOOK_BACK + 1})
    order by day`
}
