import type { AnyObservation } from "../../core/observation/provenance.ts"
import type { Sql, Tx } from "../../database/types.ts"
import { type BestOptions, pagesOf, provenanceOf } from "../../measuring/record/best-rows.ts"
import type { PriceEntry } from "../formulas/price-periods.ts"
import { storeOfAccounts } from "./of-accounts.ts"

interface PriceObservation extends AnyObservation {
  account: string
  app: string
  product: string
  day: string
  soldAs: string
  sku: string
  name: string
  period?: string | undefined
  rows: readonly PriceEntry[]
}

const TABLE: BestOptions = { table: "price_day", key: ["account_id", "app", "product", "day"] }

/** Stores one row per day. */
export async function storePrices<Seen extends PriceObservation>(tx: Tx, seen: readonly Seen[]): Promise<Seen[]> {
  const rowOf = (from: Seen) => {
    const { account: account_id, app, product, day, soldAs: sold_as, sku, name, period = null, rows } = from
    return { account_id, app, product, day, sold_as, sku, name, period, rows, ...provenanceOf(from) }
  }
  return await storeOfAccounts(tx, TABLE, seen, rowOf)
}

const PAGE = 20

export async function* readPrices<Seen extends PriceObservation>(
  sql: Sql,
  { since, sources }: { since: string | null; sources: readonly string[] },
): AsyncGenerator<Seen[]> {
  yield* pagesOf(async (after: Seen | null) => {
    const rows = await sql<Seen[]>`
      select 'prices' as kind, source, 'ios' as platform, account_id as account, app, product, day, sold_as as "soldAs",
        sku, name, period, rows, seen_at as "seenAt", parser, origin, sha256
      from price_day
      where day >= ${since ?? "0001-01-01"} and source = any(${sources as string[]}::text[])
        and (account_id, app, product, day) > (
          ${after?.account ?? ""}, ${after?.app ?? ""}, ${after?.product ?? ""}, ${after?.day ?? "0001-01-01"}::date
        )
      order by account_id, app, product, day
      limit ${PAGE}`
    return rows.map((row) => ({ ...row, period: row.period ?? undefined }))
  })
}
