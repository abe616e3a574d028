import type { Db } from "../../database/types.ts"
import { EVENT_GROUPS, type EventGroup } from "../formulas/subscription-events.ts"
import type { AppAccount, ReportQuery } from "./app-accounts.ts"

export type EventCounts = Record<EventGroup, number>

/** The counts of a reported day without rows: measured zeros. */
const NO_EVENTS = Object.fromEntries(EVENT_GROUPS.map((group) => [group, 0])) as EventCounts

/** Returns subscription events of an app by day and country. Days and countries without events are missing. */
export async function readSubscriptionEvents(
  sql: Db,
  { id, outsideId }: AppAccount,
  { from, to, country }: ReportQuery,
): Promise<{ day: string; country: string; counts: EventCounts }[]> {
  const rows = await sql<{ day: string; country: string; group: EventGroup; quantity: number }[]>`
    select day, country, counts_as as group, sum(quantity)::int as quantity
    from subscription_event_fact
    where account_id = ${id} and app = ${outsideId} and day between ${from} and ${to}
      and (${country}::text is null or country = ${country})
    group by day, country, counts_as
    order by day, country, counts_as`
  const groups = Map.groupBy(rows, (row) => `${row.day} ${row.country}`)
  return [...groups.values()].map((entries) => {
    const { day, country } = entries[0]!
    return {
      day,
      country,
      counts: entries.reduce((sums, { group, quantity }) => added(sums, group, quantity), NO_EVENTS),
    }
  })
}

function added(sums: EventCounts, group: EventGroup, quantity: number): EventCounts {
  return { ...sums, [group]: sums[group] + quantity }
}

export function summedEvents(counts: readonly EventCounts[]): EventCounts {
  const sum = (group: EventGroup) => counts.reduce((total, count) => total + count[group], 0)
  return Object.fromEntries(EVENT_GROUPS.map((group) => [group, sum(group)])) as EventCounts
}

interface Stock {
  day: string
  active: number
  trials: number
  offers: number
  grace: number
  retry: number
}

/** Returns the subscriptions at the end of the last reported day. Null if no day was reported. */
export async function readStock(
  sql: Db,
  { id, outsideId }: AppAccount,
  { day, country }: { day: string | undefined; country: string | null },
): Promise<Stock | null> {
  if (day === undefined) return null
  const [sums] = await sql<[Omit<Stock, "day">]>`
    select coalesce(sum(active), 0)::int as active, coalesce(sum(trials), 0)::int as trials,
      coalesce(sum(offers), 0)::int as offers, coalesce(sum(grace), 0)::int as grace,
      coalesce(sum(retry), 0)::int as retry
    from subscription_stock_fact
    where account_id = ${id} and app = ${outsideId} and day = ${day}
      and (${country}::text is null or country = ${country})`
  return { day, ...sums }
}
