import type { Fragment } from "postgres"
import type { Platform } from "../../core/observation/provenance.ts"
import type { Db } from "../../database/types.ts"
import type { PlayReport, Report } from "../../lib/upstreams.ts"
import type { OwnApp } from "./app-accounts.ts"
import { ownAccounts } from "./read-day.ts"
import type { Money } from "./read-sales.ts"

/** A figure of one day from one report. */
export interface DayFigure<Value> {
  /** Null if the day is not reported yet, or if Google withholds the count. */
  value: Value | null
  /** Time when the day was read. Null if it is not reported yet. */
  readAt: Date | null
  /** The latest reported day: within 60 days before the requested day, or after it. Null if there is none. */
  reportedTo: string | null
}

/** An app's day in one store, as a console of the workspace reports it. */
export interface StoreDay {
  appId: string
  platform: Platform
  /** First downloads; on Google Play, users who installed the app. */
  downloads: DayFigure<number>
  /** The seller's proceeds; on Google Play, settled earnings. */
  proceeds: DayFigure<Money[]>
  /** Payments of customers in orders that are not settled yet. Null for the App Store. */
  estimatedSales: DayFigure<Money[]> | null
}

interface StoreDayRow {
  appId: string
  platform: Platform
  downloads: number | null
  downloadsReadAt: Date | null
  downloadsTo: string | null
  proceeds: Money[]
  proceedsReadAt: Date | null
  proceedsTo: string | null
  estimated: Money[]
  estimatedReadAt: Date | null
  estimatedTo: string | null
}

/** Number of days to search backwards for the latest reported day. */
const REPORTED_DAYS = 60

/**
 * Returns the day of each app in each store whose console is connected, App Store first. Uses one statement. A day of
 * Google Play's estimated sales is a UTC day; all other days are Pacific days.
 */
export async function readStoreDays(
  sql: Db,
  workspaceId: number,
  apps: readonly OwnApp[],
  day: string,
): Promise<StoreDay[]> {
  const reported = (report: Report | PlayReport, about: Fragment) => sql`(
      select max(seen_at) filter (where day = ${day}) as read_at, max(day) as latest
      from report_day
      where account_id = o.account_id and report = ${report} and about = ${about}
        and day > ${day}::date - ${REPORTED_DAYS}::int
    )`
  const money = (facts: Fragment, currency: Fragment, amount: Fragment) => sql`(
      select coalesce(jsonb_agg(jsonb_build_object('currency', m.currency, 'amount', m.amount) order by m.currency),
        '[]')
      from (
        select ${currency} as currency, trim_scale(sum(${amount}))::text as amount
        from ${facts}
        where account_id = o.account_id and app = o.sku and day = ${day}
        group by 1
        having sum(${amount}) <> 0
      ) m
    )`
  const proceeds = money(sql`sales_fact`, sql`proceeds_currency`, sql`proceeds`)
  const rows = await sql<StoreDayRow[]>`
    with apple as materialized (${ownAccounts(sql, { workspaceId, kind: "app-store-connect" }, apps)}),
      play as materialized (${ownAccounts(sql, { workspaceId, kind: "google-play-console" }, apps)})
    select o.app_id as "appId", 'ios' as platform, (
        select coalesce(sum(units), 0)::int
        from sales_fact
        where account_id = o.account_id and app = o.sku and day = ${day} and counts_as = 'download'
      ) as downloads, s.read_at as "downloadsReadAt", s.latest as "downloadsTo", ${proceeds} as proceeds,
      s.read_at as "proceedsReadAt", s.latest as "proceedsTo", '[]'::jsonb as estimated,
      null::timestamptz as "estimatedReadAt", null::date as "estimatedTo"
    from apple o
    cross join lateral ${reported("sales", sql`''`)} s
    union all
    select o.app_id, 'android', (
        select sum(count)::int
        from funnel_fact
        where account_id = o.account_id and app = o.outside_id and report = 'play_installs' and day = ${day}
          and counts_as = 'firstDownloads'
      ), i.read_at, i.latest, ${proceeds}, e.read_at, e.latest,
      ${money(sql`estimated_sales_fact`, sql`currency`, sql`gross`)}, u.read_at, u.latest
    from play o
    cross join lateral ${reported("play_installs", sql`o.outside_id`)} i
    cross join lateral ${reported("play_earnings", sql`''`)} e
    cross join lateral ${reported("play_sales", sql`''`)} u
    order by "appId", platform desc
    limit 2000`
  return rows.map(storeDay)
}

function storeDay(row: StoreDayRow): StoreDay {
  const { appId, platform } = row
  const figure = <Value>(value: Value, readAt: Date | null, reportedTo: string | null): DayFigure<Value> => {
    return { value: readAt === null ? null : value, readAt, reportedTo }
  }
  const estimated = figure(row.estimated, row.estimatedReadAt, row.estimatedTo)
  return {
    appId,
    platform,
    downloads: figure(row.downloads, row.downloadsReadAt, row.downloadsTo) as DayFigure<number>,
    proceeds: figure(row.proceeds, row.proceedsReadAt, row.proceedsTo),
    // The proceeds of a settled day are about the same orders, so the estimate is left out.
    estimatedSales: platform === "ios" ? null : row.proceedsReadAt === null ? estimated : { ...estimated, value: null },
  }
}
