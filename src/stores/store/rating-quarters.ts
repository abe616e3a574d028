import { OWN } from "../../core/observation/origins.ts"
import type { Tx } from "../../database/types.ts"
import type { Sweep } from "../../measuring/retention/tables.ts"

/** Counts younger than this many days stay unpacked, because evidence shows all counts of a reading. */
const WHOLE_DAYS = 35

interface RatingsFold {
  /**
   * First day of a month; all months before it are packed. Null: the month that contains the day WHOLE_DAYS days ago,
   * by the database's clock.
   */
  before?: string | null
  /** Maximum number of counts. */
  chunk: number
  /** The lowest store_app id to examine. */
  from: number
}

/** Apps per statement. */
const NEAR = 100

/** Packs whole months, so once a day is enough. */
export const ratingSweep: Sweep = {
  table: "rating_count",
  isDaily: true,
  async sweep(tx, { chunk, from }) {
    const { packed, next } = await foldRatings(tx, { chunk: 2 * chunk, from })
    return { removed: packed, next }
  },
}

/**
 * Moves old counts into the packed rows of their quarters. `next` is where to continue, null at the end. Works by whole
 * months, so that a quarter's row is written three times. The latest count of each origin of a series stays unpacked,
 * and so do counts with stars.
 */
export async function foldRatings(
  tx: Tx,
  { before = null, chunk, from }: RatingsFold,
): Promise<{ packed: number; next: number | null }> {
  const near = await tx<{ id: number }[]>`
    select id
    from store_app
    where id >= ${from}
    order by id
    limit ${NEAR}`
  const last = near.at(-1)?.id
  if (last === undefined) return { packed: 0, next: null }
  const found = await tx<{ id: number }[]>`
    select a.id
    from unnest(${near.map(({ id }) => id)}::int[]) a (id)
    cross join lateral (
      select
      from rating_count r
      where r.app_id = a.id and ${isOld(tx, before)}
      limit 1
    ) r
    order by a.id
    limit ${Math.ceil(chunk / 100)}`
  if (found.length === 0) return { packed: 0, next: last + 1 }
  // storeFacts also locks the app before it stores a count.
  const locked = await tx<{ id: number }[]>`
    select id
    from store_app
    where id = any(${found.map(({ id }) => id)}::int[])
    order by id
    for no key update skip locked`
  const packed = await foldApps(
    tx,
    locked.map(({ id }) => id),
    { before, chunk },
  )
  const end = found.at(-1)?.id as number
  // Apps that another transaction has locked are left to the next run. A full chunk has counts of at least one app.
  return { packed, next: packed < chunk ? end + 1 : locked[0]!.id }
}

/** Selects counts of earlier months that a later count of the same series and origin supersedes. */
function isOld(tx: Tx, before: string | null) {
  return tx`
    r.day < coalesce(
      ${before}::date,
      date_trunc('month', (now() at time zone 'utc') - ${WHOLE_DAYS}::int * interval '1 day')::date
    )
    and r.stars is null
    and exists (
      select
      from rating_count n
      where (n.app_id, n.storefront, n.source, n.origin) = (r.app_id, r.storefront, r.source, r.origin)
        and n.day > r.day
        and (n.ratings is not null or r.ratings is null)
        and (n.rating is not null or r.rating is null)
      -- The fence prevents a join, which would read every count for every few apps.
      offset 0
    )`
}

/** Requires the apps' lock. Deletes and inserts rows in one statement. */
async function foldApps(
  tx: Tx,
  apps: readonly number[],
  { before, chunk }: { before: string | null; chunk: number },
): Promise<number> {
  if (apps.length === 0) return 0
  const [row] = await tx<[{ packed: number }]>`
    with picked as materialized (
      select app_id, storefront, day, source
      from rating_count r
      where app_id = any(${apps as number[]}::int[]) and ${isOld(tx, before)}
      order by app_id
      limit ${chunk}
    ), gone as (
      delete from rating_count r
      using picked p
      where (r.app_id, r.storefront, r.day, r.source) = (p.app_id, p.storefront, p.day, p.source)
      returning r.app_id, r.storefront, date_trunc('quarter', r.day::timestamp)::date as quarter, r.source, r.origin,
        coalesce(r.ratings >> 20, -1)::int as millions, r.day, r.ratings, r.rating, r.seen_at
    ), moved as (
      select app_id, storefront, quarter, source, origin, millions, day - quarter + 1 as at, ${packedForm(tx)} as packed
      from gone
    ), quarter as (
      select app_id, storefront, quarter, source, origin, millions, max(at) as last
      from moved
      group by app_id, storefront, quarter, source, origin, millions
    ), held as materialized (
      select q.app_id, q.storefront, q.quarter, q.source, q.origin, q.millions, d.at, d.packed
      from quarter n
      join rating_quarter q using (app_id, storefront, quarter, source, origin, millions)
      cross join lateral unnest(q.days) with ordinality d (packed, at)
    ), day as (
      select app_id, storefront, quarter, source, origin, millions, at, max(packed) as packed
      from (
        select *
        from moved
        union all
        select *
        from held
        union all
        select app_id, storefront, quarter, source, origin, millions, g as at, null as packed
        from quarter
        cross join lateral generate_series(1, last) g
      ) d
      group by app_id, storefront, quarter, source, origin, millions, at
    ), written as (
      insert into rating_quarter as held (app_id, storefront, quarter, source, origin, millions, days)
      select app_id, storefront, quarter, source, origin, millions, array_agg(packed order by at)
      from day
      group by app_id, storefront, quarter, source, origin, millions
      order by app_id, storefront, quarter, source, origin, millions
      on conflict (app_id, storefront, quarter, source, origin, millions) do update
      set days = excluded.days
    )
    select count(*)::int as packed
    from moved`
  return row.packed
}

