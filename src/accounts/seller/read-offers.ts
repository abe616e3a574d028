import { json } from "../../database/json.ts"
import type { Db, Sql, Tx } from "../../database/types.ts"
import { type ListedOffer, offersIn } from "../../sources/accounts/offers.ts"
import { offerListPaths } from "../../sources/accounts/request.ts"
import { addDays, type Days } from "../../vocabulary/days.ts"
import type { ConsoleParts } from "./console-parts.ts"
import { readPages } from "./documents.ts"

interface OfferedProduct {
  app: string
  product: string
  soldAs: "app" | "purchase" | "subscription"
}

/** What the console offers of a product at another price. Throws ConsoleProblem. */
export async function askOffers(
  { console, signal }: ConsoleParts,
  { product, soldAs }: OfferedProduct,
): Promise<ListedOffer[]> {
  const offers: ListedOffer[] = []
  for (const [kind, path] of offerListPaths(soldAs, product)) {
    const pages = (await readPages(console, path, signal)) ?? []
    offers.push(
      ...offersIn(
        kind,
        pages.flatMap(({ data }) => data),
      ),
    )
  }
  return offers
}

/** What is not offered any more keeps the day on which it was last seen. */
export async function storeOffers(
  tx: Tx | Sql,
  account: string,
  { app, product }: OfferedProduct,
  offers: readonly ListedOffer[],
): Promise<void> {
  await tx`
    insert into account_offer
      (account_id, app, product, kind, offer, name, mode, duration, periods, active, codes, countries, starts, ends)
    select ${account}, ${app}, ${product}, kind, offer, name, mode, duration, periods, active, codes, countries, starts, ends
    from jsonb_populate_recordset(null::account_offer, ${json(tx, offers)}) o
    order by kind, offer
    on conflict (account_id, app, product, kind, offer) do update
    set name = excluded.name, mode = excluded.mode, duration = excluded.duration, periods = excluded.periods,
      active = excluded.active, codes = excluded.codes, countries = excluded.countries, starts = excluded.starts,
      ends = excluded.ends, last_seen = now()`
}

/** An offer with the product that it is of. */
export interface ProductOffer extends ListedOffer {
  /** The seller's own id of the product. */
  sku: string
  firstSeen: Date
  lastSeen: Date
  /**
   * How often its codes were redeemed, as far as days were read; null = it has no codes, or no report tells it from another of that
   * name.
   */
  redemptions: number | null
}

const MOST_OFFERS = 500

/** Offers that were seen on any of those days, of one product or all; with a country those that are not of others alone. */
export async function readListedOffers(
  sql: Db,
  { account, app }: { account: string; app: string },
  { from, to, product, country }: { from: string; to: string; product: string | null; country: string | null },
  /** Of which redemptions are counted. */
  redeemed: Days,
): Promise<ProductOffer[]> {
  return await sql<ProductOffer[]>`
    with redeemed as materialized (
      select product, offer, sum(redemptions)::int as redemptions
      from offer_redemption_fact
      where account_id = ${account} and app = ${app} and day between ${redeemed.from} and ${redeemed.to}
        and (${country}::text is null or country = ${country})
      group by product, offer
    )
    select p.sku, o.kind, o.offer, o.name, o.mode, o.duration, o.periods, o.active, o.codes, o.countries, o.starts, o.ends,
      o.first_seen as "firstSeen", o.last_seen as "lastSeen", case
        when o.kind = 'code' and p.sold_as = 'subscription' and o.name is not null and not exists (
          select
          from account_offer t
          where (t.account_id, t.app, t.product, t.kind, t.name) = (o.account_id, o.app, o.product, o.kind, o.name)
            and t.offer <> o.offer
        ) then coalesce(r.redemptions, 0)
      end as redemptions
    from account_offer o
    join account_product p on (p.account_id, p.app, p.product) = (o.account_id, o.app, o.product)
    left join redeemed r on r.product = o.product and r.offer = o.name
    where o.account_id = ${account} and o.app = ${app} and (${product}::text is null or p.sku = ${product})
      and o.last_seen >= ${from}::date and o.first_seen < ${addDays(to, 1)}::date
      and (${country}::text is null or o.countries is null or ${country} = any(o.countries))
    order by p.sku, o.kind, o.offer
    limit ${MOST_OFFERS}`
}
