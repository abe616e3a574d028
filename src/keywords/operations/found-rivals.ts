import type { Platform } from "../../core/observation/provenance.ts"
import type { TrackedApp } from "../../core/tracked-app.ts"
import type { Sql } from "../../database/types.ts"
import { gradeOf, type SearchText } from "../../lib/matching.ts"
import { rivalRecordId } from "../../lib/record-ids.ts"
import { parseRival } from "../../lib/store-ids.ts"
import { appPage } from "../../lib/store-pages.ts"
import { nameIn } from "../../stores/store/app-names.ts"
import { folded, patternsOf, type RecordMatch } from "../../tracking/records.ts"
import { dayTerms, type SideApp, sidesOf } from "../read/day-answers.ts"

/** Maximum number of lists of results that one search reads. */
export const LISTS = 500
/** Maximum number of places that one search reads in all lists together. */
export const PLACES = 5_000
const MAX_RIVALS = 200

/**
 * Returns the rivals that match the query: apps that rank above these apps and are not hidden, and apps added by hand.
 * Those with the most keywords come first.
 */
export async function findRivals(sql: Sql, apps: readonly TrackedApp[], query: SearchText): Promise<RecordMatch[]> {
  const [above, named] = await Promise.all([readAbove(sql, apps, query), readNamed(sql, apps)])
  const found = new Map<string, RecordMatch & { terms: number }>()
  const grades = new Map<string, number | null>()
  for (const { app, platform, storeId, name, country, terms } of [...above, ...named]) {
    const id = rivalRecordId(app.id, storeId)
    // grades are cached because many apps share the same few rivals
    const label = `${storeId} ${name ?? ""}`
    const grade = grades.get(label) ?? gradeOf(query, [storeId], name === null ? [] : [name])
    grades.set(label, grade)
    if (grade === null || found.has(id)) continue
    const url = appPage(platform, storeId, country)
    found.set(id, { grade, id, title: name ?? storeId, url, kind: "rival", terms })
  }
  const best = [...found.values()]
    .sort((a, b) => a.grade - b.grade || b.terms - a.terms || (a.id < b.id ? -1 : 1))
    .slice(0, MAX_RIVALS)
  return best.map(({ terms: _, ...rival }) => rival)
}

interface Rival {
  app: TrackedApp
  platform: Platform
  storeId: string
  /** Null if unknown. */
  name: string | null
  /** A storefront where the rival ranks above the app, or else the app's first storefront. */
  country: string
  /** Number of keywords for which it ranks above the app. */
  terms: number
}

async function readAbove(sql: Sql, apps: readonly TrackedApp[], query: SearchText): Promise<Rival[]> {
  const sides = apps.flatMap((app) => sidesOf(app).map((side) => ({ ...side, app })))
  const above = await readAppsAbove(sql, apps, sides)
  const { places, placeOf } = placesOf(sides)
  // the same few apps rank above many others, so each is named and matched only once per place
  const keyOf = ({ appId, place }: NamedPlace) => appId * places.length + place
  const placed = above.map((rival) => ({ ...rival, place: placeOf[rival.side - 1] as number }))
  const byName = Map.groupBy(placed, keyOf)
  const found: Rival[] = []
  const names = [...byName.values()].map(([first]) => first as NamedPlace)
  for (let from = 0; from < names.length; from += NAMES_AT_ONCE) {
    const matching = await readMatchingNames(sql, names.slice(from, from + NAMES_AT_ONCE), places, query)
    for (const { storeId, name, ...place } of matching)
      for (const { side, terms } of byName.get(keyOf(place)) ?? []) {
        const { app, platform, storefront } = sides[side - 1] as (typeof sides)[number]
        found.push({ app, platform, storeId, name, country: storefront, terms })
      }
  }
  return found
}

// Lists and names per statement. Each statement takes only a few milliseconds, because it keeps other workspaces
// waiting on the embedded database.
const LISTS_AT_ONCE = 250
const NAMES_AT_ONCE = 500

interface NamedPlace {
  appId: number
  /** An index from 1 into the places of placesOf, which determine the name. */
  place: number
}

