import type { Sql } from "../database/types.ts"
import { nameIn } from "../stores/store/app-names.ts"
import type { Subject } from "./findings.ts"
import type { ImportNotes, SideNotes } from "./import-notes.ts"
import { categoriesOf } from "./search-days.ts"

/** An app in a storefront whose alerts an import may change. `subject` is its store id. */
export interface ConcernedPlace extends Subject {
  appId: string
  genre: string | null
  /** All tracked keywords. */
  terms: string[]
}

/**
 * Returns the places that an import concerns, sorted by store, storefront and app. Starts from the imported readings,
 * so that other apps cost nothing. The laterals with offset 0 stop the planner, which overestimates rows, from scanning
 * whole tables.
 */
export async function readConcerned(sql: Sql, notes: ImportNotes): Promise<ConcernedPlace[]> {
  return await sql<ConcernedPlace[]>`
    with ${imported(sql, notes)}, concerned as (${concernedBy(sql, notes)})
    select a.id as "appId", c.platform, c.storefront, s.store_id as subject, s.genre,
      array(select term from tracked_term where app_id = a.id and country = c.storefront order by term) as terms
    from concerned c
    cross join lateral (
      select id, case c.platform when 'ios' then ios_app else android_app end as own
      from measured_app
      where id = c.app_id and c.storefront = any(countries)
      offset 0
    ) a
    cross join lateral (
      select store_id, genre
      from store_app
      where id = a.own
      offset 0
    ) s
    order by c.platform desc, c.storefront, a.id`
}

/** Selects each affected app and storefront once. */
function concernedBy(sql: Sql, { categorised }: ImportNotes) {
  return sql`
    select k.app_id, i.platform, i.storefront
    from term i
    cross join lateral (
      select app_id
      from tracked_term
      where (country, term) = (i.storefront, i.term)
      offset 0
    ) k
    union
    select a.id, i.platform, i.storefront
    from chart i
    cross join lateral (
      select t.id
      from tracked_app t
      join store_app s on s.id = case i.platform when 'ios' then t.ios_app else t.android_app end
      where i.storefront = any(t.countries) and s.genre = i.genre
      offset 0
    ) a
    union
    select a.id, i.platform, i.storefront
    from seen i
    join tracked_app a on a.ios_app = i.id or a.android_app = i.id
    union
    -- named by hand, but not followed yet
    select a.id, i.platform, i.storefront
    from seen i
    join tracked_app a on a.manual_rivals @> array[i.platform || ':' || i.store_id]
    union
    select r.app_id, r.platform, r.storefront
    from seen i
    join app_rival r on (r.rival, r.storefront) = (i.id, i.storefront)
    union
    select a.id, i.platform, c.storefront
    from reviewed i
    join tracked_app a on a.ios_app = i.id or a.android_app = i.id
    cross join unnest(a.countries) c (storefront)
    union
    -- off_topic depends on the categories of any app
    select app_id, platform, storefront
    from imported_days
    where platform = any(${[...categorised]}::text[])`
}

/**
 * Returns common table expressions: the imported terms, charts and apps by storefront, and the apps with imported
 * reviews.
 */
function imported(sql: Sql, notes: ImportNotes) {
  const sides = [...notes.sides.values()]
  const named = (namesOf: (side: SideNotes) => Iterable<string>) => {
    const rows = sides.flatMap((side) => [...namesOf(side)].map((name) => ({ ...side, name })))
    return sql`
      unnest(
        ${rows.map(({ platform }) => platform)}::text[],
        ${rows.map(({ storefront }) => storefront)}::text[],
        ${rows.map(({ name }) => name)}::text[]
      )`
  }
  const reviewed = [...notes.reviews.keys()].map((key) => key.split(" "))
  return sql`
    term as materialized (
      select *
      from ${named(({ searches, answers }) => [...searches.keys(), ...answers.keys()])} u (platform, storefront, term)
    ), chart as materialized (
      select *
      from ${named(({ charts }) => charts.keys())} u (platform, storefront, genre)
    ), seen as materialized (
      select u.platform, u.storefront, u.store_id, s.id
      from ${named(({ apps }) => apps)} u (platform, storefront, store_id)
      left join lateral (
        select id
        from store_app
        where (platform, store_id) = (u.platform, u.store_id)
        offset 0
      ) s on true
    ), reviewed as materialized (
      select s.platform, s.id
      from unnest(
        ${reviewed.map(([platform]) => platform as string)}::text[],
        ${reviewed.map(([, storeId]) => storeId as string)}::text[]
      ) r (platform, store_id)
      join store_app s on (s.platform, s.store_id) = (r.platform, r.store_id)
    )`
}

/** The inputs of alerts of imported days, other than their readings. */
export interface Scope {
  /** Followed rivals by store id. */
  rivals: Record<string, { name: string | null; manual: boolean }>
  genre: string | null
  genreName: string | null
  categories: string[]
}

export async function readScope(sql: Sql, place: ConcernedPlace): Promise<Scope> {
  const { appId, platform, storefront, subject } = place
  const countries = sql`(select countries from tracked_app where id = ${appId})`
  const rivals = await sql<{ rival: string; name: string | null; manual: boolean }[]>`
    select s.store_id as rival, ${nameIn(sql, sql`s.id`, { storefront, countries })} as name, r.manual
    from app_rival r
    join store_app s on s.id = r.rival
    where (r.app_id, r.platform, r.storefront) = (${appId}, ${platform}, ${storefront})
    order by s.store_id`
  const [scope] = await sql<Omit<Scope, "rivals">[]>`
    select genre, ${categoriesOf(sql)} as categories, (
        select name
        from genre g
        where (g.platform, g.storefront, g.genre) = (s.platform, ${storefront}, s.genre)
      ) as "genreName"
    from store_app s
    where (platform, store_id) = (${platform}, ${subject})`
  return {
    rivals: Object.fromEntries(rivals.map(({ rival, name, manual }) => [rival, { name, manual }])),
    genre: scope?.genre ?? null,
    genreName: scope?.genreName ?? null,
    categories: scope?.categories ?? [],
  }
}
