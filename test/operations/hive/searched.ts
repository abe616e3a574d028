import type { Sql } from "../../../src/database/types.ts"

/** Nobody ever searched for anything. */
export async function forgetSearches(sql: Sql): Promise<void> {
  for (const table of [
    "search_results",
    "search_fortnight",
    "list_now",
    "keyword_metric",
    "keyword_now",
    "hint_answer",
    "app_storefront",
  ])
    await sql`delete from ${sql(table)}`
  await sql`update list set first_day = null, last_day = null`
}
