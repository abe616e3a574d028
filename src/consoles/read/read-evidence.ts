import type { PendingQuery, Row } from "postgres"
import type { Sql } from "../../database/types.ts"
import {
  ADS_REPORTS,
  type AdsReport,
  ANALYTICS_REPORTS,
  type AnalyticsReport,
  isPlayReport,
  PLAY_REPORT_NAMES,
  REPORTS,
  type Report,
} from "../../lib/upstreams.ts"
import { readZone } from "../ads/days.ts"
import { REPORT_ZONE } from "../pacific.ts"
import type { AnsweredState } from "../state.ts"
import { type AppAccount, findAppAccount, type OwnApp, SELLER_KINDS } from "./app-accounts.ts"

/** Types of reports that an account's figures are based on. */
export const EVIDENCE_REPORTS = [
  ...REPORTS,
  ...ANALYTICS_REPORTS,
  "prices",
  ...PLAY_REPORT_NAMES,
  ...ADS_REPORTS,
] as const
export type EvidenceReport = (typeof EVIDENCE_REPORTS)[number]

export interface ReportEvidence {
  account: string
  state: AnsweredState
  report: EvidenceReport
  /** The time zone that defines the day. */
  dayZone: string
  /** The stored reports of the day. The one in use comes first. */
  said: DayReport[]
}

interface DayReport {
  /** The day of the report. For reports that apply until replaced, the latest one up to the requested day. */
  day: string
  source: string
  seenAt: Date
  parser: number
  origin: string
  sha256: string
  /** The campaign, country or product, or the file with its generation. Null for other reports. */
  about: string | null
  /** Processing date of an analytics file. */
  processed: string | null
  /** Number of the app's rows; `rows` has the first of them. */
  count: number
  rows: Record<string, unknown>[]
}

interface EvidenceQuery {
  report: EvidenceReport
  day: string
}

/** Maximum number of rows shown for each report. */
export const SHOWN_ROWS = 200
const MAX_STATEMENTS = 50

const isReport = (report: EvidenceReport): report is Report => (REPORTS as readonly string[]).includes(report)
const isAnalytics = (report: EvidenceReport): report is AnalyticsReport =>
  (ANALYTICS_REPORTS as readonly string[]).includes(report)

/** Returns the evidence. Null if no account of the workspace has this report about the app. */
export async function readReportEvidence(
  sql: Sql,
  workspaceId: number,
  app: OwnApp,
  { report, day }: EvidenceQuery,
): Promise<ReportEvidence | null> {
  const isAds = (ADS_REPORTS as readonly string[]).includes(report)
  const kind = isAds ? "apple-ads" : SELLER_KINDS[isPlayReport(report) ? "android" : "ios"]
  const account = await findAppAccount(sql, { workspaceId, kind }, app)
  if (!account) return null
  return {
    account: account.id,
    state: account.state,
    report,
    dayZone: isAds ? await readAdsZone(sql, account.id, report) : UTC_REPORTS.includes(report) ? "UTC" : REPORT_ZONE,
    said: await readEvidenceReports(sql, account, { report, day }),
  }
}

const UTC_REPORTS: readonly EvidenceReport[] = ["prices", "play_sales"]

async function readAdsZone(sql: Sql, account: string, report: EvidenceReport): Promise<string> {
  // The reports of changes and of weekly popularity use UTC, whatever the account's time zone.
  return report === "ads_changes" || report === "ads_popularity" ? "UTC" : await readZone(sql, account)
}

type StoredReport = DayReport & { pieces: number | null }

/** Returns each report with the rows of this app only, without the seller's other apps. */
async function readEvidenceReports(
  sql: Sql,
  account: AppAccount,
  { report, day }: EvidenceQuery,
): Promise<DayReport[]> {
  const { storedReports, isOfApp } = reportsOf(sql, account, { report, day })
  const found = await sql<StoredReport[]>`
    select h.day, h.source, h.seen_at as "seenAt", h.parser, h.origin, encode(h.sha256, 'hex') as sha256, h.about,
      h.processed, h.pieces, r.count, r.rows
    from (${storedReports}) h
    cross join lateral (
      select count(*)::int as count,
        coalesce(jsonb_agg(r.row order by r.place) filter (where r.place <= ${SHOWN_ROWS}), '[]') as rows
      from (
        select e.row, row_number() over (order by e.place) as place
        from jsonb_array_elements(h.rows) with ordinality e (row, place)
        where ${isOfApp}
      ) r
    ) r
    order by ${isPlayReport(report) ? sql`null::text` : sql`h.about`} nulls first, h.processed desc nulls first,
      h.seen_at desc, h.parser desc, h.sha256 desc
    limit ${MAX_STATEMENTS}`
  const reports: DayReport[] = []
  for (const { pieces, ...one } of found)
    reports.push(pieces === null ? one : { ...one, ...(await readPieceRows(sql, pieces, isOfApp)) })
  return reports
}

