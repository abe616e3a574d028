import type { Fragment } from "postgres"
import type { Db } from "../../database/types.ts"

/** Which of an app's names is meant: a storefront, or what a statement calls it, and who asks. */
export interface NamePlace {
  storefront: string | Fragment
  /** The storefronts that the tracked app tracks, in their order; none where nobody's app is meant. */
  countries: readonly string[] | Fragment
}

/** As named there, else in the first tracked storefront, in the United States, or anywhere; null = nowhere. */
export function nameIn(sql: Db, app: Fragment, place: NamePlace): Fragment {
  return factIn(sql, "name", app, place)
}

export function iconIn(sql: Db, app: Fragment, place: NamePlace): Fragment {
  return factIn(sql, "icon_url", app, place)
}

type NamedFact = "name" | "icon_url"

// Looked up by key first: what is left is read for those alone that were never seen there.
function factIn(sql: Db, fact: NamedFact, app: Fragment, place: NamePlace): Fragment {
  const column = sql(`app_name.${fact}`)
  return sql`coalesce(
    (
      select ${column}
      from store_app_name app_name
      where (app_name.app_id, app_name.storefront) = (${app}, ${place.storefront as string})
    ), ${factElsewhere(sql, fact, app, place)}
  )`
}

/** What nameIn and iconIn go on with where the app's row of the storefront, which the statement has joined, does not say it. */
export function factElsewhere(
  sql: Db,
  fact: NamedFact,
  app: Fragment,
  { countries }: Pick<NamePlace, "countries">,
): Fragment {
  const column = sql(`app_name.${fact}`)
  const listed = countries as string[]
  // not even looked for where none is meant: of a page of apps that is a fifth of the time
  const ofListed = sql`(
      select ${column}
      from store_app_name app_name
      where app_name.app_id = ${app} and app_name.storefront = any(${listed}::text[]) and ${column} is not null
      order by array_position(${listed}::text[], app_name.storefront)
      limit 1
    ),`
  return sql`${listed.length === 0 ? sql`` : ofListed} (
      select ${column}
      from store_app_name app_name
      where (app_name.app_id, app_name.storefront) = (${app}, 'us')
    ), (
      select ${column}
      from store_app_name app_name
      where app_name.app_id = ${app} and ${column} is not null
      order by app_name.storefront
      limit 1
    )`
}
