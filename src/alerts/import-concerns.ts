import type { Sql } from "../database/types.ts"
import { nameIn } from "../observations/app-names.ts"
import { parseRival } from "../vocabulary/store-ids.ts"
import { readTerms, type Subject } from "./findings.ts"
import { type ImportNotes, reviewsKey, type SideNotes } from "./import-notes.ts"
import { categoriesOf } from "./search-days.ts"

/** An app in a storefront whose alerts an import may change. `subject` is its store id. */
export interface ConcernedPlace extends Subject {
  appId: string
  genre: string | null
  /** All tracked keywords. */
  terms: string[]
}

interface MeasuredPlace extends Omit<ConcernedPlace, "terms"> {
  manualRivals: string[] | null
  /** Store ids of the rivals that are followed. */
  rivals: string[]
  /** Imported days are noted for it. */
  hasImportedDays: boolean
  /** One of its keywords was read. */
  isSearched: boolean
}

/** Sorted by app. */
export async function readConcerned(sql: Sql, notes: ImportNotes): Promise<ConcernedPlace[]> {
  const places: MeasuredPlace[] = []
  for (const platform of ["ios", "android"] as const) {
    const storefronts = [...notes.sides.values()].filter((side) => side.platform === platform)
    const isOfAll = notes.categorised.has(platform) || [...notes.reviews.keys()].some((key) => key.startsWith(platform))
    if (storefronts.length === 0 && !isOfAll) continue
    for (const storefront of await readStorefronts(sql)) {
      const side = notes.sides.get(`${platform} ${storefront}`)
      if (side || isOfAll) places.push(...(await readMeasured(sql, { platform, storefront }, side)))
    }
  }
  const concerned = places.filter((place) => isConcerned(place, notes))
  const found: ConcernedPlace[] = []
  for (const { appId, platform, storefront, subject, genre } of concerned)
    found.push({ appId, platform, storefront, subject, genre, terms: await readTerms(sql, { appId, storefront }) })
  return found
}

function isConcerned(place: MeasuredPlace, notes: ImportNotes): boolean {
  const { platform, storefront, subject, genre, manualRivals, rivals, hasImportedDays, isSearched } = place
  const side = notes.sides.get(`${platform} ${storefront}`)
  if (hasImportedDays && notes.categorised.has(platform)) return true
  if (notes.reviews.has(reviewsKey(platform, subject))) return true
  if (!side) return false
  const named = (manualRivals ?? []).flatMap((rival) => parseRival(rival) ?? [])
  const followed = [...rivals, ...named.flatMap((rival) => (rival.platform === platform ? [rival.id] : []))]
  return (
    isSearched || (genre !== null && side.charts.has(genre)) || [subject, ...followed].some((id) => side.apps.has(id))
  )
}

async function readStorefronts(sql: Sql): Promise<string[]> {
  const rows = await sql<{ storefront: string }[]>`
    select distinct storefront
    from measured_app
    cross join lateral unnest(countries) c (storefront)
    order by storefront
    limit 1000`
  return rows.map(({ storefront }) => storefront)
}

async function readMeasured(
  sql: Sql,
  { platform, storefront }: Pick<Subject, "platform" | "storefront">,
  side: SideNotes | undefined,
): Promise<MeasuredPlace[]> {
  const searched = side ? [...side.searches.keys(), ...side.answers.keys()] : []
  return await sql<MeasuredPlace[]>`
    with searched as materialized (
      select distinct app_id
      from tracked_term
      where country = ${storefront} and term = any(${searched}::text[])
    )
    select a.id as "appId", ${platform} as platform, ${storefront} as storefront, s.store_id as subject, s.genre,
      t.manual_rivals as "manualRivals", exists (select from searched where app_id = a.id) as "isSearched",
      exists (
        select
        from imported_days d
        where (d.app_id, d.platform, d.storefront) = (a.id, ${platform}, ${storefront})
      ) as "hasImportedDays",
      array(
        select r.store_id
        from app_rival f
        join store_app r on r.id = f.rival
        where (f.app_id, f.platform, f.storefront) = (a.id, ${platform}, ${storefront})
        order by r.store_id
      ) as rivals
    from measured_app a
    join tracked_app t on t.id = a.id
    join store_app s on s.id = case ${platform} when 'ios' then a.ios_app else a.android_app end
    where ${storefront} = any(a.countries)
    order by a.id`
}

/** The inputs of imported days' alerts other than their readings. */
export interface Scope {
  /** Rivals that are followed, by store id. */
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
  const [own] = await sql<Omit<Scope, "rivals">[]>`
    select genre, ${categoriesOf(sql)} as categories, (
        select name
        from genre g
        where (g.platform, g.storefront, g.genre) = (s.platform, ${storefront}, s.genre)
      ) as "genreName"
    from store_app s
    where (platform, store_id) = (${platform}, ${subject})`
  return {
    rivals: Object.fromEntries(rivals.map(({ rival, name, manual }) => [rival, { name, manual }])),
    genre: own?.genre ?? null,
    genreName: own?.genreName ?? null,
    categories: own?.categories ?? [],
  }
}
