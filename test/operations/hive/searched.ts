import type { Sql } from "../../../src/database/types.ts"
import { lockRemoval } from "../../../src/observations/rows/identities.ts"

const SEARCHED = [
  "search_results", "search_fortnight", "list_now", "keyword_metric", "keyword_now", "hint_answer", "app_storefront",
] // biome-ignore format: a list to scan

/** Nobody ever searched for anything. A worker may record what was asked for before: it comes before all of this, or after. */
export async function forgetSearches(sql: Sql): Promise<void> {
  const emptied = SEARCHED.map((table) => `delete from ${table};`)
  await sql.begin(async (tx) => {
    await lockRemoval(tx)
    await tx.unsafe(
      `${emptied.join("")} update list set first_day = null, last_day = null where coalesce(first_day, last_day) is not null`,
    )
  })
}
