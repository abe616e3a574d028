import type { Sql } from "../database/types.ts"
import type { Platform } from "./types.ts"

export interface DeveloperShelf {
  seenAt: Date
  source: string
  /** False where the answer was as long as it can be, so that there may be more. */
  complete: boolean
  /** As store_app ids, in the order shown. */
  apps: number[]
}

/** What a developer sells in a storefront, as it was said last; null = not measured. */
export async function developerShelfOf(
  sql: Sql,
  { platform, storefront, developerId }: { platform: Platform; storefront: string; developerId: string },
): Promise<DeveloperShelf | null> {
  const [row] = await sql<DeveloperShelf[]>`
    select seen_at as "seenAt", source, complete, app_ids as apps
    from developer_shelf
    where platform = ${platform} and storefront = ${storefront} and developer_id = ${developerId}
    order by seen_at desc, source
    limit 1`
  return row ?? null
}
