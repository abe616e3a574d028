import type { Db } from "../../database/types.ts"
import { type NamePlace, nameIn } from "../store/app-names.ts"

/** An app of a store: its store id and its name, null if unknown. */
interface StoreApp {
  id: string
  name: string | null
}

/** Returns apps by their store_app ids. */
export async function readStoreApps(
  sql: Db,
  ids: readonly number[],
  place: NamePlace,
): Promise<ReadonlyMap<number, StoreApp>> {
  const unique = [...new Set(ids)]
  const rows = await sql<(StoreApp & { app: number })[]>`
    select s.id as app, s.store_id as id, ${nameIn(sql, sql`s.id`, place)} as name
    from unnest(${unique}::int[]) u (app_id)
    -- Fenced with offset 0: the planner does not know the array's length and would scan the whole table.
    cross join lateral (
      select id, store_id
      from store_app
      where id = u.app_id
      offset 0
    ) s
    order by s.id
    limit ${unique.length}`
  return new Map(rows.map(({ app, ...face }) => [app, face]))
}
