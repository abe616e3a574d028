import type { Tx } from "../database/types.ts"
import { dayOf } from "../formulas/days.ts"
import { DEMO, type SearchObservation } from "./types.ts"

/** A stored reading with the surrogate ids of its results, in order. */
export interface IdentifiedReading {
  reading: SearchObservation
  appIds: readonly number[]
}

/** Stores what readings showed of their apps: names and other facts, and rating counts. */
export async function storeFacts(tx: Tx, readings: readonly IdentifiedReading[]): Promise<void> {
  const oldestFirst = readings.toSorted((a, b) => a.reading.seenAt.getTime() - b.reading.seenAt.getTime())
  await updateApps(tx, factsOf(oldestFirst))
  await insertRatings(tx, ratingsOf(oldestFirst))
}

type Facts = {
  id: number
  name: string | null
  icon: string | null
  developer: string | null
  bundle_id: string | null
  seen_at: string
  source: string
  origin: string
}

/** One row an app: of each fact the latest, and none of the demo's beside others'. */
function factsOf(readings: readonly IdentifiedReading[]): Facts[] {
  const byApp = new Map<number, Facts>()
  for (const { reading, appIds } of readings) {
    reading.results.forEach((app, place) => {
      const { name, icon, developer, bundleId } = app
      if (!name && !icon && !developer && !bundleId) return
      const id = appIds[place] as number
      const held = byApp.get(id)
      if (held && held.origin !== DEMO && reading.origin === DEMO) return
      const kept = held && (held.origin === DEMO) === (reading.origin === DEMO) ? held : undefined
      byApp.set(id, {
        id,
        name: clean(name) ?? kept?.name ?? null,
        icon: clean(icon) ?? kept?.icon ?? null,
        developer: clean(developer) ?? kept?.developer ?? null,
        bundle_id: clean(bundleId) ?? kept?.bundle_id ?? null,
        seen_at: reading.seenAt.toISOString(),
        source: reading.source,
        origin: reading.origin,
      })
    })
  }
  return [...byApp.values()]
}

// A reading is not lost for a name cut in the middle of a character.
function clean(text: string | undefined): string | undefined {
  const cleaned = text?.toWellFormed().replaceAll("\0", "").trim().slice(0, 2_000).toWellFormed()
  return cleaned === "" ? undefined : cleaned
}

/**
 * Newer facts replace older ones; facts not shown are left, and older readings only fill what is missing. The demo's
 * facts never replace others, and are replaced by any others as a whole, so that nothing of the demo is left over.
 */
async function updateApps(tx: Tx, facts: readonly Facts[]): Promise<void> {
  if (facts.length === 0) return
  await tx`
    select id
    from store_app
    where id = any(${facts.map(({ id }) => id)}::int[])
    order by id
    for no key update`
  await tx`
    with seen as (
      select f.*, a.origin = ${DEMO} and f.origin <> ${DEMO} as whole, a.seen_at is null or f.seen_at >= a.seen_at as newer
      from jsonb_to_recordset(${tx.json(facts as Facts[])}) f (
        id int, name text, icon text, developer text, bundle_id text, seen_at timestamptz, source text, origin text
      )
      join store_app a on a.id = f.id
      where f.origin <> ${DEMO} or a.origin is null or a.origin = ${DEMO}
    ), merged as (
      select a.id,
        case when whole then f.name when newer then coalesce(f.name, a.name) else coalesce(a.name, f.name) end as name,
        case when whole then f.icon when newer then coalesce(f.icon, a.icon_url) else coalesce(a.icon_url, f.icon) end as icon_url,
        case when whole then f.developer when newer then coalesce(f.developer, a.developer)
          else coalesce(a.developer, f.developer) end as developer,
        case when whole then f.bundle_id when newer then coalesce(f.bundle_id, a.bundle_id)
          else coalesce(a.bundle_id, f.bundle_id) end as bundle_id,
        case when whole or newer then f.seen_at else a.seen_at end as seen_at,
        case when whole or newer then f.source else a.source end as source,
        case when whole or newer then f.origin else a.origin end as origin
      from seen f
      join store_app a on a.id = f.id
    )
    update store_app a
    set name = m.name, icon_url = m.icon_url, developer = m.developer, bundle_id = m.bundle_id,
      seen_at = m.seen_at, source = m.source, origin = m.origin
    from merged m
    where a.id = m.id
      and (a.name, a.icon_url, a.developer, a.bundle_id, a.seen_at, a.source, a.origin)
        is distinct from (m.name, m.icon_url, m.developer, m.bundle_id, m.seen_at, m.source, m.origin)`
}

type Ratings = {
  app_id: number
  storefront: string
  day: string
  source: string
  seen_at: string
  origin: string
  ratings: number | null
  rating: number | null
}

/** One row an app, storefront, day and source: the day's latest, of the demo only where nothing else is. */
function ratingsOf(readings: readonly IdentifiedReading[]): Ratings[] {
  const rows = new Map<string, Ratings>()
  for (const { reading, appIds } of readings) {
    const { storefront, source, seenAt, origin } = reading
    const day = dayOf(seenAt)
    reading.results.forEach((app, place) => {
      const { ratings = null, rating = null }: { ratings?: number | null; rating?: number | null } = app
      if (ratings === null && rating === null) return
      const app_id = appIds[place] as number
      const key = `${app_id} ${storefront} ${day} ${source}`
      if (origin === DEMO && (rows.get(key)?.origin ?? DEMO) !== DEMO) return
      rows.set(key, { app_id, storefront, day, source, seen_at: seenAt.toISOString(), origin, ratings, rating })
    })
  }
  return [...rows.values()]
}

async function insertRatings(tx: Tx, rows: readonly Ratings[]): Promise<void> {
  if (rows.length === 0) return
  await tx`
    insert into rating_count as held (app_id, storefront, day, source, seen_at, origin, ratings, rating)
    select app_id, storefront, day, source, seen_at, origin, ratings, rating
    from jsonb_to_recordset(${tx.json(rows as Ratings[])}) r (
      app_id int, storefront text, day date, source text, seen_at timestamptz, origin text, ratings bigint, rating real
    )
    order by app_id, storefront, day, source
    on conflict (app_id, storefront, day, source) do update
    set seen_at = excluded.seen_at, origin = excluded.origin, ratings = excluded.ratings, rating = excluded.rating
    where case
      when held.origin = ${DEMO} and excluded.origin <> ${DEMO} then true
      when held.origin <> ${DEMO} and excluded.origin = ${DEMO} then false
      else excluded.seen_at >= held.seen_at
    end`
}
