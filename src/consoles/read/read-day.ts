import type { Platform } from "../../core/observation/provenance.ts"
import type { Db } from "../../database/types.ts"
import type { AccountKindName } from "../account-kind.ts"
import { type OwnApp, SELLER_KINDS } from "./app-accounts.ts"

/** The figures of an app's own account for one day of reports. */
export interface AccountDay {
  /** Trials started. Null if the day's events are not reported. */
  trials: number | null
  trialsReadAt: Date | null
  /**
   * The seller's proceeds from subscriptions, in US dollars. Null if some are in another currency, or if the day is not
   * reported.
   */
  dollars: number | null
  /** Time when the day's sales were read. Null if they are not reported. */
  salesReadAt: Date | null
  /** True if the figures are from the demo account. */
  isInvented: boolean
}

interface DayRow {
  appId: string
  trials: number
  trialsReadAt: Date | null
  salesReadAt: Date | null
  isInvented: boolean
  proceeds: { currency: string; amount: string }[]
}

/** SQL: for each app, the account of the kind to use: accounts with a key come first, then the oldest. */
export function ownAccounts(
  sql: Db,
  { workspaceId, kind }: { workspaceId: number; kind: AccountKindName },
  apps: readonly OwnApp[],
) {
  return sql`
    select distinct on (x.app_id) x.app_id, c.id as account_id, c.state, c.currency, a.outside_id, a.sku
    from connected_account c
    join account_app a on a.account_id = c.id
    join unnest(${apps.map(({ id }) => id)}::text[], ${apps.map(({ iosId }) => iosId)}::text[],
      ${apps.map(({ androidPkg }) => androidPkg)}::text[]) x (app_id, ios_id, android_pkg)
      on a.app_id = x.app_id or (a.app_id is null and not a.by_hand and a.outside_id in (x.ios_id, x.android_pkg))
    where c.workspace_id = ${workspaceId} and c.kind = ${kind}
    order by x.app_id, c.sealed is null, c.created_at, c.id`
}

/** Returns the day of each app that an account of the workspace has. Other apps are missing. */
export async function readAccountDays(
  sql: Db,
  workspaceId: number,
  apps: readonly OwnApp[],
  day: string,
): Promise<Map<string, AccountDay>> {
  const rows = await sql<DayRow[]>`
    with own as materialized (${ownAccounts(sql, { workspaceId, kind: "app-store-connect" }, apps)})
    select o.app_id as "appId", o.state = 'demo' as "isInvented", (
      select coalesce(sum(f.quantity), 0)::int
      from subscription_event_fact f
      where f.account_id = o.account_id and f.app = o.outside_id and f.day = ${day} and f.counts_as = 'trialStarts'
    ) as trials, (
      select max(d.seen_at)
      from report_day d
      where d.account_id = o.account_id and d.report = 'subscription_events' and d.day = ${day}
    ) as "trialsReadAt", (
      select max(d.seen_at)
      from report_day d
      where d.account_id = o.account_id and d.report = 'sales' and d.day = ${day}
    ) as "salesReadAt", (
      select coalesce(jsonb_agg(jsonb_build_object('currency', s.currency, 'amount', s.amount) order by s.currency),
        '[]')
      from (
        select f.proceeds_currency as currency, sum(f.proceeds)::text as amount
        from sales_fact f
        where f.account_id = o.account_id and f.app = o.sku and f.day = ${day} and f.counts_as = 'subscription'
        group by f.proceeds_currency
        having sum(f.proceeds) <> 0
      ) s
    ) as proceeds
    from own o
    order by o.app_id
    limit 1000`
  return new Map(rows.map((row) => [row.appId, accountDay(row)]))
}

function accountDay({ trials, trialsReadAt, salesReadAt, isInvented, proceeds }: DayRow): AccountDay {
  const isInDollars = proceeds.every(({ currency }) => currency === "USD")
  return {
    trials: trialsReadAt === null ? null : trials,
    trialsReadAt,
    dollars: salesReadAt === null || !isInDollars ? null : Number(proceeds[0]?.amount ?? 0),
    salesReadAt,
    isInvented,
  }
}

/** The seller's proceeds from one storefront. */
export interface CountryProceeds {
  country: string
  /** One amount per currency code. */
  proceeds: { currency: string; amount: string }[]
}

/** For each store the report that has the seller's proceeds. */
const PROCEEDS_REPORT = { ios: "sales", android: "play_earnings" } as const

/**
 * Returns the proceeds by storefront, summed over the apps whose account reported the day. `not_measured`: no account
 * reported it; `not_connected`: no app has an account. On Google Play these are settled proceeds.
 */
export async function readCountryProceeds(
  sql: Db,
  workspaceId: number,
  apps: readonly OwnApp[],
  day: string,
  store: Platform = "ios",
): Promise<{ state: "measured" | "not_measured" | "not_connected"; rows: CountryProceeds[] }> {
  const [result] = await sql<{ accounts: number; reported: boolean; rows: CountryProceeds[] }[]>`
    with own as materialized (${ownAccounts(sql, { workspaceId, kind: SELLER_KINDS[store] }, apps)})
    select (select count(*)::int from own) as accounts, exists (
      select
      from own o
      join report_day d on d.account_id = o.account_id and d.report = ${PROCEEDS_REPORT[store]} and d.day = ${day}
    ) as reported, (
      select coalesce(jsonb_agg(jsonb_build_object('country', c.country, 'proceeds', c.proceeds) order by c.country),
        '[]')
      from (
        select s.country, jsonb_agg(jsonb_build_object('currency', s.currency, 'amount', s.amount)
        order by s.currency) as proceeds
        from (
          select f.country, f.proceeds_currency as currency, trim_scale(sum(f.proceeds))::text as amount
          from (select distinct account_id, sku from own) o
          join sales_fact f on f.account_id = o.account_id and f.app = o.sku and f.day = ${day}
          group by f.country, f.proceeds_currency
          having sum(f.proceeds) <> 0
        ) s
        group by s.country
      ) c
    ) as rows`
  if (!result?.accounts) return { state: "not_connected", rows: [] }
  return result.reported ? { state: "measured", rows: result.rows } : { state: "not_measured", rows: [] }
}
