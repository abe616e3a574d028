import type { Fragment } from "postgres"
import { json } from "../../database/json.ts"
import type { Db } from "../../database/types.ts"
import { addDays, type Days } from "../../lib/days.ts"
import { BILLING_SOURCES, type Report } from "../../lib/upstreams.ts"
import type { AccountKindName } from "../account-kind.ts"
import { accountKind } from "../account-kinds.ts"
import { type AnsweredState, answeredState } from "../state.ts"
import { reportTroubles, type Trouble } from "../troubles.ts"

/** The account that a tracked app's figures come from. */
export interface AppAccount {
  id: string
  kind: AccountKindName
  state: AnsweredState
  why: string | null
  createdAt: Date
  /** The store's id of the app, and the seller's: reports name it by either. */
  outsideId: string
  sku: string
  /** Who must do what, where the key may not read reports; null = it may, or nobody knows. */
  denied: string | null
}

/** Days of reports, in one storefront or in all (null). */
export interface ReportQuery extends Days {
  country: string | null
}

/** A tracked app, by what accounts know it. */
export interface OwnApp {
  id: string
  iosId: string | null
}

/**
 * Returns the first account with the app that still has a key, else the first: two accounts of one seller report the
 * same twice. `more`: further columns of the account `c`.
 */
export async function findAppAccount<More = unknown>(
  sql: Db,
  { workspaceId, kind }: { workspaceId: number; kind: AccountKindName },
  app: OwnApp,
  more = sql``,
): Promise<(AppAccount & More) | null> {
  const [account] = await sql<(AppAccount & More)[]>`
    select ${accountColumns(sql)}, ${deniedOf(sql, kind)} as denied${more}
    from connected_account c
    join account_app a on a.account_id = c.id
    where c.workspace_id = ${workspaceId} and c.kind = ${kind} and ${isOf(sql, app)}
    order by c.sealed is null, c.created_at, c.id
    limit 1`
  return account ?? null
}

/** Who tells of a tracked app's money. */
export interface MoneyAccounts {
  /** Null = none is connected that has the app. */
  seller: AppAccount | null
  metrics: AppAccount | null
  /** A billing service tells of its purchases, or could: billing/read-billing.ts. */
  isBilled: boolean
}

/** Each as findAppAccount finds it. */
export async function findMoneyAccounts(sql: Db, workspaceId: number, app: OwnApp): Promise<MoneyAccounts> {
  const kinds: AccountKindName[] = ["app-store-connect", "revenuecat-metrics", ...BILLING_SOURCES]
  const needs = kinds.flatMap((kind) => accountKind(kind).needs.map((name) => ({ kind, name })))
  const found = await sql<AppAccount[]>`
    select distinct on (c.kind) ${accountColumns(sql)}, (
      select r.why
      from account_right r
      where r.account_id = c.id and r.state = 'denied' and (c.kind, r.name) in (
        select *
        from unnest(${needs.map(({ kind }) => kind)}::text[], ${needs.map(({ name }) => name)}::text[])
      )
      order by r.name
      limit 1
    ) as denied
    from connected_account c
    join account_app a on a.account_id = c.id
    where c.workspace_id = ${workspaceId} and c.kind = any(${kinds}::text[]) and ${isOf(sql, app)}
    order by c.kind, c.sealed is null, c.created_at, c.id
    limit ${kinds.length}`
  const of = (kind: AccountKindName) => found.find((account) => account.kind === kind) ?? null
  return {
    ...{ seller: of("app-store-connect"), metrics: of("revenuecat-metrics") },
    isBilled: BILLING_SOURCES.some((kind) => of(kind) !== null),
  }
}

function accountColumns(sql: Db) {
  return sql`
    c.id, c.kind, ${answeredState(sql)}, c.created_at as "createdAt", a.outside_id as "outsideId", a.sku`
}

/** Why an account `c` of a kind may not read what is needed of it. */
function deniedOf(sql: Db, kind: AccountKindName) {
  return sql`(
      select r.why
      from account_right r
      where r.account_id = c.id and r.name = any(${accountKind(kind).needs as string[]}::text[]) and r.state = 'denied'
      order by r.name
      limit 1
    )`
}

/** Whether the row `a` of an account is the app. */
function isOf(sql: Db, { id, iosId }: OwnApp | Record<keyof OwnApp, Fragment>) {
  return sql`(a.app_id = ${id} or (a.app_id is null and not a.by_hand and a.outside_id = ${iosId}))`
}

/** As findAppAccount, of several apps at once: what reports name each by. Those without an account are missing. */
export async function findReportNames(
  sql: Db,
  { workspaceId, kind }: { workspaceId: number; kind: AccountKindName },
  apps: readonly OwnApp[],
): Promise<Map<string, Pick<AppAccount, "id" | "sku">>> {
  const rows = await sql<{ app: string; id: string; sku: string }[]>`
    select distinct on (o.id) o.id as app, c.id, a.sku
    from jsonb_to_recordset(${json(
      sql,
      apps.map(({ id, iosId }) => ({ id, iosId })),
    )}) o (id text, "iosId" text)
    join connected_account c on c.workspace_id = ${workspaceId} and c.kind = ${kind}
    join account_app a on a.account_id = c.id and ${isOf(sql, { id: sql`o.id`, iosId: sql`o."iosId"` })}
    order by o.id, c.sealed is null, c.created_at, c.id
    limit ${apps.length}`
  return new Map(rows.map(({ app, ...name }) => [app, name]))
}

