import type { PendingQuery, Row } from "postgres"
import type { Db } from "../../database/types.ts"

type Part = PendingQuery<Row[]>

/** What a keyword's results said when they were read last, as columns of list_now: one row; none = they were never read. */
export function latestAnswer(sql: Db, columns: Part, keyword: { platform: Part; storefront: Part; term: Part }): Part {
  const { platform, storefront, term } = keyword
  // by the index of one number: by its texts, and then by the list's number, a look-up takes twice as long
  return sql`
        select ${columns}
        from list_now
        where hashtextextended(term, hashtextextended(storefront, 0))
            = hashtextextended(${term}, hashtextextended(${storefront}, 0))
          and (platform, storefront, term) = (${platform}, ${storefront}, ${term})
        offset 0`
}
