import type { Db } from "../../database/types.ts"
import { addDays } from "../../lib/days.ts"
import { type EventDifference, explainedEvents } from "../formulas/witnesses.ts"
import { REPORT_ZONE } from "../pacific.ts"
import type { EventCounts } from "../read/read-subscriptions.ts"
import type { Service, WitnessQuery } from "./witness-sums.ts"

/**
 * Events that both sources count in the same way. Cancellations are excluded: a console dates them at the end of the
 * paid period, a service on the day when renewal was turned off.
 */
export const COMPARED = ["trialStarts", "trialConversions", "payments", "refunds"] as const
type ComparedEvent = (typeof COMPARED)[number]

const COUNTED: Record<ComparedEvent, { console: (keyof EventCounts)[]; service: string[] }> = {
  trialStarts: { console: ["trialStarts"], service: ["trial_start"] },
  trialConversions: { console: ["trialConversions"], service: ["trial_conversion"] },
  // A service counts a customer who returns after a lapse as a renewal.
  payments: { console: ["paidStarts", "reactivations", "renewals"], service: ["paid_start", "renewal"] },
  refunds: { console: ["refunds"], service: ["refund"] },
}

interface EventWitness extends EventDifference {
  event: ComparedEvent
  console: number
  service: number
}

/** Returns how often each source reports an event; `events` has the console's counts by day. */
export async function readEventWitnesses(
  sql: Db,
  service: Service,
  { events, ...query }: WitnessQuery & { events: readonly { day: string; counts: EventCounts }[] },
): Promise<EventWitness[]> {
  const serviceCounts = await readServiceCounts(sql, service, query)
  return COMPARED.map((event) => {
    const names = COUNTED[event]
    const consoleUnits = (of: readonly { counts: EventCounts }[]) =>
      of.reduce((sum, { counts }) => sum + names.console.reduce((units, name) => units + counts[name], 0), 0)
    const before = events.filter(({ day }) => day < service.wholeFrom)
    const counted = serviceCounts.filter(({ countsAs }) => names.service.includes(countsAs))
    const sum = (name: keyof Omit<ServiceCount, "countsAs">) => counted.reduce((total, row) => total + row[name], 0)
    const here = {
      units: sum("units"),
      consoleDays: sum("consoleDays"),
      unreported: sum("unreported"),
      before: sum("before"),
    }
    const there = { units: consoleUnits(events), before: consoleUnits(before) }
    return { event, console: there.units, service: here.units, ...explainedEvents({ console: there, service: here }) }
  })
}

interface ServiceCount {
  countsAs: string
  /** Counts by UTC days, and by the console's days. */
  units: number
  consoleDays: number
  unreported: number
  before: number
}

async function readServiceCounts(
  sql: Db,
  { id, store, wholeFrom }: Service,
  { from, to, country, reported }: WitnessQuery,
): Promise<ServiceCount[]> {
  const isOnConsoleDay = sql`day between ${from} and ${to}`
  const isReported = sql`day = any(${reported as string[]}::date[])`
  return await sql<ServiceCount[]>`
    select counts_as as "countsAs", count(*) filter (where utc_day between ${from} and ${to})::int as units,
      count(*) filter (where ${isOnConsoleDay})::int as "consoleDays",
      count(*) filter (where ${isOnConsoleDay} and not ${isReported})::int as unreported,
      count(*) filter (where ${isOnConsoleDay} and ${isReported} and day < ${wholeFrom}::date)::int as before
    from (
      select counts_as, (happened_at at time zone 'utc')::date as utc_day,
        (happened_at at time zone ${REPORT_ZONE})::date as day
      from billing_event
      where account_id = ${id} and happened_at >= ${`${from}T00:00:00Z`}::timestamptz
        and happened_at < ${`${addDays(to, 2)}T00:00:00Z`}::timestamptz
        and environment = 'production' and store = ${store} and product is not null
        and (${country}::text is null or country = ${country})
    ) told
    group by counts_as
    order by counts_as
    limit 100`
}
