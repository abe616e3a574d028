import { json } from "../../database/json.ts"
import type { Db } from "../../database/types.ts"
import type { SalesSpan } from "./read-downloads.ts"

/** An app's proceeds on a day. */
interface UsdDay {
  /** Index of the span in the request. */
  at: number
  day: string
  usd: number
}

/**
 * Returns the console's estimated proceeds from the United States by day, minus refunds. Days without a sale there,
 * days not reported yet, and days with proceeds in another currency are missing.
 */
export async function readUsdProceeds(sql: Db, spans: readonly SalesSpan[]): Promise<UsdDay[]> {
  if (spans.length === 0) return []
  return await sql<UsdDay[]>`
    select s.at, f.day, sum(f.proceeds)::float8 as usd
    from jsonb_to_recordset(${json(
      sql,
      spans.map((span, at) => ({ at, ...span })),
    )}) s (
      at int, account text, sku text, "from" date, "to" date
    )
    join sales_fact f on f.account_id = s.account and f.app = s.sku and f.day between s."from" and s."to"
    where f.country = 'us' and f.proceeds <> 0
    group by s.at, f.day
    having bool_and(f.proceeds_currency = 'USD')
    order by s.at, f.day`
}
