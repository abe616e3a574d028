import type { Sql } from "../../database/types.ts"
import { nameIn } from "../../observations/app-names.ts"
import type { MarketStand } from "./lists.ts"

/** What an app is called, and who sells it. */
export interface NamedApp {
  name: string | null
  publisher: string | null
  publisherId: string | null
}

export interface NamedPlaces {
  /** How these storefronts' lists stand, in the order of their codes. */
  stand: MarketStand[]
  /** By store_app id, each as it is called in the storefront of its place. */
  names: Map<number, NamedApp>
}

/** One statement, as a page of the finder needs both, and a way to the database costs more than either. */
export async function readNamedPlaces(
  sql: Sql,
  countries: readonly string[],
  places: readonly { app: number; country: string }[],
): Promise<NamedPlaces> {
  const [apps, at] = [places.map(({ app }) => app), places.map(({ country }) => country)]
  const rows = await sql<(NamedApp & MarketStand & { app: number | null })[]>`
    select u.app, s.developer as publisher, s.developer_id as "publisherId",
      ${nameIn(sql, sql`u.app`, { storefront: sql`u.country`, countries: [] })} as name, null as country, null as version,
      null as "followedSince", null as "followedGenres"
    from unnest(${apps}::int[], ${at}::text[]) u (app, country)
    cross join lateral (
      select developer, developer_id
      from store_app
      where id = u.app
      -- looked up for each: a plan for many reads all that there are
      offset 0
    ) s
    union all
    select null, null, null, null, k.country, s.version, m.since, m.genres
    from unnest(${countries as string[]}::text[]) k (country)
    left join storefront_now s on s.storefront = k.country
    left join market_storefront m on m.storefront = k.country
    order by app, country
    limit ${places.length + countries.length}`
  const stand = rows.slice(-countries.length)
  const named = rows.slice(0, -countries.length)
  return { stand, names: new Map(named.map((row) => [row.app!, row])) }
}
