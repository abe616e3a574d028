import type { Sql } from "../../database/types.ts"
import { nameIn } from "../../observations/app-names.ts"
import type { MarketStand } from "./lists.ts"

/** What an app is called, and who sells it, each as JSON: null = not known. */
export interface ShownApp {
  name: string
  publisher: string
  publisherId: string
}

interface ShownPlaces {
  /** How these storefronts' lists stand, in the order of their codes. */
  stand: MarketStand[]
  /** Of each place, as the app is called in its storefront. */
  shown: ShownApp[]
}

/**
 * One statement and one row, as a page of the finder needs both, and a way to the database costs more than either. No JSON
 * holds a tab or the end of a line.
 */
export async function readShownPlaces(
  sql: Sql,
  countries: readonly string[],
  places: readonly { app: number; country: string }[],
): Promise<ShownPlaces> {
  const [apps, at] = [places.map(({ app }) => app), places.map(({ country }) => country)]
  const [row] = await sql<[{ shown: string | null; stand: MarketStand[] }]>`
    select (
        select string_agg(
            -- what was not derived yet is looked up where it stands
            coalesce(
              (h.others -> u.country)::text, h.name,
              to_json(${nameIn(sql, sql`u.app`, { storefront: sql`u.country`, countries: [] })})::text, 'null'
            ) || chr(9) || coalesce(
              h.publisher, (
                select coalesce(to_json(developer)::text, 'null') || chr(9) || coalesce(to_json(developer_id)::text, 'null')
                from store_app
                where id = u.app
              )
            ),
            chr(10)
            order by u.place
          )
        from unnest(${apps}::int[], ${at}::text[]) with ordinality u (app, country, place)
        left join lateral (
          select name, publisher, others
          from app_shown
          where app_id = u.app
          -- looked up for each: a plan for many reads all that there are
          offset 0
        ) h on true
      ) as shown, (
        select json_agg(
            json_build_object(
              'country', k.country, 'version', s.version, 'followedSince', m.since, 'followedGenres', m.genres
            )
            order by k.country collate "C"
          )
        from unnest(${countries as string[]}::text[]) k (country)
        left join storefront_now s on s.storefront = k.country
        left join market_storefront m on m.storefront = k.country
      ) as stand`
  return { stand: row.stand, shown: row.shown === null ? [] : row.shown.split("\n").map(shownApp) }
}

function shownApp(line: string): ShownApp {
  const [name, publisher, publisherId] = line.split("\t") as [string, string, string]
  return { name, publisher, publisherId }
}
