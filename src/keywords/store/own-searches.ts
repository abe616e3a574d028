import type { Db } from "../../database/types.ts"
import { SOURCE_CODES } from "../../lib/rank-sources.ts"
import { RANK_SOURCES } from "../../lib/upstreams.ts"

const BROUGHT: readonly string[] = ["import", "foreign"]
const READ_HERE = RANK_SOURCES.filter((source) => !BROUGHT.includes(source)).map((source) => SOURCE_CODES[source])

/** Whether a reading of search results was made by this instance: no import, not the demo's and nobody else's. */
export function isOwnSearch(sql: Db) {
  return sql`(origin = 'own' and source = any(${READ_HERE}::smallint[]))`
}