/** The workspace's account of a kind, whatever apps it has: the first that still has a key, else the first. */
export async function findKindAccount(
  sql: Db,
  workspaceId: number,
  kind: AccountKindName,
): Promise<Omit<AppAccount, "outsideId" | "sku"> | null> {
  const [account] = await sql<Omit<AppAccount, "outsideId" | "sku">[]>`
    select c.id, c.kind, ${answeredState(sql)}, c.created_at as "createdAt", ${deniedOf(sql, kind)} as denied
    from connected_account c
    where c.workspace_id = ${workspaceId} and c.kind = ${kind}
    order by c.sealed is null, c.created_at, c.id
    limit 1`
  return account ?? null
}

/** Whether the workspace has connected an account of the kind, paused or without that app included. */
export async function isConnected(
  sql: Db,
  { workspaceId, kind }: { workspaceId: number; kind: AccountKindName },
): Promise<boolean> {
  const found = await sql`
    select
    from connected_account
    where workspace_id = ${workspaceId} and kind = ${kind}
    limit 1`
  return found.length > 0
}

/** How a report of the days asked for stands. */
export interface ReportStanding {
  /** Days that were said, with rows or without, in order. */
  reported: string[]
  /** Days that the console is late with, in order. Old ones are not read again. */
  late: string[]
  /** When one of them was last read; null = none was. */
  asOf: Date | null
  /** Whether any day at all was said, also outside of those asked for. */
  isKnown: boolean
  /** Failed questions about the requested days. */
  troubles: Trouble[]
}

export async function readStanding(sql: Db, account: string, report: Report, days: Days): Promise<ReportStanding> {
  const [standing] = await sql<[ReportStanding]>`select * from ${standingOf(sql, account, report, days)} s`
  return standing
}

/** A query of one row, a ReportStanding. */
function standingOf(sql: Db, account: string, report: Report, { from, to }: Days) {
  return sql`(
    select coalesce(json_agg(d.day order by d.day) filter (where d.seen_at is not null), '[]') as reported,
      coalesce(json_agg(d.day order by d.day) filter (where d.seen_at is null and d.state = 'late'), '[]') as late,
      max(greatest(d.read_at, d.seen_at)) filter (where d.seen_at is not null) as "asOf", exists (
        select
        from report_day
        where account_id = ${account} and report = ${report}
      ) as "isKnown", ${reportTroubles(sql, account, report, { from, to })} as troubles
    from (
      select coalesce(s.day, t.day) as day, s.seen_at, t.read_at, t.state
      from (
        select day, max(seen_at) as seen_at
        from report_day
        where account_id = ${account} and report = ${report} and day between ${from} and ${to}
        group by day
      ) s
      full join (
        select day, state, read_at
        from account_task
        where account_id = ${account} and task = ${report} and subject between ${from} and ${to}
      ) t on t.day = s.day
    ) d
  )`
}

/** The same without the days that were said: of a year those are most of what is answered. */
export interface ReportSpan extends Pick<ReportStanding, "late" | "asOf" | "troubles"> {
  /** How many days were said, the first of them, and the last. */
  reportedDays: number
  from: string | null
  to: string | null
}

/**
 * A query of one row, a ReportSpan. Days are joined with their tasks only where that adds something: for a year the full join
 * takes twice as long.
 */
export function spanOf(sql: Db, account: string, report: Report, { from, to }: Days) {
  return sql`(
    select s."reportedDays", s."from", s."to", t.late, greatest(s.seen_at, t.read_at) as "asOf",
      ${reportTroubles(sql, account, report, { from, to })} as troubles
    from (
      select count(distinct day)::int as "reportedDays", min(day) as "from", max(day) as "to", max(seen_at) as seen_at
      from report_day
      where account_id = ${account} and report = ${report} and day between ${from} and ${to}
    ) s
    cross join lateral (
      select coalesce(json_agg(day order by day) filter (where not is_said and is_late), '[]') as late,
        max(read_at) filter (where is_said) as read_at
      from (
        select day, read_at, state = 'late' as is_late, exists (
            select
            from report_day
            where account_id = ${account} and report = ${report} and day = k.day
          ) as is_said
        from account_task k
        where account_id = ${account} and task = ${report} and subject between ${from} and ${to}
          and (state = 'late' or read_at > s.seen_at)
      ) task
    ) t
  )`
}

/** So many days up to the last, each once. */
export function daysUpTo(to: string, count: number): string[] {
  return Array.from({ length: count }, (_, place) => addDays(to, place - count + 1))
}
