import type { Db } from "../../database/types.ts"
import { SOURCE_CODES } from "../../lib/rank-sources.ts"
import { RANK_SOURCES } from "../../lib/upstreams.ts"

const BROUGHT: readonly string[] = ["import", "foreign"]
const READ_HERE = RANK_SOURCES.filter((source) => !BROUGHT.includes(source)).map((source) => SOURCE_CODES[source])

/**
 * Returns SQL for whether this instance made a reading of search results: not imported, not from the demo or another
 * instance.
 */
export function isOwnSearch(sql: Db) {
  return sql`(origin = 'own' and source = any(${READ_HERE}::smallint[]))`
}
