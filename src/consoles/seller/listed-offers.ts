import type { Db } from "../../database/types.ts"
import { addDays, type Days } from "../../lib/days.ts"
import { type ReportSpan, spanOf } from "../read/app-accounts.ts"
import type { ListedOffer } from "../sources/offers.ts"

/** An offer and its product. */
export interface ProductOffer extends ListedOffer {
  /** The seller's own id of the product. */
  sku: string
  /** Timestamps in PostgreSQL's JSON format. */
  firstSeen: string
  lastSeen: string
  /**
   * Number of redeemed codes on the days that were read. Null if the offer has no codes, or if another offer has the
   * same name, because the report cannot separate the two.
   */
  redemptions: number | null
}

const MAX_OFFERS = 500

/**
 * Returns the offers that existed on any day of the period, of one product or of all. With a country, offers that are
 * limited to other countries are left out. Includes the status of the redemptions report.
 */
export async function readListedOffers(
  sql: Db,
  { account, app }: { account: string; app: string },
  { from, to, product, country }: { from: string; to: string; product: string | null; country: string | null },
  /** The period in which redemptions are counted. */
  redeemed: Days,
): Promise<ReportSpan & { offers: ProductOffer[] }> {
  const [listed] = await sql<[ReportSpan & { offers: ProductOffer[] }]>`
    with redeemed as materialized (
      select product, offer, sum(redemptions)::int as redemptions
      from offer_redemption_fact
      where account_id = ${account} and app = ${app} and day between ${redeemed.from} and ${redeemed.to}
        and (${country}::text is null or country = ${country})
      group by product, offer
    )
    select s.*, (
      select coalesce(json_agg(to_json(l)), '[]')
      from (
        select p.sku, o.kind, o.offer, o.name, o.mode, o.duration, o.periods, o.active, o.codes, o.countries, o.starts,
          o.ends,
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
        limit ${MAX_OFFERS}
      ) l
    ) as offers
    from ${spanOf(sql, account, "offer_redemptions", redeemed)} s`
  return listed
}
