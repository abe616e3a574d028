import type { Fragment } from "postgres"
import type { Db, Tx } from "../../database/types.ts"
import { DEMO } from "../types.ts"

/** Readings younger than this are still rows of their own: the day shown is asked for most. */
const WHOLE_DAYS = 1

interface SearchFold {
  /** Of all days before it; null = as each list's turn comes, every half week, but not those of WHOLE_DAYS before today. */
  before?: string | null
  /** null = by the database's clock. */
  today?: string | null
  /** Fortnights of a list at most. */
  most: number
  /** The least list id to look at. */
  from: number
}

interface Fortnight {
  listId: number
  fortnight: string
}

/** A reading as it is packed; its time as the database says it, to the microsecond. */
interface FortnightReading extends Fortnight {
  source: number
  seenAt: string
  depth: number
  complete: boolean
  parser: number
  origin: string
  egress: string | null
  /** In hexadecimal digits. */
  sha256: string
  appIds: number[]
}

/** Readings, and apps, that a row holds at most: an app's place among them is a byte. */
const READINGS = 14
const APPS = 256
const DAYS = 14

/**
 * Moves old readings into the rows of their fortnights; `next` is where to go on, null at the end. By half weeks, so that
 * a row is written four or five times, and each night another share of the lists: what the rows of one night leave empty, those
 * of the next take. The demo's stay, since they go one day.
 */
export async function foldSearches(
  tx: Tx,
  { before = null, today = null, most, from }: SearchFold,
): Promise<{ packed: number; next: number | null }> {
  const isOld = oldDays(tx, { before, today })
  const found = await findOld(tx, { isOld, most, from })
  const end = found.at(-1)?.listId
  if (end === undefined) return { packed: 0, next: null }
  // whoever stores a reading of a list holds it, too: see record
  const held = await tx<{ id: number }[]>`
    select id
    from list
    where id = any(${[...new Set(found.map(({ listId }) => listId))]}::int[])
    order by id
    for no key update skip locked`
  const free = new Set(held.map(({ id }) => id))
  const packed = await fold(
    tx,
    found.filter(({ listId }) => free.has(listId)),
    isOld,
  )
  // a list that somebody holds is left to the next run
  return { packed, next: held[0]?.id ?? end + 1 }
}

/** Of a reading `s`, that it is to be packed. The first bound is there for the index. */
function oldDays(tx: Tx, { before, today }: { before: string | null; today: string | null }): Fragment {
  if (before !== null) return tx`s.day < ${before}::date and s.origin <> ${DEMO}`
  const young = tx`(coalesce(${today}::date, (now() at time zone 'utc')::date) - ${WHOLE_DAYS}::int)`
  return tx`
    s.day < ${young} and s.day < ${young} - (${young} - '1970-01-01'::date + s.list_id) % 7 % 4 and s.origin <> ${DEMO}`
}

interface FortnightPage {
  isOld: Fragment
  most: number
  from: number
}

async function findOld(tx: Tx, { isOld, most, from }: FortnightPage): Promise<Fortnight[]> {
  return await tx<Fortnight[]>`
    select distinct list_id as "listId", fortnight_of(day) as fortnight
    from (
      select list_id, day
      from search_results s
      where list_id >= ${from} and ${isOld}
      order by list_id, day
      limit ${most * DAYS}
    ) r
    order by 1, 2
    limit ${most}`
}

/** Needs the lists' lock. */
async function fold(tx: Tx, fortnights: readonly Fortnight[], isOld: Fragment): Promise<number> {
  if (fortnights.length === 0) return 0
  const of = fortnightsIn(tx, fortnights)
  const old = tx`
    s.list_id = o.list_id and s.day between o.fortnight and o.fortnight + ${DAYS - 1}::int and ${isOld}`
  const readings = await tx<FortnightReading[]>`
    select o.list_id as "listId", o.fortnight, r.source, r.seen_at::text as "seenAt", r.depth, r.complete, r.parser, r.origin,
      r.egress, encode(r.sha256, 'hex') as sha256, r.app_ids as "appIds"
    from ${of}
    cross join lateral (
      select source, seen_at, depth, complete, parser, origin, egress, sha256, app_ids
      from search_results s
      where ${old}
      union all
      select source, seen_at, depth, complete, parser, origin, egress, sha256, app_ids
      from packed_searches(o.list_id, o.fortnight, o.fortnight + ${DAYS - 1}::int)
    ) r
    order by o.list_id, o.fortnight, r.source, r.complete, r.parser, r.origin, r.egress, r.seen_at`
  await removeRows(tx, fortnights)
  const { count } = await tx`
    delete from search_results s
    using ${of}
    where ${old}`
  await insertRows(tx, readings)
  return count
}

