import * as v from "valibot"
import type { ChartKey } from "../../core/observation/subjects.ts"
import type { Sql } from "../../database/types.ts"
import { ALL_APPS } from "../../lib/charts.ts"
import { Fault } from "../../lib/faults.ts"
import { bounded, coded, described, named } from "../../lib/schema.ts"

export const Genre = named(
  "Genre",
  v.strictObject({
    id: described(v.string(), `The App Store's genre id. ${ALL_APPS} means all apps.`),
    name: described(v.nullable(v.string()), "Name of the genre in that storefront. Null if unknown."),
  }),
)

/** An input with a genre of the App Store. */
export const GenreId = coded(v.pipe(bounded(v.string(), { maxLength: 6 }), v.regex(/^[1-9]\d{0,5}$/)), "bad_genre")

export function genreId(description: string) {
  return described(GenreId, description)
}

/** Returns the id of an app's main genre in its store. Null if unknown. `app` is a store_app id. */
export async function readCategory(sql: Sql, app: number): Promise<string | null> {
  const [row] = await sql<{ genre: string | null }[]>`
    select genre
    from store_app
    where id = ${app}`
  return row?.genre ?? null
}

/** Returns the App Store's names of genres in a storefront. Genres whose name was not read are left out. */
export async function readGenreNames(
  sql: Sql,
  storefront: string,
  genres: readonly string[],
): Promise<Map<string, string>> {
  const rows = await sql<{ genre: string; name: string }[]>`
    select genre, name
    from genre
    where platform = 'ios' and storefront = ${storefront} and genre = any(${genres as string[]}::text[])
    order by genre
    limit ${genres.length}`
  return new Map(rows.map(({ genre, name }) => [genre, name]))
}

/** Throws bad_genre if the storefront's genres are known, do not include the id, and no such chart is stored. */
export async function refuseUnknownGenre(sql: Sql, { storefront, device, chart, genre }: ChartKey): Promise<void> {
  const [row] = await sql<{ unknown: boolean }[]>`
    select exists (select from genre where (platform, storefront) = ('ios', ${storefront}))
      and not exists (select from genre where (platform, storefront, genre) = ('ios', ${storefront}, ${genre}))
      and not exists (
        select
        from chart
        where (platform, storefront, device, chart, genre) = ('ios', ${storefront}, ${device}, ${chart}, ${genre})
      ) as unknown`
  if (row?.unknown)
    throw new Fault("bad_genre", { field: "genre", detail: `The App Store has no genre ${genre} in ${storefront}.` })
}

/** Throws bad_genre if the genres of all these storefronts are known and none of them has the id. */
export async function refuseUnknownGenres(sql: Sql, storefronts: readonly string[], genres: readonly string[]) {
  if (genres.length === 0) return
  const [row] = await sql<{ genre: string }[]>`
    select u.genre
    from unnest(${genres as string[]}::text[]) with ordinality u (genre, place)
    where not exists (
        select
        from unnest(${storefronts as string[]}::text[]) s (storefront)
        where not exists (select from genre where (platform, storefront) = ('ios', s.storefront))
      )
      and not exists (
        select
        from genre g
        where g.platform = 'ios' and g.storefront = any(${storefronts as string[]}::text[]) and g.genre = u.genre
      )
      and u.genre <> ${ALL_APPS}
    order by u.place
    limit 1`
  if (!row) return
  const detail = `The App Store has no genre ${row.genre} in ${storefronts.join(", ")}.`
  throw new Fault("bad_genre", { field: "genre", detail })
}
