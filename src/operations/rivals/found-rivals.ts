import type { Sql } from "../../database/types.ts"
import { uncut } from "../../database/uncut.ts"
import { dayAnswers, sidesOf } from "../../history/day-answers.ts"
import { type NamePlace, nameIn } from "../../observations/app-names.ts"
import type { Platform } from "../../observations/types.ts"
import type { TrackedApp } from "../../tracking/tracked-app.ts"
import { gradeOf, type SearchText } from "../../vocabulary/matching.ts"
import { rivalRecordId } from "../../vocabulary/record-ids.ts"
import { parseRival } from "../../vocabulary/store-ids.ts"
import { appPage } from "../../vocabulary/store-pages.ts"
import { folded, patternsOf, type RecordMatch } from "../account/records.ts"

/** One search reads at most this many lists of results, and places in all of them. */
export const LISTS = 500
export const PLACES = 5_000

/** Matching rivals of the apps: those above them except hidden ones, and those named by hand. Most keywords first. */
export async function findRivals(sql: Sql, apps: readonly TrackedApp[], sought: SearchText): Promise<RecordMatch[]> {
  const [above, named] = await Promise.all([readAbove(sql, apps, sought), readNamed(sql, apps)])
  const found = new Map<string, RecordMatch & { terms: number }>()
  const grades = new Map<string, number | null>()
  for (const { app, platform, storeId, name, country, terms } of [...above, ...named]) {
    const id = rivalRecordId(app.id, storeId)
    // many apps have the same few rivals
    const shown = `${storeId} ${name ?? ""}`
    const grade = grades.get(shown) ?? gradeOf(sought, [storeId], name === null ? [] : [name])
    grades.set(shown, grade)
    if (grade === null || found.has(id)) continue
    const url = appPage(platform, storeId, country)
    found.set(id, { grade, id, title: name ?? storeId, url, kind: "rival", terms })
  }
  const sorted = [...found.values()].sort((a, b) => b.terms - a.terms || (a.id < b.id ? -1 : 1))
  return sorted.map(({ terms: _, ...rival }) => rival)
}

interface Rival {
  app: TrackedApp
  platform: Platform
  storeId: string
  /** Null if unknown. */
  name: string | null
  /** A storefront where it ranks above the app, or else the app's first. */
  country: string
  /** Keywords for which it ranks above the app. */
  terms: number
}

async function readAbove(sql: Sql, apps: readonly TrackedApp[], sought: SearchText): Promise<Rival[]> {
  const sides = apps.flatMap((app) => sidesOf(app).map((side) => ({ ...side, app })))
  const hidden = sides.flatMap(({ app, platform }, at) => {
    const taken = (app.hiddenRivals ?? []).map(parseRival)
    return taken.flatMap((rival) => (rival?.platform === platform ? [{ ...rival, side: at + 1 }] : []))
  })
  const { places, placeOf } = placesOf(sides)
  const ownerOf = sides.map(({ app }) => apps.indexOf(app))
  const place = {
    storefront: sql`(${places.map(({ storefront }) => storefront)}::text[])[a.place]`,
    countries: sql`(
      select countries
      from tracked_app
      where id = (${places.map(({ app }) => app.id)}::text[])[a.place]
    )`,
  }
  // the same few apps rank above many: each is named and compared once per storefront and name order
  const rows = await sql<{ sides: number[]; terms: number[]; storeId: string; name: string | null }[]>`
    with ${dayAnswers(sql, sides, { lists: LISTS })},
    ${hidden.length > 0 ? hiddenApps(sql, hidden) : sql``}
    above as materialized (
      select u.app_id, min(u.side)::int as side, (${placeOf}::int[])[min(u.side)] as place,
        (${sides.map(({ platform }) => platform)}::text[])[min(u.side)] as platform, count(*) as terms
      from (
        -- unnest in the select list takes half the time of unnest in from
        select a.side, (${ownerOf}::int[])[a.side] as owner,
          unnest(
            a.app_ids[1:least(coalesce(a.our_rank - 1, 250), ${PLACES}::int / (select count(*) from answer))]
          ) as app_id
        from answer a
      ) u
      ${hidden.length > 0 ? sql`where (u.side, u.app_id) not in (select side, app_id from hidden)` : sql``}
      group by u.app_id, u.owner
    ), ${foundAmong(sql, place, sought)}
    select store_id as "storeId", name, array_agg(side) as sides, array_agg(terms) as terms
    from (
      select u.side, u.terms::int as terms, f.store_id, f.name
      from found f
      cross join lateral unnest(f.sides, f.terms) u (side, terms)
      order by f.unlike, u.terms desc, f.alphabetical, u.side
      limit 200
    ) b
    group by store_id, name
    order by store_id collate "C", name collate "C"
    limit 200`
  return rows.flatMap(({ sides: above, terms, ...rival }) =>
    above.map((side, at) => {
      const { app, platform, storefront: country } = sides[side - 1] as (typeof sides)[number]
      return { app, platform, country, ...rival, terms: terms[at] as number }
    }),
  )
}

/** A query for `with`: the apps of `above` that match, with the sides that they rank above. */
function foundAmong(sql: Sql, place: NamePlace, sought: SearchText) {
  return sql`found as materialized (
      -- sorting by numbers is faster than by the texts they stand for
      select s.store_id, n.name, a.sides, a.terms, dense_rank() over (order by s.store_id collate "C") as alphabetical,
        case
            when lower(s.store_id) <> ${sought.text} and f.shown <> ${sought.text} || ' ' || lower(s.store_id) then 4
            else 0
          end
          + case when strpos(f.shown, ${sought.text}) <> 1 then 2 else 0 end
          + case when strpos(' ' || f.shown, ${` ${sought.text}`}) = 0 then 1 else 0 end as unlike
      from (
        select app_id, place, platform, array_agg(side) as sides, array_agg(terms) as terms
        from above
        group by app_id, place, platform
      ) a
      cross join lateral (
        select ${nameIn(sql, sql`a.app_id`, place)} as name
        offset 0
      ) n
      cross join lateral (
        select store_id
        from store_app
        where id = a.app_id and (
            a.platform <> 'ios'
            or ${folded(sql, sql`n.name`, sought)} like all(${patternsOf(notInIosIds(sought))}::text[])
          )
        offset 0
      ) s
      cross join lateral (
        select ${folded(sql, sql`coalesce(n.name, '') || ' ' || s.store_id`, sought)} as shown
        offset 0
      ) f
      where f.shown like all(${patternsOf(sought)}::text[])
    )`
}

/** The words that only a name can contain, as App Store ids are digits: apps without them need no look-up of the id. */
function notInIosIds(sought: SearchText): SearchText {
  return { ...sought, words: sought.words.filter((word) => /\D/.test(word)) }
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

/** The distinct pairs of storefront and app countries, which decide an app's name, and each side's index from 1. */
function placesOf(sides: readonly { storefront: string; app: TrackedApp }[]) {
  const known = new Map<string, number>()
  const places: { storefront: string; app: TrackedApp }[] = []
  const placeOf = sides.map(({ storefront, app }) => {
    const key = JSON.stringify([storefront, app.countries])
    const place = known.get(key) ?? places.push({ storefront, app })
    known.set(key, place)
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
      country: app.countries[0] as string,
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
    order by n.place
    limit 100000`.then(uncut(100_000))
  return named.map((rival, at) => ({ ...rival, name: rows[at]?.name ?? null }))
}