interface RankedRival {
  appId: number
  /** The index, from 1, of the first side on which it ranks above the app. */
  side: number
  terms: number
}

/** Returns the apps above each tracked app, without its hidden rivals. */
async function readAppsAbove(
  sql: Sql,
  apps: readonly TrackedApp[],
  sides: readonly (SideApp & { app: TrackedApp })[],
): Promise<RankedRival[]> {
  const lists = await readLists(sql, sides)
  const query = {
    sides,
    ownerOf: sides.map(({ app }) => apps.indexOf(app)),
    perList: Math.floor(PLACES / lists.length),
  }
  const found = new Map<number, RankedRival>()
  for (let from = 0; from < lists.length; from += LISTS_AT_ONCE) {
    const piece = await readAboveInLists(sql, lists.slice(from, from + LISTS_AT_ONCE), query)
    for (const [at, appId] of piece.appIds.entries()) {
      const side = piece.sides[at] as number
      const terms = piece.terms[at] as number
      const key = appId * apps.length + (query.ownerOf[side - 1] as number)
      const { side: earlier = side, terms: previousTerms = 0 } = found.get(key) ?? {}
      found.set(key, { appId, side: Math.min(earlier, side), terms: previousTerms + terms })
    }
  }
  return [...found.values()]
}

interface RankedList {
  listId: number
  /** The index of the side, from 1. */
  side: number
}

/** Returns the lists of the first keywords that were measured on the latest day of their side. */
async function readLists(sql: Sql, sides: readonly SideApp[]): Promise<RankedList[]> {
  const [row] = await sql<[{ listIds: number[]; sides: number[] }]>`
    with ${dayTerms(sql, sides, LISTS)}
    select coalesce(array_agg(list_id), '{}') as "listIds", coalesce(array_agg(side::int), '{}') as sides
    from term
    where last_day = day`
  const { listIds, sides: sideOf } = row
  return listIds.map((listId, at) => ({ listId, side: sideOf[at] as number }))
}

interface AboveQuery {
  sides: readonly (SideApp & { app: TrackedApp })[]
  /** The app of each side, as an index. */
  ownerOf: number[]
  /** How many places are read per list. */
  perList: number
}

async function readAboveInLists(sql: Sql, lists: readonly RankedList[], { sides, ownerOf, perList }: AboveQuery) {
  const hidden = sides.flatMap(({ app, platform }, at) => {
    const rivals = (app.hiddenRivals ?? []).map(parseRival)
    return rivals.flatMap((rival) => (rival?.platform === platform ? [{ ...rival, side: at + 1 }] : []))
  })
  // three arrays are parsed in a fraction of the time that thousands of rows take
  const [row] = await sql<[{ appIds: number[]; sides: number[]; terms: number[] }]>`
    with ${hidden.length > 0 ? hiddenApps(sql, hidden) : sql``}
    above as (
      select u.app_id, min(u.side)::int as side, count(*)::int as terms
      from (
        -- unnest in the select list takes half the time of unnest in from
        select l.side, l.owner, unnest(
            l.app_ids[1:least(coalesce(array_position(l.app_ids, l.store_app_id) - 1, 250), ${perList}::int)]
          ) as app_id
        from (
          select k.side, (${ownerOf}::int[])[k.side] as owner,
            (${sides.map(({ storeAppId }) => storeAppId)}::int[])[k.side] as store_app_id, (
              select app_ids
              from list_now
              where list_id = k.list_id
            ) as app_ids
          from unnest(
            ${lists.map(({ listId }) => listId)}::int[],
            ${lists.map(({ side }) => side)}::int[]
          ) k (list_id, side)
          offset 0
        ) l
      ) u
      ${hidden.length > 0 ? sql`where (u.side, u.app_id) not in (select side, app_id from hidden)` : sql``}
      group by u.app_id, u.owner
      order by u.app_id, u.owner
    )
    select coalesce(array_agg(app_id), '{}') as "appIds", coalesce(array_agg(side), '{}') as sides,
      coalesce(array_agg(terms), '{}') as terms
    from above`
  return row
}