/** Packs a count; the migration documents the format. */
function packedForm(tx: Tx) {
  return tx`(
    (coalesce(ratings & 1048575, 0) << 43)
      | (coalesce(round(rating::numeric * 10000)::bigint + 1, 0) << 27)
      | trunc(extract(epoch from seen_at - day::timestamp at time zone 'utc') * 1000)::bigint
  )`
}

/** Selects the packed count of the day of `row`, which is a count with an app, storefront and source. */
export function packedDay(tx: Tx, row: string, where = tx``) {
  const of = (column: string) => tx(`${row}.${column}`)
  return tx`
    select
    from rating_quarter q
    cross join lateral (select q.days[${of("day")} - q.quarter + 1] as packed) d
    where (q.app_id, q.storefront, q.source) = (${of("app_id")}, ${of("storefront")}, ${of("source")})
      and q.quarter = date_trunc('quarter', ${of("day")}::timestamp)::date and d.packed is not null ${where}`
}

/**
 * Selects the packed count only when it takes precedence over `row`, a count to store. The order is that of
 * rating_count.
 */
export function packedBetter(tx: Tx, row: string) {
  const of = (column: string) => tx(`${row}.${column}`)
  const same = tx`${packedRank(tx)} = ${rankOf(tx, row)} and not ${of("placed")}`
  return packedDay(tx, row, tx`and (${packedRank(tx)} > ${rankOf(tx, row)} or ${same})`)
}

/**
 * Deletes counts that exist both unpacked and packed; the later one stays. Returns the number deleted. Requires the
 * apps' lock.
 */
export async function removeDoubles(tx: Tx, apps: readonly number[]): Promise<number> {
  const { count } = await tx`
    delete from rating_count r
    where app_id = any(${apps as number[]}::int[])
      and exists (${packedDay(tx, "r", tx`and ${packedRank(tx)} > ${rankOf(tx, "r")}`)})`
  const twice = await tx<CountKey[]>`
    select app_id, storefront, day, source
    from rating_count r
    where app_id = any(${apps as number[]}::int[]) and exists (${packedDay(tx, "r")})`
  await takeOut(tx, twice)
  return count + twice.length
}

/**
 * Counts of this instance precede foreign ones, then later ones precede earlier ones. The packed time is the
 * millisecond of the day. Compare it with rankOf.
 */
function packedRank(tx: Tx) {
  return tx`(q.origin = ${OWN}, (d.packed & ${2 ** 27 - 1}::bigint))`
}

function rankOf(tx: Tx, row: string) {
  return tx`(${tx(`${row}.origin`)} = ${OWN}, ${momentOf(tx, row)})`
}

function momentOf(tx: Tx, row: string) {
  const [seenAt, day] = [tx(`${row}.seen_at`), tx(`${row}.day`)]
  return tx`trunc(extract(epoch from ${seenAt} - ${day}::timestamp at time zone 'utc') * 1000)`
}

interface CountKey {
  app_id: number
  storefront: string
  day: string
  source: string
}

/** Removes these days from their quarters, because rating_count has them now. Requires the apps' lock. */
export async function takeOut(tx: Tx, counts: readonly CountKey[]): Promise<void> {
  if (counts.length === 0) return
  const keys = counts.map(({ app_id, storefront, day, source }) => ({ app_id, storefront, day, source }))
  await tx`
    with taken as (
      select app_id, storefront, date_trunc('quarter', day::timestamp)::date as quarter, source, array_agg(day) as days
      from jsonb_to_recordset(${tx.json(keys)})
        c (app_id int, storefront text, day date, source text)
      group by 1, 2, 3, 4
    ), changed as materialized (
      select q.app_id, q.storefront, q.quarter, q.source, q.origin, q.millions,
        array_agg(case when q.quarter + d.at::int - 1 = any(t.days) then null else d.packed end order by d.at) as days
      from taken t
      join rating_quarter q using (app_id, storefront, quarter, source)
      cross join lateral unnest(q.days) with ordinality d (packed, at)
      group by q.app_id, q.storefront, q.quarter, q.source, q.origin, q.millions
    ), emptied as (
      delete from rating_quarter q
      using changed c
      where (q.app_id, q.storefront, q.quarter, q.source, q.origin, q.millions)
          = (c.app_id, c.storefront, c.quarter, c.source, c.origin, c.millions)
        and array_remove(c.days, null) = '{}'
    )
    update rating_quarter q
    set days = c.days
    from changed c
    where (q.app_id, q.storefront, q.quarter, q.source, q.origin, q.millions)
        = (c.app_id, c.storefront, c.quarter, c.source, c.origin, c.millions)
      and array_remove(c.days, null) <> '{}'`
}