const PIECES_AT_ONCE = 4

/** Reads a report that is stored in pieces, a few pieces at a time, so that no statement holds its slot for long. */
async function readPieceRows(sql: Sql, set: number, isOfApp: PendingQuery<Row[]>) {
  const result: Pick<DayReport, "count" | "rows"> = { count: 0, rows: [] }
  for (let after = -1; ; ) {
    const isFull = result.rows.length >= SHOWN_ROWS
    const page = await sql<{ place: number; count: number; rows: DayReport["rows"] }[]>`
      select p.place, count(e.row)::int as count,
        case when ${isFull} then '[]' else coalesce(jsonb_agg(e.row order by e.place) filter (where e.row is not null),
          '[]') end as rows
      from (
        select place, rows
        from report_piece
        where set_id = ${set} and place > ${after}
        order by place
        limit ${PIECES_AT_ONCE}
      ) p
      left join lateral jsonb_array_elements(p.rows) with ordinality e (row, place) on ${isOfApp}
      group by p.place
      order by p.place
      limit ${PIECES_AT_ONCE}`
    const last = page.at(-1)
    if (!last) return result
    for (const { count, rows } of page) {
      result.count += count
      result.rows.push(...rows.slice(0, SHOWN_ROWS - result.rows.length))
    }
    after = last.place
  }
}

/** SQL: the stored reports of the day, and the condition for the app's rows. */
function reportsOf(sql: Sql, { id, outsideId, sku }: AppAccount, { report, day }: EvidenceQuery) {
  const columns = sql`day, source, seen_at, parser, origin, sha256, rows, pieces`
  if (isPlayReport(report))
    return {
      storedReports: sql`
        select ${columns}, file as about, null::date as processed
        from report_day
        where account_id = ${id} and report = ${report} and about in ('', ${outsideId}) and day = ${day}`,
      // Files with money name the app in each row; files with counts are about one app.
      isOfApp: sql`coalesce(e.row ->> 'app', ${outsideId}) = ${outsideId}`,
    }
  if (isReport(report))
    return {
      storedReports: sql`
        select ${columns}, null as about, null::date as processed
        from report_day
        where account_id = ${id} and report = ${report} and day = ${day}`,
      // Sales reports name the app by the seller's SKU, subscription reports by the store's id.
      isOfApp: sql`e.row ->> 'app' = ${report === "sales" ? sku : outsideId}`,
    }
  if (isAnalytics(report))
    return {
      storedReports: sql`
        select ${columns}, null as about, processed
        from analytics_day
        where account_id = ${id} and report = ${report} and app = ${outsideId} and day = ${day}`,
      isOfApp: sql`true`,
    }
  if (report === "prices")
    return {
      storedReports: sql`
        select distinct on (product) day, source, seen_at, parser, origin, sha256, rows, null::bigint as pieces,
          product as about, null::date as processed
        from price_day
        where account_id = ${id} and app = ${outsideId} and day <= ${day}
        order by product, day desc`,
      isOfApp: sql`true`,
    }
  return adsReportsOf(sql, { id, outsideId }, { report, day })
}

/** Reports that apply until a newer report replaces them. */
const LASTING: readonly AdsReport[] = ["ads_campaigns", "ads_keywords", "ads_terms", "ads_popularity"]

function adsReportsOf(
  sql: Sql,
  { id, outsideId }: Pick<AppAccount, "id" | "outsideId">,
  { report, day }: { report: AdsReport; day: string },
) {
  const campaigns = sql`select campaign from ads_campaign where account_id = ${id} and app = ${outsideId}`
  const ofApp = ["ads_keywords", "ads_days", "ads_terms"].includes(report) ? sql`about in (${campaigns})` : sql`true`
  const isOfApp =
    report === "ads_campaigns"
      ? sql`e.row ->> 'app' = ${outsideId}`
      : report === "ads_changes"
        ? sql`e.row ->> 'campaign' in (${campaigns})`
        : sql`true`
  const columns = sql`
    day, source, seen_at, parser, origin, sha256, rows, pieces, nullif(about, '') as about, null::date as processed`
  const storedReports = LASTING.includes(report)
    ? sql`
      select distinct on (ads_report.about) ${columns}
      from ads_report
      where account_id = ${id} and report = ${report} and day <= ${day} and ${ofApp}
      order by ads_report.about, day desc, seen_at desc, parser desc, sha256 desc`
    : sql`
      select ${columns}
      from ads_report
      where account_id = ${id} and report = ${report} and day = ${day} and ${ofApp}`
  return { storedReports, isOfApp }
}
