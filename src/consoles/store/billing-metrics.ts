import type { AnyObservation } from "../../core/observation/provenance.ts"
import type { Sql, Tx } from "../../database/types.ts"
import { type BestOptions, pagesOf, provenanceOf } from "../../measuring/record/best-rows.ts"
import { storeOfAccounts } from "./of-accounts.ts"

interface BillingMetrics extends AnyObservation {
  account: string
  day: string
  currency: string
  rows: readonly object[]
}

const TABLE: BestOptions = { table: "billing_metric_day", key: ["account_id", "day"] }

/** Stores one row per day with the latest figures. */
export async function storeBillingMetrics<Seen extends BillingMetrics>(tx: Tx, seen: readonly Seen[]): Promise<Seen[]> {
  const rowOf = (from: Seen) => {
    const { account: account_id, day, currency, rows } = from
    return { account_id, day, currency, rows, ...provenanceOf(from) }
  }
  return await storeOfAccounts(tx, TABLE, seen, rowOf)
}

const PAGE = 200

export async function* readBillingMetrics<Seen extends BillingMetrics>(
  sql: Sql,
  { since, sources }: { since: string | null; sources: readonly string[] },
): AsyncGenerator<Seen[]> {
  yield* pagesOf(
    async (after: Seen | null) =>
      await sql<Seen[]>`
      select 'billing_metrics' as kind, source, 'ios' as platform, account_id as account, day, currency, rows,
        seen_at as "seenAt", parser, origin, sha256
      from billing_metric_day
      where day >= ${since ?? "0001-01-01"} and source = any(${sources as string[]}::text[])
        and (account_id, day) > (${after?.account ?? ""}, ${after?.day ?? "0001-01-01"}::date)
      order by account_id, day
      limit ${PAGE}`,
  )
}
