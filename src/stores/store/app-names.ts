import type { Fragment } from "postgres"
import type { Db } from "../../database/types.ts"

/** Chooses among an app's names in different storefronts. */
export interface NamePlace {
  storefront: string | Fragment
  /** The storefronts of the tracked app, in its order. Empty when no tracked app is involved. */
  countries: readonly string[] | Fragment
}

/**
 * Selects the name in the storefront, else in the first tracked storefront, the United States or any other. Null if the
 * app has no name.
 */
export function nameIn(sql: Db, app: Fragment, place: NamePlace): Fragment {
  return factIn(sql, "name", app, place)
}

export function iconIn(sql: Db, app: Fragment, place: NamePlace): Fragment {
  return factIn(sql, "icon_url", app, place)
}

type NamedFact = "name" | "icon_url"

// The lookup by key comes first. The fallback runs only for apps that were never seen in the storefront.
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

/** Returns the fallback of nameIn and iconIn, for statements that have already joined the storefront's row. */
export function factElsewhere(
  sql: Db,
  fact: NamedFact,
  app: Fragment,
  { countries }: Pick<NamePlace, "countries">,
): Fragment {
  const column = sql(`app_name.${fact}`)
  const listed = countries as string[]
  // Omitted without tracked storefronts: for a page of apps the subquery takes a fifth of the time.
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
