import type { Sql, Tx } from "../../../database/types.ts"
import type { Report } from "../../../vocabulary/upstreams.ts"
import { deriveSales, deriveSubscriptionEvents, deriveSubscriptions, type ReportDays, reportDays } from "./reports.ts"

const DERIVED: Record<Report, { table: string; derive(tx: Tx, days: ReportDays): Promise<void> }> = {
  sales: { table: "sales_fact", derive: deriveSales },
  subscriptions: { table: "subscription_stock_fact", derive: deriveSubscriptions },
  subscription_events: { table: "subscription_event_fact", derive: deriveSubscriptionEvents },
}

interface ReportKey {
  report: Report
  account: string
  day: string
}

const DAYS_AT_ONCE = 20

/** Derives all facts anew of what reports said, and says of how many days they stood otherwise. */
export async function rebuildReports(sql: Sql, pause: () => Promise<void>): Promise<number> {
  let mended = 0
  for (let page = await readNextDays(sql, null); page.length > 0; page = await readNextDays(sql, page.at(-1)!)) {
    await sql.begin(async (tx) => {
      for (const [report, own] of Map.groupBy(page, (key) => key.report)) mended += await rebuildDays(tx, report, own)
    })
    await pause()
  }
  return mended
}

async function rebuildDays(tx: Tx, report: Report, own: readonly ReportKey[]): Promise<number> {
  const days = reportDays(own)
  // as who stores a report: nobody says more of these days meanwhile
  await tx`
    select id
    from connected_account
    where id = any(${days.accounts})
    order by id
    for no key update`
  const { table, derive } = DERIVED[report]
  const before = await readFacts(tx, table, days)
  await derive(tx, days)
  const after = await readFacts(tx, table, days)
  return own.filter(({ account, day }) => before.get(`${account} ${day}`) !== after.get(`${account} ${day}`)).length
}

/** By account and day, what stands; nothing where no fact does. */
async function readFacts(tx: Tx, table: string, { accounts, days }: ReportDays): Promise<Map<string, string>> {
  const rows = await tx<{ key: string; facts: string }[]>`
    select account_id || ' ' || day as key, md5(string_agg(f::text, ' ' order by place)) as facts
    from ${tx(table)} f
    where (account_id, day) in (select * from unnest(${accounts}::text[], ${days}::date[]))
    group by account_id, day
    order by account_id, day
    limit 1000`
  return new Map(rows.map(({ key, facts }) => [key, facts]))
}

async function readNextDays(sql: Sql, after: ReportKey | null): Promise<ReportKey[]> {
  return await sql<ReportKey[]>`
    select distinct report, account_id as account, day
    from report_day
    where (report, account_id, day) > (${after?.report ?? ""}, ${after?.account ?? ""}, ${after?.day ?? "0001-01-01"}::date)
    order by report, account_id, day
    limit ${DAYS_AT_ONCE}`
}
