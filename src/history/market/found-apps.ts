import type { Sql } from "../../database/types.ts"
import { nameIn } from "../../observations/app-names.ts"

/** What an app is called, and who sells it. */
export interface NamedApp {
  name: string | null
  publisher: string | null
  publisherId: string | null
}

/** By their store_app ids, each as it is called in the storefront of its place. */
export async function readNamesAt(
  sql: Sql,
  places: readonly { app: number; country: string }[],
): Promise<Map<number, NamedApp>> {
  if (places.length === 0) return new Map()
  const [apps, countries] = [places.map(({ app }) => app), places.map(({ country }) => country)]
  const rows = await sql<(NamedApp & { app: number })[]>`
    select u.app, s.developer as publisher, s.developer_id as "publisherId",
      ${nameIn(sql, sql`u.app`, { storefront: sql`u.country`, countries: [] })} as name
    from unnest(${apps}::int[], ${countries}::text[]) u (app, country)
    cross join lateral (
      select developer, developer_id
      from store_app
      where id = u.app
      -- looked up for each: a plan for many reads all that there are
      offset 0
    ) s
    order by u.app
    limit ${places.length}`
  return new Map(rows.map(({ app, ...named }) => [app, named]))
}
