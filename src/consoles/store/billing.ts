import type { AnyObservation } from "../../core/observation/provenance.ts"
import type { Sql, Tx } from "../../database/types.ts"
import { type BestOptions, pagesOf, provenanceOf } from "../../measuring/record/best-rows.ts"
import { storeOfAccounts } from "./of-accounts.ts"

interface BillingEvent extends AnyObservation {
  account: string
  eventId: string
  type: string
  countsAs: string
  environment: string
  store: string
  happenedAt: Date
  product?: string | undefined
  country?: string | undefined
  countryIs?: string | undefined
  currency?: string | undefined
  price?: string | undefined
  priceUsd?: string | undefined
  offer?: string | undefined
  quantity?: number | undefined
}

const TABLE: BestOptions = { table: "billing_event", key: ["account_id", "event_id"] }

/** Stores one row per message, even if the message was delivered several times. */
export async function storeBillingEvents<Seen extends BillingEvent>(tx: Tx, seen: readonly Seen[]): Promise<Seen[]> {
  const rowOf = (from: Seen) => {
    const { account: account_id, eventId: event_id, type, countsAs: counts_as, environment, store, happenedAt } = from
    const { product = null, country = null, countryIs: country_is = null, currency = null, offer = null } = from
    const { price = null, priceUsd: price_usd = null, quantity = 1 } = from
    const identity = {
      account_id,
      event_id,
      type,
      counts_as,
      environment,
      store,
      happened_at: happenedAt.toISOString(),
    }
    return {
      ...identity,
      product,
      country,
      country_is,
      currency,
      price,
      price_usd,
      offer,
      quantity,
      ...provenanceOf(from),
    }
  }
  return await storeOfAccounts(tx, TABLE, seen, rowOf)
}

const PAGE = 500

export async function* readBillingEvents<Seen extends BillingEvent>(
  sql: Sql,
  { since, sources }: { since: string | null; sources: readonly string[] },
): AsyncGenerator<Seen[]> {
  yield* pagesOf(async (after: Seen | null) => {
    const rows = await sql<Seen[]>`
      select 'billing_event' as kind, source, 'ios' as platform, account_id as account, event_id as "eventId", type,
        counts_as as "countsAs", environment, store, happened_at as "happenedAt", product, country,
        country_is as "countryIs", currency, price::text as price, price_usd::text as "priceUsd", offer,
        nullif(quantity, 1) as quantity,
        seen_at as "seenAt", parser, origin, sha256
      from billing_event
      where happened_at >= ${`${since ?? "0001-01-01"}T00:00:00Z`}::timestamptz
        and source = any(${sources as string[]}::text[])
        and (account_id, event_id) > (${after?.account ?? ""}, ${after?.eventId ?? ""})
      order by account_id, event_id
      limit ${PAGE}`
    return rows.map(
      (row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value ?? undefined])) as Seen,
    )
  })
}
