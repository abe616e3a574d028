import type { PendingQuery, Row } from "postgres"
import type { AnyKind } from "../../core/kind.ts"
import type { Db, Tx } from "../../database/types.ts"

/** Days for which rows are kept. 0 keeps them forever. */
export interface RetentionDays {
  /** Charges; afterwards only monthly sums are left. The current and the previous month always stay. */
  ledgerDays: number
  /** Failed reads, hourly counts per source, and ended alerts about the instance (`instance_alert`). */
  attemptDays: number
  jobDays: number
  /** 0, or at least 365: the table itself refuses less. */
  auditDays: number
  /** Alerts, counted from the day their cause was seen. 0, or at least 7: younger ones would be found again. */
  alertDays: number
}

/** A rule that deletes the rows of a table once they are old, oldest first if an index gives that order. */
export interface AgingRows {
  table: string
  /** The column that age counts from: a time, or a UTC day. Rows without a value stay. */
  time?: string
  day?: string
  /** The setting, or the number of days, after which a row is deleted. */
  keep: keyof RetentionDays | number
  owner?: { table: string; key: string }
  where?(sql: Db): PendingQuery<Row[]>
  /** Relative size of a row; larger rows are deleted in smaller chunks. */
  weight?: number
  /** The transaction setting without which the table refuses deletes. */
  allowedBy?: string
}

// Days: the link of an export is valid for 7 days, and a day later no download is running any more.
const EXPORT_DAYS = 8

const withoutParts = (sql: Db) => sql`not exists (select from export_part p where p.export_id = export.id)`

/**
 * SQL: true if a later reading of the same day has replaced the report, so that no data is derived from the report any
 * more.
 */
const supersededReport = (sql: Db) => sql`exists (
  select
  from ads_report n
  where (n.account_id, n.report, n.about, n.day) =
    (ads_report.account_id, ads_report.report, ads_report.about, ads_report.day) and n.seen_at > ads_report.seen_at
)`

const jobsThatAre = (status: string): AgingRows => ({
  table: "job",
  time: "finished_at",
  keep: "jobDays",
  where: (sql) => sql`status = ${status}`,
})

/** The parts of retention that belong to other folders. */
export interface Retention {
  /** Kinds whose rows are kept for some days only. */
  kinds: readonly AnyKind[]
  sweeps: readonly Sweep[]
}

/** Deletes or packs rows by rules of their own. */
export interface Sweep {
  table: string
  /** True if the sweep reads the whole table, and therefore runs only once a day. */
  isDaily?: true
  /** Handles about `chunk` rows, beginning at the id `from`. `next` is where to continue; null at the end. */
  sweep(tx: Tx, step: { chunk: number; from: number }): Promise<{ removed: number; next: number | null }>
}

/** Returns every rule for deletion by age: those in AGING and those of the kinds. */
export function agingOf({ kinds }: Retention): AgingRows[] {
  return [...AGING, ...kinds.flatMap(({ keep }) => keep ?? [])]
}

/** Tables with retention by age, except charges (fold-ledger.ts). */
const AGING: readonly AgingRows[] = [
  // access: a daily count is read on its day only; monthly counts stay when their units are deleted
  { table: "allowance_used", day: "period", keep: 40, where: (sql) => sql`allowance in ('hive', 'measurements')` },
  { table: "allowance_unit", time: "open_until", keep: 40 },
  // writing: a text is generated again each day it is requested; picture texts and listing translations are not
  {
    table: "writer_text",
    time: "created_at",
    keep: 40,
    where: (sql) => sql`kind not in ('picture', 'listing_translation')`,
  },
  {
    table: "writer_text",
    time: "created_at",
    keep: 400,
    where: (sql) => sql`kind in ('picture', 'listing_translation')`,
  },
  { table: "writer_day", day: "day", keep: 400 },
  // visibility: a check is shown as long as its answers are kept
  { table: "ai_check", time: "began_at", keep: 400 },
  { table: "assistant_turn", time: "ended_at", keep: 400 },
  { table: "audit", time: "at", keep: "auditDays", allowedBy: "appmeter.audit_retention" },
  { table: "operator_action", time: "at", keep: "auditDays" },
  // links: an expired link opens nothing
  {
    table: "export_part",
    time: "created_at",
    keep: EXPORT_DAYS,
    owner: { table: "export", key: "export_id" },
    weight: 10,
  },
  { table: "export", time: "created_at", keep: EXPORT_DAYS, where: withoutParts },
  { table: "share_link", time: "expires_at", keep: 0 },
  // sign-in: an expired code or session gives no access
  { table: "secret_try", time: "counts_until", keep: 0 },
  { table: "sign_in_code", time: "expires_at", keep: 0 },
  { table: "pending_sign_in", time: "expires_at", keep: 0 },
  { table: "invitation", time: "expires_at", keep: 0 },
  { table: "person_session", time: "expires_at", keep: 0 },
  { table: "oidc_visit", time: "expires_at", keep: 0 },
  { table: "oauth_code", time: "expires_at", keep: 1 },
  { table: "access_token", time: "expires_at", keep: 1 },
  { table: "refresh_token", time: "expires_at", keep: 0 },
  { table: "oauth_client", time: "created_at", keep: 1, where: (sql) => sql`agreed_at is null` },
  // a day of ads is restated for a month, and each read may store it again
  { table: "ads_report", time: "seen_at", keep: 60, where: supersededReport, weight: 10 },
  // a store's name search is repeated after a week
  { table: "name_search", time: "seen_at", keep: 8 },
  // kept for a year, to compare a month with the same month of the previous year; the score of the month stays
  { table: "estimate_grade", day: "month", keep: 400 },
  { table: "attempt", time: "at", keep: "attemptDays" },
  { table: "source_hour", time: "hour", keep: "attemptDays" },
  { table: "instance_alert", time: "ended_at", keep: "attemptDays" },
  ...["done", "failed", "unknown"].map(jobsThatAre),
  { table: "alert", time: "at", keep: "alertDays" },
]
