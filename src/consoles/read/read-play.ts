import type { Db } from "../../database/types.ts"
import type { Days } from "../../lib/days.ts"
import type { PlayReport } from "../../lib/upstreams.ts"
import { decimal, millionths } from "../sources/decimal.ts"
import { type AppAccount, daysUpTo, type ReportQuery, type ReportStanding } from "./app-accounts.ts"
import type { Money } from "./read-sales.ts"

/** Reports about all apps of the developer. They have no subject. */
const OF_ACCOUNT: readonly PlayReport[] = ["play_earnings", "play_sales"]

const aboutIn = (report: PlayReport, { outsideId }: AppAccount) => (OF_ACCOUNT.includes(report) ? "" : outsideId)

const MAX_TROUBLES = 3

export type PlayStanding = ReportStanding & { report: PlayReport; file: string | null }

/** Returns the status of monthly files over the requested days. Days that are in no file yet are late. */
export async function readPlayStanding(
  sql: Db,
  account: AppAccount,
  report: PlayReport,
  { to, days }: { to: string; days: number },
): Promise<PlayStanding> {
  const requested = daysUpTo(to, days)
  const about = aboutIn(report, account)
  const from = requested[0] as string
  const isRequested = sql`day between ${from} and ${to}`
  const [found] = await sql<[Omit<PlayStanding, "report" | "late">]>`
    select d.reported, greatest(d.seen_at, t.read_at) as "asOf", d."isKnown", d.file, t.troubles
    from (
      select coalesce(json_agg(distinct day order by day) filter (where ${isRequested}), '[]') as reported,
        max(seen_at) filter (where ${isRequested}) as seen_at, count(*) > 0 as "isKnown",
        (array_agg(file order by seen_at desc, day desc) filter (where ${isRequested}))[1] as file
      from report_day
      where account_id = ${account.id} and report = ${report} and about = ${about}
    ) d
    cross join (
      select max(read_at) filter (where state in ('read', 'empty')) as read_at, coalesce(json_agg(json_build_object(
          'text', coalesce(failure, put_aside), 'isFailed', failure is not null, 'isDenied', state = 'denied',
          'count', 1, 'first', to_char(day, 'YYYY-MM'), 'last', to_char(day, 'YYYY-MM')
        ) order by day desc) filter (where failure is not null or put_aside is not null), '[]') as troubles
      from account_task
      where account_id = ${account.id} and task = ${report}
        and day between date_trunc('month', ${from}::date)::date and ${to}
        and (${about} = '' or strpos(subject, ${`_${about}_`}) > 0)
    ) t`
  const reported = new Set(found.reported)
  const late = requested.filter((day) => !reported.has(day))
  return { ...found, report, late, troubles: found.troubles.slice(0, MAX_TROUBLES) }
}

/** Users who installed the app. A count is null if Google withholds it. */
interface PlayInstalls {
  /** Counts by day, over all countries. */
  days: Map<string, number | null>
  /** Counts by day and country. They are from another file than `days`. */
  countries: { day: string; country: string; installs: number | null }[]
}

/** Returns the installs. Only the file of countries has countries. A row without a country is `zz`. */
export async function readPlayInstalls(
  sql: Db,
  { id, outsideId }: AppAccount,
  { from, to, country }: ReportQuery,
): Promise<PlayInstalls> {
  const rows = await sql<{ report: PlayReport; day: string; country: string; installs: number | null }[]>`
    select report, day, coalesce(country, 'zz') as country,
      case when bool_and(count is not null) then sum(count)::int end as installs
    from funnel_fact
    where account_id = ${id} and app = ${outsideId} and report in ('play_installs', 'play_installs_country')
      and counts_as = 'firstDownloads' and day between ${from} and ${to}
      and (${country}::text is null or country = ${country} or report = 'play_installs')
    group by report, day, 3
    order by report, day, 3`
  const whole = rows.filter(({ report }) => report === "play_installs")
  return {
    days: new Map(whole.map(({ day, installs }) => [day, installs])),
    countries: rows.filter(({ report }) => report === "play_installs_country"),
  }
}

