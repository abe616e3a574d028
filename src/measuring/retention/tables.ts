import type { PendingQuery, Row } from "postgres"
import type { Db } from "../../database/types.ts"
import { KINDS } from "../../kinds.ts"

/** For how many days each is kept; 0 for ever. */
export interface RetentionDays {
  /** Then only monthly sums are left. The current and the previous month always stay whole. */
  ledgerDays: number
  /** Of failed reads; how the sources did by the hour, and alerts that are over, are kept as long. */
  attemptDays: number
  jobDays: number
  /** 0, or 365 and more: the table itself refuses less. */
  auditDays: number
  /** Of what was found, from when what shows it was seen. 0, or 7 and more: younger ones would be found again. */
  alertDays: number
}

/** Rows of a table that go once they are old, oldest first where an index gives them so. */
export interface AgingRows {
  table: string
  /** The column that age is counted from: of a time, or of a UTC day. Rows without it stay. */
  time?: string
  day?: string
  /** The setting, or the days, that a row is kept from then on. */
  keep: keyof RetentionDays | number
  owner?: { table: string; key: string }
  where?(sql: Db): PendingQuery<Row[]>
  /** How much larger than others a row is: so many fewer go at once. */
  weight?: number
  /** The setting of the transaction without which the table refuses. */
  allowedBy?: string
}

// A link works for 7 days: a day later no download is under way.
const EXPORT_DAYS = 8

const withoutParts = (sql: Db) => sql`not exists (select from export_part p where p.export_id = export.id)`

/** What a later reading of the same day says otherwise: nothing is derived of it any more. */
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

/** Charges are not among them: see fold-ledger.ts. */
export const AGING: readonly AgingRows[] = [
  // access: a daily count is read on its day only; monthly counts stay when their units are deleted
  { table: "allowance_used", day: "period", keep: 40, where: (sql) => sql`allowance in ('hive', 'measurements')` },
  { table: "allowance_unit", time: "open_until", keep: 40 },
  // writing: a text is made anew each day that it is asked for; words of a picture and a listing's translation are not
  { table: "writer_text", time: "created_at", keep: 40, where: (sql) => sql`kind not in ('picture', 'listing_translation')` },
  { table: "writer_text", time: "created_at", keep: 400, where: (sql) => sql`kind in ('picture', 'listing_translation')` },
  { table: "writer_day", day: "day", keep: 400 },
  // visibility: a check is shown as long as the answers are kept
  { table: "ai_check", time: "began_at", keep: 400 },
  { table: "assistant_turn", time: "ended_at", keep: 400 },
  { table: "audit", time: "at", keep: "auditDays", allowedBy: "appmeter.audit_retention" },
  { table: "operator_action", time: "at", keep: "auditDays" },
  // links: a link that is over opens nothing
  { table: "export_part", time: "created_at", keep: EXPORT_DAYS, owner: { table: "export", key: "export_id" }, weight: 10 },
  { table: "export", time: "created_at", keep: EXPORT_DAYS, where: withoutParts },
  { table: "share_link", time: "expires_at", keep: 0 },
  // sign-in: what is over lets nobody in
  { table: "secret_try", time: "counts_until", keep: 0 },
  { table: "sign_in_code", time: "expires_at", keep: 0 },
  { table: "owner_session", time: "expires_at", keep: 0 },
  { table: "oauth_code", time: "expires_at", keep: 1 },
  { table: "access_token", time: "expires_at", keep: 1 },
  { table: "refresh_token", time: "expires_at", keep: 0 },
  { table: "oauth_client", time: "created_at", keep: 1, where: (sql) => sql`agreed_at is null` },
  ...KINDS.flatMap(({ keep }) => keep ?? []),
  // a day of ads grows for a month, and each time that it is read it may be said anew
  { table: "ads_report", time: "seen_at", keep: 60, where: supersededReport, weight: 10 },
  // what a store's search found is asked anew after a week
  { table: "name_search", time: "seen_at", keep: 8 },
  // a year to compare a month with; its score stays
  { table: "estimate_grade", day: "month", keep: 400 },
  { table: "attempt", time: "at", keep: "attemptDays" },
  { table: "source_hour", time: "hour", keep: "attemptDays" },
  { table: "instance_alert", time: "ended_at", keep: "attemptDays" },
  ...["done", "failed", "unknown"].map(jobsThatAre),
  { table: "alert", time: "at", keep: "alertDays" },
] // biome-ignore format: a list to scan
