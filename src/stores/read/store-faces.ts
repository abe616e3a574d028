import type { Db } from "../../database/types.ts"
import { iconIn, nameIn } from "../store/app-names.ts"

/** The name and icon of an app of a store. */
interface StoreFace {
  /** "ios:<store id>" or "android:<package>". */
  app: string
  /** Null if unknown. */
  name: string | null
  /** URL of the store's icon. Null if unknown. */
  icon: string | null
}

/** Returns the apps that were ever read, with name and icon in the storefront or, if unknown there, in another. */
export async function readStoreFaces(
  sql: Db,
  apps: readonly string[],
  storefront: string,
): Promise<readonly StoreFace[]> {
  const place = { storefront, countries: [] }
  return await sql<StoreFace[]>`
    select wanted.app, ${nameIn(sql, sql`store_app.id`, place)} as name,
      ${iconIn(sql, sql`store_app.id`, place)} as icon
    from unnest(${apps as string[]}::text[]) wanted (app)
    join store_app
      on (platform, store_id) = (split_part(wanted.app, ':', 1), split_part(wanted.app, ':', 2))
    order by wanted.app`
}
