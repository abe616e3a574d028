import type { RatingsByStar, ResultApp } from "../../core/observation/line-parts.ts"
import { isOutranked, OWN, outranks } from "../../core/observation/origins.ts"
import { hexOf } from "../../core/observation/precedence.ts"
import type { ChangedApp } from "../../core/observation/provenance.ts"
import type { ShownApps } from "../../core/observation/shown-apps.ts"
import type { Tx } from "../../database/types.ts"
import { dayOf } from "../../lib/days.ts"
import { packedBetter, packedDay, takeOut } from "./rating-quarters.ts"

/** The changes made by storing the facts. */
interface NewFacts {
  /** The readings with new rating counts. */
  rated: ShownApps["from"][]
  /** Apps with a new rating count. */
  counted: ChangedApp[]
  /** Apps (store_app ids) whose developer or developer id changed. */
  resold: number[]
}

/** Returns the ids of the apps for which a reading shows any fact; the name and rating counts are facts too. */
export function appsWithFacts(readings: readonly Pick<ShownApps, "apps" | "appIds">[]): number[] {
  const ids = readings.flatMap(({ apps, appIds }) =>
    appIds.filter((_, place) => {
      return FACTS.some((fact) => apps[place]![fact]) || isCounted(apps[place]!)
    }),
  )
  return [...new Set(ids)]
}

/**
 * Locks apps (store_app ids) against other writers of their facts and names. Always in id order, to avoid deadlocks.
 */
export async function lockApps(tx: Tx, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return
  await tx`
    select id
    from store_app
    where id = any(${ids as number[]}::int[])
    order by id
    for no key update`
}

/**
 * Stores rating counts and the facts that are the same in every storefront. Names are stored by storeNames. Requires
 * the apps' lock.
 */
export async function storeFacts(tx: Tx, readings: readonly ShownApps[]): Promise<NewFacts> {
  const oldestFirst = readings.toSorted(
    (a, b) => a.from.seenAt.getTime() - b.from.seenAt.getTime() || Number(a.placed) - Number(b.placed),
  )
  const resold = await updateApps(tx, factsOf(oldestFirst))
  return { ...(await insertRatings(tx, ratingsOf(oldestFirst))), resold }
}

/**
 * Returns text that can be stored. Undefined if nothing remains. A name cut within a character does not fail a reading.
 */
export function cleanText(text: string | undefined): string | undefined {
  const cleaned = text?.toWellFormed().replaceAll("\0", "").trim().slice(0, 2_000).toWellFormed()
  return cleaned === "" ? undefined : cleaned
}

type Facts = {
  id: number
  developer: string | null
  bundle_id: string | null
  genre: string | null
  genres: string[] | null
  developer_id: string | null
  developer_site: string | null
  seen_at: string
  source: string
  origin: string
  placed: boolean
}

/** A reading with any of these facts replaces all facts of an origin that it outranks. */
const FACTS = ["name", "icon", "developer", "bundleId", "genre", "genres", "developerId", "developerSite"] as const

/** Sorts by time, then by source name. Readings of the same source and time keep their order. */
function bySource({ from: a }: ShownApps, { from: b }: ShownApps): number {
  return a.seenAt.getTime() - b.seenAt.getTime() || (a.source < b.source ? -1 : a.source > b.source ? 1 : 0)
}

