import type { Tx } from "../../../database/types.ts"
import { uncut } from "../../../database/uncut.ts"
import { soldThings } from "../../../formulas/sold-things.ts"
import { eventGroup } from "../../../formulas/subscription-events.ts"
import type { Report } from "../../../vocabulary/upstreams.ts"

/** Days of accounts, side by side. */
export interface ReportDays {
  accounts: string[]
  days: string[]
}

/** Each day once, in order. */
export function reportDays(seen: readonly { account: string; day: string }[]): ReportDays {
  const keys = [...new Set(seen.map(({ account, day }) => `${account} ${day}`))].sort()
  const pairs = keys.map((key) => key.split(" ") as [string, string])
  return { accounts: pairs.map(([account]) => account), days: pairs.map(([, day]) => day) }
}

/** Of each day what was said last, row by row. */
function newestRows(tx: Tx, report: Report, { accounts, days }: ReportDays) {
  return tx`
    select n.account_id, n.day, r.row
    from (
      select distinct on (account_id, day) account_id, day, rows
      from report_day
      where report = ${report} and (account_id, day) in (select * from unnest(${accounts}::text[], ${days}::date[]))
      order by account_id, day, seen_at desc, parser desc, sha256 desc
    ) n
    cross join lateral jsonb_array_elements(n.rows) r (row)`
}

/** A day's facts are exchanged whole: a row that is gone from the report is gone here. */
async function deleteFacts(tx: Tx, table: string, { accounts, days }: ReportDays): Promise<void> {
  await tx`
    delete from ${tx(table)}
    where (account_id, day) in (select * from unnest(${accounts}::text[], ${days}::date[]))`
}

/** A refund has units below nothing; what a unit of it cost is said with either sign. */
export async function deriveSales(tx: Tx, days: ReportDays): Promise<void> {
  await deleteFacts(tx, "sales_fact", days)
  const { types, soldAs } = soldThings()
  await tx`
    insert into sales_fact (
      account_id, day, place, app, country, product, title, counts_as, units, refunds, currency, gross, proceeds_currency,
      proceeds, free_units, refunded
    )
    select account_id, day, row_number() over (partition by account_id, day order by app, country, product, counts_as, currency,
      proceeds_currency), app, country, product, title, counts_as, units, refunds, currency, gross, proceeds_currency, proceeds,
      free_units, refunded
    from (
      select s.account_id, s.day, s.row ->> 'app' as app, s.row ->> 'country' as country, s.row ->> 'product' as product,
        max(s.row ->> 'title') as title, coalesce(t.sold_as, 'other') as counts_as, sum(u.units)::int as units,
        sum(greatest(-u.units, 0))::int as refunds, s.row ->> 'currency' as currency,
        sum(u.units * abs((s.row ->> 'price')::numeric)) as gross, s.row ->> 'proceedsCurrency' as proceeds_currency,
        sum(u.units * abs((s.row ->> 'proceeds')::numeric)) as proceeds,
        coalesce(sum(u.units) filter (where (s.row ->> 'price')::numeric = 0), 0)::int as free_units,
        sum(greatest(-u.units, 0) * abs((s.row ->> 'price')::numeric)) as refunded
      from (${newestRows(tx, "sales", days)}) s
      cross join lateral (select (s.row ->> 'units')::int as units) u
      left join unnest(${types}::text[], ${soldAs}::text[]) t (type, sold_as) on t.type = s.row ->> 'type'
      group by s.account_id, s.day, 3, 4, 5, 7, 10, 12
    ) sold`
}

export async function deriveSubscriptions(tx: Tx, days: ReportDays): Promise<void> {
  await deleteFacts(tx, "subscription_stock_fact", days)
  await tx`
    insert into subscription_stock_fact (account_id, day, place, app, country, product, active, trials, grace, retry, offers)
    select account_id, day, row_number() over (partition by account_id, day order by app, country, product), app, country,
      product, active, trials, grace, retry, offers
    from (
      select s.account_id, s.day, s.row ->> 'app' as app, s.row ->> 'country' as country, s.row ->> 'product' as product,
        sum((s.row ->> 'active')::int)::int as active, sum((s.row ->> 'trials')::int)::int as trials,
        sum((s.row ->> 'grace')::int)::int as grace, sum((s.row ->> 'retry')::int)::int as retry,
        sum((s.row ->> 'offers')::int)::int as offers
      from (${newestRows(tx, "subscriptions", days)}) s
      group by s.account_id, s.day, 3, 4, 5
    ) stock`
}

/** Names of events are few, and each is judged once. */
export async function deriveSubscriptionEvents(tx: Tx, days: ReportDays): Promise<void> {
  await deleteFacts(tx, "subscription_event_fact", days)
  const names = await tx<{ event: string; offer: string | null }[]>`
    select distinct s.row ->> 'event' as event, s.row ->> 'offer' as offer
    from (${newestRows(tx, "subscription_events", days)}) s
    order by event, offer
    limit 10000`.then(uncut(10_000))
  const groups = names.map(({ event, offer }) => eventGroup(event, offer ?? undefined))
  await tx`
    insert into subscription_event_fact (account_id, day, place, app, country, product, event, counts_as, quantity)
    select account_id, day, row_number() over (partition by account_id, day order by app, country, product, event, counts_as),
      app, country, product, event, counts_as, quantity
    from (
      select s.account_id, s.day, s.row ->> 'app' as app, s.row ->> 'country' as country, s.row ->> 'product' as product,
        s.row ->> 'event' as event, g.counts_as, sum((s.row ->> 'quantity')::int)::int as quantity
      from (${newestRows(tx, "subscription_events", days)}) s
      join unnest(
        ${names.map(({ event }) => event)}::text[], ${names.map(({ offer }) => offer)}::text[], ${groups}::text[]
      ) g (event, offer, counts_as) on g.event = s.row ->> 'event' and g.offer is not distinct from s.row ->> 'offer'
      group by s.account_id, s.day, 3, 4, 5, 6, 7
    ) events`
}