/** A table `o` of them. */
export function fortnightsIn(tx: Db, fortnights: readonly Fortnight[]) {
  const [lists, days] = [fortnights.map(({ listId }) => listId), fortnights.map(({ fortnight }) => fortnight)]
  return tx`unnest(${lists}::int[], ${days}::date[]) o (list_id, fortnight)`
}

async function removeRows(tx: Tx, fortnights: readonly Fortnight[]): Promise<void> {
  await tx`
    delete from search_fortnight f
    using ${fortnightsIn(tx, fortnights)}
    where (f.list_id, f.fortnight) = (o.list_id, o.fortnight)`
}

/** Puts these fortnights' readings back into search_results. Needs the lists' lock. */
export async function releaseReadings(tx: Tx, fortnights: readonly Fortnight[]): Promise<void> {
  if (fortnights.length === 0) return
  await tx`
    insert into search_results
      (list_id, day, source, seen_at, depth, complete, parser, origin, egress, sha256, app_ids)
    select r.list_id, r.day, r.source, r.seen_at, r.depth, r.complete, r.parser, r.origin, r.egress, r.sha256, r.app_ids
    from ${fortnightsIn(tx, fortnights)}
    cross join lateral packed_searches(o.list_id, o.fortnight, o.fortnight + ${DAYS - 1}::int) r
    order by r.list_id, r.day, r.source, r.seen_at
    on conflict do nothing`
  await removeRows(tx, fortnights)
}

/** Makes the indexes of months that are all packed small again: a vacuum gives back what their tables took alone. */
export async function rebuildIndexes(tx: Tx): Promise<void> {
  await tx`
    do $$
    declare
      month regclass;
    begin
      -- whoever stores a reading of such a month is not waited for: there is a next time
      perform set_config('lock_timeout', '100ms', true);
      for month in
        select inhrelid
        from pg_inherits
        where inhparent = 'search_results'::regclass and pg_relation_size(inhrelid) = 0 and pg_indexes_size(inhrelid) > 16384
      loop
        execute format('reindex table %s', month);
      end loop;
    exception when lock_not_available then
      null;
    end $$`
}

interface FortnightRow {
  first: FortnightReading
  part: number
  readings: FortnightReading[]
  /** Each app's place among them. */
  apps: Map<number, number>
  places: number[]
  ends: number[]
}

async function insertRows(tx: Tx, readings: readonly FortnightReading[]): Promise<void> {
  await tx`
    insert into search_fortnight
      (list_id, fortnight, part, source, complete, parser, origin, egress, seen_ats, depths, ends, sha256s, apps, places)
    select list_id, fortnight, part, source, complete, parser, origin, egress, seen_ats, decode(depths, 'hex'), ends,
      decode(sha256s, 'hex'), apps, decode(places, 'hex')
    from jsonb_to_recordset(${tx.json(rowsOf(readings).map(stored))}) r (
      list_id int, fortnight date, part smallint, source smallint, complete boolean, parser smallint, origin text, egress text,
      seen_ats timestamptz[], depths text, ends smallint[], sha256s text, apps int[], places text
    )
    order by list_id, fortnight, part`
}

/** Readings in the order of what they have in common, then of time. */
function rowsOf(readings: readonly FortnightReading[]): FortnightRow[] {
  const rows: FortnightRow[] = []
  for (const reading of readings) {
    let row = rows.at(-1)
    if (!row || !takes(row, reading)) {
      const part = row && sameFortnight(row.first, reading) ? row.part + 1 : 0
      row = { first: reading, part, readings: [], apps: new Map(), places: [], ends: [] }
      rows.push(row)
    }
    for (const app of reading.appIds) {
      if (!row.apps.has(app)) row.apps.set(app, row.apps.size)
      row.places.push(row.apps.get(app)!)
    }
    row.readings.push(reading)
    row.ends.push(row.places.length)
  }
  return rows
}

function takes({ first, readings, apps }: FortnightRow, reading: FortnightReading): boolean {
  const alike = (["source", "complete", "parser", "origin", "egress"] as const).every((of) => first[of] === reading[of])
  if (!alike || !sameFortnight(first, reading) || readings.length === READINGS) return false
  return apps.size + reading.appIds.filter((app) => !apps.has(app)).length <= APPS
}

function sameFortnight(one: Fortnight, other: Fortnight): boolean {
  return one.listId === other.listId && one.fortnight === other.fortnight
}

function stored({ first, part, readings, apps, places, ends }: FortnightRow) {
  const { listId, fortnight, source, complete, parser, origin, egress } = first
  return {
    ...{ list_id: listId, fortnight, part, source, complete, parser, origin, egress, ends },
    seen_ats: readings.map(({ seenAt }) => seenAt),
    depths: Buffer.from(readings.map(({ depth }) => depth)).toString("hex"),
    sha256s: readings.map(({ sha256 }) => sha256).join(""),
    apps: [...apps.keys()],
    places: Buffer.from(places).toString("hex"),
  }
}