/** Returns one row per app with the latest value of each fact, all of one origin. */
function factsOf(readings: readonly ShownApps[]): Facts[] {
  const byApp = new Map<number, Facts>()
  for (const { from, apps, appIds, placed } of readings.toSorted(bySource)) {
    apps.forEach((app, place) => {
      if (!FACTS.some((fact) => app[fact])) return
      const id = appIds[place] as number
      const stored = byApp.get(id)
      if (stored && isOutranked(from.origin, stored.origin)) return
      const previous = stored?.origin === from.origin ? stored : undefined
      byApp.set(id, {
        id,
        developer: cleanText(app.developer) ?? previous?.developer ?? null,
        bundle_id: cleanText(app.bundleId) ?? previous?.bundle_id ?? null,
        genre: cleanText(app.genre) ?? previous?.genre ?? null,
        genres: app.genres ?? previous?.genres ?? null,
        developer_id: cleanText(app.developerId) ?? previous?.developer_id ?? null,
        developer_site: cleanText(app.developerSite) ?? previous?.developer_site ?? null,
        seen_at: from.seenAt.toISOString(),
        source: from.source,
        origin: from.origin,
        placed,
      })
    })
  }
  return [...byApp.values()]
}

/**
 * Updates the facts of apps. Newer facts replace older ones; facts that are not shown stay, and older readings only
 * fill gaps. All facts of an app have the same origin (see outranks). Returns the apps whose developer or developer id
 * changed.
 */
async function updateApps(tx: Tx, facts: readonly Facts[]): Promise<number[]> {
  if (facts.length === 0) return []
  const updated = await tx<{ id: number; resold: boolean }[]>`
    with seen as (
      select f.*, ${outranks(tx, "f", "a")} as whole,
        a.seen_at is null or f.seen_at > a.seen_at or f.seen_at = a.seen_at and (
          a.source is null or f.source collate "C" > a.source or f.source = a.source and f.placed
        ) as newer
      from jsonb_to_recordset(${tx.json(facts as Facts[])}) f (
        id int, developer text, bundle_id text, genre text, genres text[], developer_id text, developer_site text,
        seen_at timestamptz, source text, origin text, placed boolean
      )
      join store_app a on a.id = f.id
      where a.origin is null or not ${outranks(tx, "a", "f")}
    ), merged as (
      select a.id, a.developer as was, a.developer_id as was_id,
        case when whole then f.developer when newer then coalesce(f.developer, a.developer)
          else coalesce(a.developer, f.developer) end as developer,
        case when whole then f.bundle_id when newer then coalesce(f.bundle_id, a.bundle_id)
          else coalesce(a.bundle_id, f.bundle_id) end as bundle_id,
        case when whole then f.genre when newer then coalesce(f.genre, a.genre) else coalesce(a.genre,
          f.genre) end as genre,
        case when whole then f.genres when newer then coalesce(f.genres, a.genres)
          else coalesce(a.genres, f.genres) end as genres,
        case when whole then f.developer_id when newer then coalesce(f.developer_id, a.developer_id)
          else coalesce(a.developer_id, f.developer_id) end as developer_id,
        case when whole then f.developer_site when newer then coalesce(f.developer_site, a.developer_site)
          else coalesce(a.developer_site, f.developer_site) end as developer_site,
        case when whole or newer then f.seen_at else a.seen_at end as seen_at,
        case when whole or newer then f.source else a.source end as source,
        case when whole or newer then f.origin else a.origin end as origin
      from seen f
      join store_app a on a.id = f.id
    )
    update store_app a
    set developer = m.developer, bundle_id = m.bundle_id, genre = m.genre,
      genres = m.genres, developer_id = m.developer_id, developer_site = m.developer_site, seen_at = m.seen_at,
      source = m.source, origin = m.origin
    from merged m
    where a.id = m.id
      and (
        a.developer, a.bundle_id, a.genre, a.genres, a.developer_id, a.developer_site, a.seen_at,
        a.source, a.origin
      ) is distinct from (
        m.developer, m.bundle_id, m.genre, m.genres, m.developer_id, m.developer_site, m.seen_at,
        m.source, m.origin
      )
    returning a.id, (m.developer, m.developer_id) is distinct from (m.was, m.was_id) as resold`
  return updated.flatMap(({ id, resold }) => (resold ? [id] : []))
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
  /** Only for observations of kind `apps`, which keep just the latest reading. Readings of a search are all stored. */
  parser: number | null
  sha256: string | null
  stars: RatingsByStar | null
  placed: boolean
}

