import type { OutdatedReading } from "../../core/observation/shown-apps.ts"
import type { Tx } from "../../database/types.ts"
import { DAY_MS } from "../../lib/time.ts"
import type { App, AppsObservation } from "../kinds/apps-shape.ts"

export interface AppRow {
  from: AppsObservation
  appId: number
  /** Undefined if the app is not available. */
  app: App | undefined
}

/** A release date with the time of the first reading that named it. */
interface Release {
  date: Date
  seenAt: Date
}

interface StoredRow {
  appId: number
  storefront: string
  source: string
  seenAt: Date
  updatedAt: Date | null
  newestDate: Date | null
  newestSeenAt: Date | null
}

interface SiftedRows {
  /** Rows that are not stale, each with the latest release among all readings. */
  fresh: { row: AppRow; newest: Release | null }[]
  stale: Set<AppRow>
  outdated: OutdatedReading[]
}

/**
 * Separates stale responses: those that name an earlier release than a previous reading of the same source. The latest
 * release is stored with each row, so the result does not depend on the order of arrival.
 */
export async function findStaleRows(tx: Tx, rows: readonly AppRow[]): Promise<SiftedRows> {
  const storedRows = await readStoredReadings(tx, rows)
  const sifted: SiftedRows = { fresh: [], stale: new Set(), outdated: [] }
  const changed: { row: AppRow; newest: Release }[] = []
  for (const [key, same] of Map.groupBy(rows, keyOf)) {
    const stored = storedRows.get(key)
    const releases = releasesOf(same, stored)
    const newest = newestOf(releases)
    const isStoredStale = stored?.updatedAt != null && isStale(stored.updatedAt, stored.seenAt, releases)
    for (const row of same) {
      const { seenAt } = row.from
      const date = dateOf(row)
      if (date !== null && isStale(date, seenAt, releases)) sifted.stale.add(row)
      else if (!stored || isStoredStale || seenAt >= stored.seenAt) sifted.fresh.push({ row, newest })
    }
    if (stored && isStoredStale) sifted.outdated.push(stored)
    else if (stored && newest && isOther(newest, stored)) changed.push({ row: same[0] as AppRow, newest })
  }
  await updateReleases(tx, changed)
  return sifted
}

/**
 * Records the time of the latest stale response in the app's row. Returns the stale rows of the apps that it changed.
 */
export async function countStale(tx: Tx, stale: ReadonlySet<AppRow>): Promise<AppRow[]> {
  if (stale.size === 0) return []
  const rows = [...stale]
  const counted = await tx<{ place: number }[]>`
    with seen as (
      select *
      from jsonb_to_recordset(${tx.json(rows.map(columnsOf))}) r (
        place int, app_id int, storefront text, source text, seen_at timestamptz
      )
    ), latest as (
      select app_id, storefront, source, max(seen_at) as seen_at
      from seen
      group by app_id, storefront, source
    ), written as (
      update app_storefront a
      set stale_at = l.seen_at
      from latest l
      where (a.app_id, a.storefront, a.source) = (l.app_id, l.storefront, l.source)
        and (a.stale_at is null or a.stale_at < l.seen_at)
      returning a.app_id, a.storefront, a.source
    )
    select s.place
    from seen s
    join written using (app_id, storefront, source)
    order by s.place`
  return counted.map(({ place }) => rows[place] as AppRow)
}

async function readStoredReadings(tx: Tx, rows: readonly AppRow[]): Promise<Map<string, StoredRow>> {
  if (rows.length === 0) return new Map()
  const storedRows = await tx<StoredRow[]>`
    select a.app_id as "appId", a.storefront, a.source, a.seen_at as "seenAt", ${releaseColumn(tx, "a")} as "updatedAt",
      ${newestRelease(tx, "a")} as "newestDate",
      coalesce(a.newest_release_seen_at, a.seen_at) as "newestSeenAt"
    from (
      select distinct app_id, storefront, source
      from jsonb_to_recordset(${tx.json(rows.map(columnsOf))}) r (app_id int, storefront text, source text)
    ) r
    join app_storefront a using (app_id, storefront, source)
    order by a.app_id, a.storefront, a.source`
  return new Map(storedRows.map((row) => [`${row.appId} ${row.storefront} ${row.source}`, row]))
}

async function updateReleases(tx: Tx, changed: readonly { row: AppRow; newest: Release }[]): Promise<void> {
  if (changed.length === 0) return
  const rows = changed.map(({ row, newest }, place) => ({ ...columnsOf(row, place), ...releaseColumns(newest) }))
  await tx`
    update app_storefront a
    set newest_release = r.newest_release, newest_release_seen_at = r.newest_release_seen_at
    from jsonb_to_recordset(${tx.json(rows)}) r (
      app_id int, storefront text, source text, newest_release timestamptz, newest_release_seen_at timestamptz
    )
    where (a.app_id, a.storefront, a.source) = (r.app_id, r.storefront, r.source)
      and r.newest_release >= coalesce(${newestRelease(tx, "a")}, '-infinity')`
}

export function releaseColumns(newest: Release | null) {
  return {
    newest_release: newest?.date.toISOString() ?? null,
    newest_release_seen_at: newest?.seenAt.toISOString() ?? null,
  }
}

/** Selects the latest release among a row's readings. Null if unknown. */
export function newestRelease(tx: Tx, row: string) {
  return tx`coalesce(${tx(`${row}.newest_release`)}, ${releaseColumn(tx, row)})`
}

function releaseColumn(tx: Tx, row: string) {
  const updated = tx(`${row}.updated_at`)
  return tx`case when ${updated} <= ${tx(`${row}.seen_at`)} + interval '1 day' then ${updated} end`
}

function keyOf({ appId, from: { storefront, source } }: AppRow): string {
  return `${appId} ${storefront} ${source}`
}

function columnsOf({ appId, from: { storefront, source, seenAt } }: AppRow, place: number) {
  return { place, app_id: appId, storefront, source, seen_at: seenAt.toISOString() }
}

/** Returns the release date. Null if it is more than a day after the reading: it is then the date of a pre-order. */
function dateOf({ app, from: { seenAt } }: AppRow): Date | null {
  const { updatedAt } = app ?? {}
  return updatedAt !== undefined && updatedAt.getTime() <= seenAt.getTime() + DAY_MS ? updatedAt : null
}

function releasesOf(rows: readonly AppRow[], stored: StoredRow | undefined): Release[] {
  const named = rows.flatMap((row) => {
    const date = dateOf(row)
    return date === null ? [] : [{ date, seenAt: row.from.seenAt }]
  })
  const { newestDate, newestSeenAt } = stored ?? {}
  return newestDate && newestSeenAt ? [{ date: newestDate, seenAt: newestSeenAt }, ...named] : named
}

/** Returns the latest release, with the first reading that named it. */
function newestOf(releases: readonly Release[]): Release | null {
  const [newest = null] = releases.toSorted(
    (a, b) => b.date.getTime() - a.date.getTime() || a.seenAt.getTime() - b.seenAt.getTime(),
  )
  return newest
}

/** Returns true if an earlier reading named a later release. */
function isStale(date: Date, seenAt: Date, releases: readonly Release[]): boolean {
  return releases.some((release) => release.seenAt < seenAt && release.date > date)
}

function isOther({ date, seenAt }: Release, { newestDate, newestSeenAt }: StoredRow): boolean {
  return date.getTime() !== newestDate?.getTime() || seenAt.getTime() !== newestSeenAt?.getTime()
}