/** Returns the apps whose name in their place, or whose store id, contains every word. */
async function readMatchingNames(
  sql: Sql,
  apps: readonly NamedPlace[],
  places: readonly { storefront: string; app: TrackedApp }[],
  query: SearchText,
): Promise<(NamedPlace & { storeId: string; name: string | null })[]> {
  const place = {
    storefront: sql`(${places.map(({ storefront }) => storefront)}::text[])[a.place]`,
    countries: sql`(
      select countries
      from tracked_app
      where id = (${places.map(({ app }) => app.id)}::text[])[a.place]
    )`,
  }
  return await sql`
    select a.app_id as "appId", a.place, s.store_id as "storeId", n.name
    from unnest(
      ${apps.map(({ appId }) => appId)}::int[],
      ${apps.map(({ place }) => place)}::int[]
    ) a (app_id, place)
    cross join lateral (
      select ${nameIn(sql, sql`a.app_id`, place)} as name
      offset 0
    ) n
    -- App Store ids are digits, so a word with a letter can only match the name: this saves the look-up of the id
    cross join lateral (
      select store_id
      from store_app
      where id = a.app_id
        and (platform <> 'ios'
          or ${folded(sql, sql`n.name`, query)} like all(${patternsOf(wordsOfNames(query))}::text[]))
      offset 0
    ) s
    where ${folded(sql, sql`coalesce(n.name, '') || ' ' || s.store_id`, query)} like all(${patternsOf(query)}::text[])
    order by a.app_id, a.place
    limit ${NAMES_AT_ONCE}`
}

/** Returns the search words that only a name can contain. */
function wordsOfNames(query: SearchText): SearchText {
  return { ...query, words: query.words.filter((word) => /\D/.test(word)) }
}

function hiddenApps(sql: Sql, hidden: readonly { side: number; platform: Platform; id: string }[]) {
  return sql`
    hidden as materialized (
      select h.side, s.id as app_id
      from unnest(
        ${hidden.map(({ side }) => side)}::int[],
        ${hidden.map(({ platform }) => platform)}::text[],
        ${hidden.map(({ id }) => id)}::text[]
      ) h (side, platform, store_id)
      join store_app s on (s.platform, s.store_id) = (h.platform, h.store_id)
    ),`
}

/**
 * Returns the distinct pairs of storefront and app countries, which determine an app's name, and each side's index from
 * 1.
 */
function placesOf(sides: readonly { storefront: string; app: TrackedApp }[]) {
  const placeByKey = new Map<string, number>()
  const places: { storefront: string; app: TrackedApp }[] = []
  const placeOf = sides.map(({ storefront, app }) => {
    const key = JSON.stringify([storefront, app.countries])
    const place = placeByKey.get(key) ?? places.push({ storefront, app })
    placeByKey.set(key, place)
    return place
  })
  return { places, placeOf }
}

async function readNamed(sql: Sql, apps: readonly TrackedApp[]): Promise<Rival[]> {
  const named = apps.flatMap((app) => {
    const rivals = (app.manualRivals ?? []).map(parseRival).filter((rival) => rival !== null)
    return rivals.map(({ platform, id }) => ({
      app,
      platform,
      storeId: id,
      country: app.countries[0],
      terms: 0,
    }))
  })
  if (named.length === 0) return []
  const place = {
    storefront: sql`n.country`,
    countries: sql`(select countries from tracked_app where id = n.tracked)`,
  }
  const rows = await sql<{ name: string | null }[]>`
    select ${nameIn(sql, sql`s.id`, place)} as name
    from unnest(
      ${named.map(({ app }) => app.id)}::text[],
      ${named.map(({ country }) => country)}::text[],
      ${named.map(({ platform }) => platform)}::text[],
      ${named.map(({ storeId }) => storeId)}::text[]
    ) with ordinality n (tracked, country, platform, store_id, place)
    left join store_app s on (s.platform, s.store_id) = (n.platform, n.store_id)
    order by n.place`
  return named.map((rival, at) => ({ ...rival, name: rows[at]?.name ?? null }))
}
