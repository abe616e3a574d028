import type { Fragment } from "postgres"
import type { Platform } from "../../core/observation/provenance.ts"
import { json } from "../../database/json.ts"
import type { Db } from "../../database/types.ts"
import { addDays, type Days } from "../../lib/days.ts"
import { BILLING_SOURCES, type Report } from "../../lib/upstreams.ts"
import type { AccountKindName } from "../account-kind.ts"
import { accountKind } from "../account-kinds.ts"
import { type AnsweredState, answeredState } from "../state.ts"
import { reportTroubles, type Trouble } from "../troubles.ts"

/** The account that provides a tracked app's figures. */
export interface AppAccount {
  id: string
  kind: AccountKindName
  state: AnsweredState
  why: string | null
  createdAt: Date
  /** The store's id of the app, and the seller's SKU: reports use either. */
  outsideId: string
  sku: string
  /** The action that a person must take if the key may not read reports. Null if it may, or if that is unknown. */
  denied: string | null
}

/** The days of a query, in one storefront or in all (null). */
export interface ReportQuery extends Days {
  country: string | null
}

/** The ids by which a tracked app is found in accounts. */
export interface OwnApp {
  id: string
  iosId: string | null
  androidPkg: string | null
}

/** For each store the kind of account that reports on the seller's own apps. */
export const SELLER_KINDS = { ios: "app-store-connect", android: "google-play-console" } as const
export type SellerKind = (typeof SELLER_KINDS)[Platform]

/**
 * Returns one account that has the app, because two accounts of one seller report the same figures: the first one that
 * still has a key, or the first one if none has a key. `more` adds columns of the account `c`.
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

/** The accounts that report a tracked app's money. */
export interface MoneyAccounts {
  /** Null if no connected account has the app. */
  seller: AppAccount | null
  metrics: AppAccount | null
  /** True if a billing service is connected that can report the app's purchases: billing/read-billing.ts. */
  isBilled: boolean
}

/** Returns the accounts that report a tracked app's money. Each is selected as in findAppAccount. */
export async function findMoneyAccounts(
  sql: Db,
  workspaceId: number,
  app: OwnApp,
  store: Platform = "ios",
): Promise<MoneyAccounts> {
  const kinds: AccountKindName[] = [SELLER_KINDS[store], "revenuecat-metrics", ...BILLING_SOURCES]
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
    seller: of(SELLER_KINDS[store]),
    metrics: of("revenuecat-metrics"),
    isBilled: BILLING_SOURCES.some((kind) => of(kind) !== null),
  }
}

function accountColumns(sql: Db) {
  return sql`
    c.id, c.kind, ${answeredState(sql)}, c.created_at as "createdAt", a.outside_id as "outsideId", a.sku`
}

/** SQL: the reason why an account `c` of a kind lacks a right that the kind needs. */
function deniedOf(sql: Db, kind: AccountKindName) {
  return sql`(
      select r.why
      from account_right r
      where r.account_id = c.id and r.name = any(${accountKind(kind).needs as string[]}::text[]) and r.state = 'denied'
      order by r.name
      limit 1
    )`
}

/** SQL: whether the row `a` of an account is the app. An id of one store never equals an id of the other. */
function isOf(sql: Db, { id, iosId, androidPkg }: OwnApp | Record<keyof OwnApp, Fragment>) {
  return sql`(
    a.app_id = ${id} or (a.app_id is null and not a.by_hand and a.outside_id in (${iosId}, ${androidPkg}))
  )`
}

/** Like findAppAccount for several apps, with the SKU of each app in reports. Apps without an account are missing. */
export async function findReportNames(
  sql: Db,
  { workspaceId, kind }: { workspaceId: number; kind: AccountKindName },
  apps: readonly OwnApp[],
): Promise<Map<string, Pick<AppAccount, "id" | "sku">>> {
  const rows = await sql<{ app: string; id: string; sku: string }[]>`
    select distinct on (o.id) o.id as app, c.id, a.sku
    from jsonb_to_recordset(${json(
      sql,
      apps.map(({ id, iosId, androidPkg }) => ({ id, iosId, androidPkg })),
    )}) o (id text, "iosId" text, "androidPkg" text)
    join connected_account c on c.workspace_id = ${workspaceId} and c.kind = ${kind}
    join account_app a on a.account_id = c.id and ${isOf(sql, {
      id: sql`o.id`,
      iosId: sql`o."iosId"`,
      androidPkg: sql`o."androidPkg"`,
    })}
    order by o.id, c.sealed is null, c.created_at, c.id
    limit ${apps.length}`
  return new Map(rows.map(({ app, ...name }) => [app, name]))
}

/**
 * Returns the workspace's account of a kind, whatever apps it has: the first one that still has a key, otherwise the
 * first one.
 */
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

/**
 * Returns true if the workspace has connected an account of the kind, including paused accounts and accounts without
 * the app.
 */
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

/** How completely a report was read for the requested days. */
export interface ReportStanding {
  /** Days that were reported, with or without rows, in order. */
  reported: string[]
  /** Days that the console did not publish in time, in order. Days that are too old are not retried. */
  late: string[]
  /** Time of the latest read of one of the reported days. Null if none was read. */
  asOf: Date | null
  /** True if any day was ever reported, also outside the requested days. */
  isKnown: boolean
  /** Failed requests about the requested days. */
  troubles: Trouble[]
  /** Only for reports in files: the latest file that has one of the requested days, and its generation. */
  file?: string | null
}

export async function readStanding(sql: Db, account: string, report: Report, days: Days): Promise<ReportStanding> {
  const [standing] = await sql<[ReportStanding]>`select * from ${standingOf(sql, account, report, days)} s`
  return standing
}

/** SQL: one row, a ReportStanding. */
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

/** A ReportStanding without the list of reported days, which would be most of the answer for a year. */
export interface ReportSpan extends Pick<ReportStanding, "late" | "asOf" | "troubles"> {
  /** Number of reported days, the first of them, and the last. */
  reportedDays: number
  from: string | null
  to: string | null
}

/**
 * SQL: one row, a ReportSpan. Joins only the days whose task is late, or was read after the reports were first seen,
 * because a full join over a year takes twice as long.
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

/** Returns the last `count` days up to `to`, in order. */
export function daysUpTo(to: string, count: number): string[] {
  return Array.from({ length: count }, (_, place) => addDays(to, place - count + 1))
}