export interface EstimatedSums {
  purchases: number
  subscriptions: number
  refunds: number
  gross: Money[]
}

interface EstimatedRow extends Omit<EstimatedSums, "gross"> {
  day: string
  currency: string
  gross: string
}

/** Returns orders that are not settled yet, by UTC day. A reported day without orders has no row. */
export async function readEstimatedSales(
  sql: Db,
  { id, sku }: AppAccount,
  { from, to, country }: ReportQuery,
): Promise<{ total: EstimatedSums; days: Map<string, EstimatedSums> }> {
  const rows = await sql<EstimatedRow[]>`
    select day, currency, coalesce(sum(units) filter (where counts_as = 'purchase'), 0)::int as purchases,
      coalesce(sum(units) filter (where counts_as = 'subscription'), 0)::int as subscriptions,
      sum(refunds)::int as refunds, sum(gross)::text as gross
    from estimated_sales_fact
    where account_id = ${id} and app = ${sku} and day between ${from} and ${to}
      and (${country}::text is null or country = ${country})
    group by day, currency
    order by day, currency`
  const days = [...Map.groupBy(rows, ({ day }) => day)].map(([day, of]) => [day, summedEstimates(of)] as const)
  return { total: summedEstimates(rows), days: new Map(days) }
}

function summedEstimates(rows: readonly EstimatedRow[]): EstimatedSums {
  const sum = (name: "purchases" | "subscriptions" | "refunds") => rows.reduce((total, row) => total + row[name], 0)
  const gross = Map.groupBy(rows, ({ currency }) => currency)
  return {
    purchases: sum("purchases"),
    subscriptions: sum("subscriptions"),
    refunds: sum("refunds"),
    gross: [...gross].map(([currency, of]) => ({
      currency,
      amount: decimal(of.reduce((total, row) => total + millionths(row.gross), 0n)),
    })),
  }
}

export interface PlayVisits {
  day: string
  /** Null if the file is not by country, or if the row names none. */
  country: string | null
  from: string | null
  visitors: number | null
  acquisitions: number | null
}

export interface PlayCountryDay {
  report: "play_store_country" | "play_installs_country"
  day: string
  /** Null if the row sums up several countries. */
  country: string | null
  /**
   * Null if Google withholds the count. Depending on the report, it counts all installs or only those by visitors of
   * the store page.
   */
  visitors: number | null
  installs: number | null
}

/**
 * Returns the counts of the store page and of installs in these countries, and the counts that a file sums up for
 * several countries.
 */
export async function readPlayCountryDays(
  sql: Db,
  { id, outsideId }: AppAccount,
  { from, to, countries }: Days & { countries: readonly string[] },
): Promise<PlayCountryDay[]> {
  return await sql<PlayCountryDay[]>`
    select report, day, country, ${countOf(sql, "pageViews")} as visitors, ${countOf(sql, "firstDownloads")} as installs
    from funnel_fact
    where account_id = ${id} and app = ${outsideId} and report in ('play_store_country', 'play_installs_country')
      and day between ${from} and ${to} and (country = any(${countries as string[]}::text[]) or country is null)
    group by report, day, country
    order by report, day, country`
}

/** SQL: the sum of an event's counts. Null if one of the counts is withheld. */
function countOf(sql: Db, event: "pageViews" | "firstDownloads") {
  return sql`
    case when bool_and(count is not null) filter (where counts_as = ${event})
      then sum(count) filter (where counts_as = ${event})::int end`
}

/**
 * Returns the visitors of the store page and those of them who installed the app, by day and by country or traffic
 * source.
 */
export async function readPlayVisits(
  sql: Db,
  { id, outsideId }: AppAccount,
  report: "play_store_country" | "play_store_sources",
  { from, to }: Days,
): Promise<PlayVisits[]> {
  return await sql<PlayVisits[]>`
    select day, country, nullif(came_from, '') as from, ${countOf(sql, "pageViews")} as visitors,
      ${countOf(sql, "firstDownloads")} as acquisitions
    from funnel_fact
    where account_id = ${id} and app = ${outsideId} and report = ${report} and day between ${from} and ${to}
    group by day, country, came_from
    order by day, country, came_from`
}
