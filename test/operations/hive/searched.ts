import type { Sql } from "../../../src/database/types.ts"

const SEARCHED = [
  "search_results", "search_fortnight", "list_now", "keyword_metric", "keyword_now", "hint_answer", "app_storefront",
] // biome-ignore format: a list to scan

/** Nobody ever searched for anything. */
export async function forgetSearches(sql: Sql): Promise<void> {
  const emptied = SEARCHED.map((table) => `delete from ${table};`)
  await sql.unsafe(
    `${emptied.join("")} update list set first_day = null, last_day = null where coalesce(first_day, last_day) is not null`,
  )
}
