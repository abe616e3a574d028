import type { PendingQuery, Row } from "postgres"
import type { Db } from "../../database/types.ts"

type Part = PendingQuery<Row[]>

/**
 * Returns a query of a keyword's latest search results, as columns of list_now: one row, or none if it was never
 * measured.
 */
export function latestAnswer(sql: Db, columns: Part, keyword: { platform: Part; storefront: Part; term: Part }): Part {
  const { platform, storefront, term } = keyword
  // An index on one number (list_now_keyword) is twice as fast as one on texts.
  return sql`
        select ${columns}
        from list_now
        where hashtextextended(term, hashtextextended(storefront, 0))
            = hashtextextended(${term}, hashtextextended(${storefront}, 0))
          and (platform, storefront, term) = (${platform}, ${storefront}, ${term})
        offset 0`
}
