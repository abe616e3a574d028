import type { Facts, ReportRows } from "../../../core/observation/facts.ts"
import type { Tx } from "../../../database/types.ts"
import { soldThings } from "../../formulas/sold-things.ts"
import { eventGroup } from "../../formulas/subscription-events.ts"

const DAILY = { reportTable: "report_day", about: null, daily: true } as const

export const SALES: Facts = { ...DAILY, table: "sales_fact_row", shared: true, insert: insertSales }

/**
 * Refunds have negative units, and their unit price may have either sign. The credit for a completed bundle also has
 * negative units, but it only lowers the money.
 */
async function insertSales(tx: Tx, { from, set, before }: ReportRows): Promise<void> {
  const { types, soldAs } = soldThings()
  await tx`
    insert into sales_fact_row (
      set_id, account_id, report, day, place, app, country, product, title, counts_as, units, refunds, currency, gross,
      proceeds_currency, proceeds, free_units, refunded
    )
    select ${set}::bigint, account_id, 'sales', day, ${before}::int + row_number() over (
        partition by account_id, day order by app, country, product, counts_as, currency, proceeds_currency
      ), app, country, product, title, counts_as, units, refunds, currency, gross, proceeds_currency, proceeds,
      free_units, refunded
    from (
      select s.account_id, s.day, s.row ->> 'app' as app, s.row ->> 'country' as country,
        s.row ->> 'product' as product,
        max(s.row ->> 'title') as title, coalesce(t.sold_as, 'other') as counts_as, sum(u.counted)::int as units,
        sum(greatest(-u.counted, 0))::int as refunds, s.row ->> 'currency' as currency,
        sum(u.units * abs((s.row ->> 'price')::numeric)) as gross, s.row ->> 'proceedsCurrency' as proceeds_currency,
        sum(u.units * abs((s.row ->> 'proceeds')::numeric)) as proceeds,
        coalesce(sum(u.counted) filter (where (s.row ->> 'price')::numeric = 0), 0)::int as free_units,
        sum(greatest(-u.counted, 0) * abs((s.row ->> 'price')::numeric)) as refunded
      from (${from}) s
      cross join lateral (
        select (s.row ->> 'units')::int as units,
          case when s.row ? 'credit' then 0 else (s.row ->> 'units')::int end as counted
      ) u
      left join unnest(${types}::text[], ${soldAs}::text[]) t (type, sold_as) on t.type = s.row ->> 'type'
      group by s.account_id, s.day, 3, 4, 5, 7, 10, 12
    ) sold`
}

export const SUBSCRIPTIONS: Facts = { ...DAILY, table: "subscription_stock_fact_row", insert: insertSubscriptions }

async function insertSubscriptions(tx: Tx, { from, set, before }: ReportRows): Promise<void> {
  await tx`
    insert into subscription_stock_fact_row (
      set_id, account_id, day, place, app, country, product, active, trials, grace, retry, offers
    )
    select ${set}::bigint, account_id, day,
      ${before}::int + row_number() over (partition by account_id, day order by app, country, product),
      app, country, product, active, trials, grace, retry, offers
    from (
      select s.account_id, s.day, s.row ->> 'app' as app, s.row ->> 'country' as country,
        s.row ->> 'product' as product,
        sum((s.row ->> 'active')::int)::int as active, sum((s.row ->> 'trials')::int)::int as trials,
        sum((s.row ->> 'grace')::int)::int as grace, sum((s.row ->> 'retry')::int)::int as retry,
        sum((s.row ->> 'offers')::int)::int as offers
      from (${from}) s
      group by s.account_id, s.day, 3, 4, 5
    ) stock`
}

export const SUBSCRIPTION_EVENTS: Facts = { ...DAILY, table: "subscription_event_fact_row", insert: insertEvents }

/** Classifies each event name once, because there are few. */
async function insertEvents(tx: Tx, { from, set, before }: ReportRows): Promise<void> {
  const names = await tx<{ event: string; offer: string | null }[]>`
    select distinct s.row ->> 'event' as event, s.row ->> 'offer' as offer
    from (${from}) s
    order by event, offer`
  const groups = names.map(({ event, offer }) => eventGroup(event, offer ?? undefined))
  await tx`
    insert into subscription_event_fact_row (
      set_id, account_id, day, place, app, country, product, event, counts_as, quantity
    )
    select ${set}::bigint, account_id, day, ${before}::int + row_number() over (
        partition by account_id, day order by app, country, product, event, counts_as
      ), app, country, product, event, counts_as, quantity
    from (
      select s.account_id, s.day, s.row ->> 'app' as app, s.row ->> 'country' as country,
        s.row ->> 'product' as product,
        s.row ->> 'event' as event, g.counts_as, sum((s.row ->> 'quantity')::int)::int as quantity
      from (${from}) s
      join unnest(
        ${names.map(({ event }) => event)}::text[], ${names.map(({ offer }) => offer)}::text[], ${groups}::text[]
      ) g (event, offer, counts_as) on g.event = s.row ->> 'event' and g.offer is not distinct from s.row ->> 'offer'
      group by s.account_id, s.day, 3, 4, 5, 6, 7
    ) events`
}

export const OFFER_REDEMPTIONS: Facts = { ...DAILY, table: "offer_redemption_fact_row", insert: insertRedemptions }

async function insertRedemptions(tx: Tx, { from, set, before }: ReportRows): Promise<void> {
  await tx`
    insert into offer_redemption_fact_row (set_id, account_id, day, place, app, country, product, offer, redemptions)
    select ${set}::bigint, account_id, day, ${before}::int + row_number() over (
        partition by account_id, day order by app, country, product, offer
      ), app, country, product, offer, redemptions
    from (
      select s.account_id, s.day, s.row ->> 'app' as app, s.row ->> 'country' as country,
        s.row ->> 'product' as product,
        s.row ->> 'offer' as offer, sum((s.row ->> 'redemptions')::int)::int as redemptions
      from (${from}) s
      group by s.account_id, s.day, 3, 4, 5, 6
    ) redeemed`
}