interface ShownRatings {
  from: ShownApps["from"]
  row: Ratings
}

/**
 * Returns one row per app, storefront, day and source: the day's latest count of this instance, or of another instance
 * if this one has none.
 */
function ratingsOf(readings: readonly ShownApps[]): Map<string, ShownRatings> {
  const rows = new Map<string, ShownRatings>()
  for (const { from, apps, appIds, placed } of readings) {
    const { storefront, source, seenAt, origin } = from
    const day = dayOf(seenAt)
    apps.forEach((app, place) => {
      if (!isCounted(app)) return
      const { ratings = null, rating = null, ratingsByStar: stars = null } = app
      const app_id = appIds[place] as number
      const key = keyOf({ app_id, storefront, day, source })
      if (origin !== OWN && rows.get(key)?.row.origin === OWN) return
      const counted = { app_id, storefront, day, source, seen_at: seenAt.toISOString(), origin, ratings, rating, stars }
      rows.set(key, { from, row: { ...counted, ...bodyOf(from), placed } })
    })
  }
  return rows
}

function isCounted({ ratings, rating, ratingsByStar }: ResultApp): boolean {
  return ratings !== undefined || rating !== undefined || ratingsByStar !== undefined
}

function bodyOf(from: ShownApps["from"]): Pick<Ratings, "parser" | "sha256"> {
  const { kind, parser, sha256 } = from
  return kind === "apps" ? { parser, sha256: hexOf(sha256) } : { parser: null, sha256: null }
}

function keyOf({ app_id, storefront, day, source }: Pick<Ratings, "app_id" | "storefront" | "day" | "source">): string {
  return `${app_id} ${storefront} ${day} ${source}`
}

async function insertRatings(
  tx: Tx,
  ratingRows: ReadonlyMap<string, ShownRatings>,
): Promise<Pick<NewFacts, "rated" | "counted">> {
  if (ratingRows.size === 0) return { rated: [], counted: [] }
  const written = await tx<(Ratings & { packed: boolean })[]>`
    insert into rating_count as held
      (app_id, storefront, day, source, seen_at, origin, ratings, rating, stars, parser, sha256)
    select app_id, storefront, day, source, seen_at, origin, ratings, rating, stars, parser, decode(sha256, 'hex')
    from jsonb_to_recordset(${tx.json([...ratingRows.values()].map(({ row }) => row))}) r (
      app_id int, storefront text, day date, source text, seen_at timestamptz, origin text, ratings bigint, rating real,
      stars bigint[], parser smallint, sha256 text, placed boolean
    )
    where not exists (${packedBetter(tx, "r")})
      and (
        placed or not exists (
          select from rating_count h
          where (h.app_id, h.storefront, h.day, h.source, h.seen_at)
              = (r.app_id, r.storefront, r.day, r.source, r.seen_at)
            and (h.origin = ${OWN}) = (r.origin = ${OWN})
        )
      )
    order by app_id, storefront, day, source
    on conflict (app_id, storefront, day, source) do update
    set seen_at = excluded.seen_at, origin = excluded.origin, ratings = excluded.ratings, rating = excluded.rating,
      stars = excluded.stars, parser = excluded.parser, sha256 = excluded.sha256
    where (excluded.origin = ${OWN}, excluded.seen_at) >= (held.origin = ${OWN}, held.seen_at)
    returning app_id, storefront, day, source, ratings, exists (${packedDay(tx, "held")}) as packed`
  await takeOut(
    tx,
    written.filter(({ packed }) => packed),
  )
  return {
    rated: written.map((row) => (ratingRows.get(keyOf(row)) as ShownRatings).from),
    counted: written.flatMap(({ app_id: appId, storefront, ratings }) => {
      return ratings === null ? [] : [{ appId, storefront }]
    }),
  }
}
