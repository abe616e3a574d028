import type { PendingQuery, Row } from "postgres"
import type { Sql } from "../../database/types.ts"
import {
  ADS_REPORTS,
  type AdsReport,
  ANALYTICS_REPORTS,
  type AnalyticsReport,
  REPORTS,
  type Report,
} from "../../lib/upstreams.ts"
import { readZone } from "../ads/days.ts"
import { REPORT_ZONE } from "../pacific.ts"
import type { AnsweredState } from "../state.ts"
import { type AppAccount, findAppAccount } from "./app-accounts.ts"

/** What figures of an account rest on. */
export const EVIDENCE_REPORTS = [...REPORTS, ...ANALYTICS_REPORTS, "prices", ...ADS_REPORTS] as const
export type EvidenceReport = (typeof EVIDENCE_REPORTS)[number]

export interface ReportEvidence {
  account: string
  state: AnsweredState
  report: EvidenceReport
  /** The time zone whose days these are. */
  dayZone: string
  /** What was said of the day, the one that counts first. */
  said: SaidReport[]
}

interface SaidReport {
  /** The day that it is of: of what stands until something else is said, the last such up to the day asked for. */
  day: string
  source: string
  seenAt: Date
  parser: number
  origin: string
  sha256: string
  /** The campaign, country or product; of all others null. */
  about: string | null
  /** Of a file of analytics: when it was made. */
  processed: string | null
  /** Rows of the app; `rows` are the first of them. */
  count: number
  rows: Record<string, unknown>[]
}

interface EvidenceQuery {
  report: EvidenceReport
  day: string
}

/** Rows that are shown of each. */
export const SHOWN_ROWS = 200
const MOST_SAID = 50

const isReport = (report: EvidenceReport): report is Report => (REPORTS as readonly string[]).includes(report)
const isAnalytics = (report: EvidenceReport): report is AnalyticsReport =>
  (ANALYTICS_REPORTS as readonly string[]).includes(report)

/** Null = no account of the workspace says it of the app. */
export async function readReportEvidence(
  sql: Sql,
  workspaceId: number,
  app: { id: string; iosId: string | null },
  { report, day }: EvidenceQuery,
): Promise<ReportEvidence | null> {
  const isAds = (ADS_REPORTS as readonly string[]).includes(report)
  const account = await findAppAccount(sql, { workspaceId, kind: isAds ? "apple-ads" : "app-store-connect" }, app)
  if (!account) return null
  return {
    ...{ account: account.id, state: account.state, report },
    dayZone: isAds ? await readAdsZone(sql, account.id, report) : report === "prices" ? "UTC" : REPORT_ZONE,
    said: await readSaid(sql, account, { report, day }),
  }
}

async function readAdsZone(sql: Sql, account: string, report: EvidenceReport): Promise<string> {
  // changes and weeks are counted in UTC, whatever zone the account has
  return report === "ads_changes" || report === "ads_popularity" ? "UTC" : await readZone(sql, account)
}

type HeldReport = SaidReport & { pieces: number | null }

/** Each with what it says of the app alone: others of the seller's are none of it. */
async function readSaid(sql: Sql, account: AppAccount, { report, day }: EvidenceQuery): Promise<SaidReport[]> {
  const { held, own } = heldOf(sql, account, { report, day })
  const found = await sql<HeldReport[]>`
    select h.day, h.source, h.seen_at as "seenAt", h.parser, h.origin, encode(h.sha256, 'hex') as sha256, h.about, h.processed,
      h.pieces, r.count, r.rows
    from (${held}) h
    cross join lateral (
      select count(*)::int as count, coalesce(jsonb_agg(r.row order by r.place) filter (where r.place <= ${SHOWN_ROWS}), '[]') as rows
      from (
        select e.row, row_number() over (order by e.place) as place
        from jsonb_array_elements(h.rows) with ordinality e (row, place)
        where ${own}
      ) r
    ) r
    order by h.about nulls first, h.processed desc nulls first, h.seen_at desc, h.parser desc, h.sha256 desc
    limit ${MOST_SAID}`
  const said: SaidReport[] = []
  for (const { pieces, ...one } of found)
    said.push(pieces === null ? one : { ...one, ...(await readPieceRows(sql, pieces, own)) })
  return said
}

const PIECES_AT_ONCE = 4

/** Of a report that stands in pieces: some of these at a time, so that nobody waits for all. */
async function readPieceRows(sql: Sql, set: number, own: PendingQuery<Row[]>) {
  const said: Pick<SaidReport, "count" | "rows"> = { count: 0, rows: [] }
  for (let after = -1; ; ) {
    const isFull = said.rows.length >= SHOWN_ROWS
    const page = await sql<{ place: number; count: number; rows: SaidReport["rows"] }[]>`
      select p.place, count(e.row)::int as count,
        case when ${isFull} then '[]' else coalesce(jsonb_agg(e.row order by e.place) filter (where e.row is not null), '[]') end as rows
      from (
        select place, rows
        from report_piece
        where set_id = ${set} and place > ${after}
        order by place
        limit ${PIECES_AT_ONCE}
      ) p
      left join lateral jsonb_array_elements(p.rows) with ordinality e (row, place) on ${own}
      group by p.place
      order by p.place
      limit ${PIECES_AT_ONCE}`
    const last = page.at(-1)
    if (!last) return said
    for (const { count, rows } of page) {
      said.count += count
      said.rows.push(...rows.slice(0, SHOWN_ROWS - said.rows.length))
    }
    after = last.place
  }
}

/** What is held of the day, and which of its rows are the app's. */
function heldOf(sql: Sql, { id, outsideId, sku }: AppAccount, { report, day }: EvidenceQuery) {
  const columns = sql`day, source, seen_at, parser, origin, sha256, rows, pieces`
  if (isReport(report))
    return {
      held: sql`
        select ${columns}, null as about, null::date as processed
        from report_day
        where account_id = ${id} and report = ${report} and day = ${day}`,
      // sales name the app as the seller does, subscriptions as the store
      own: sql`e.row ->> 'app' = ${report === "sales" ? sku : outsideId}`,
    }
  if (isAnalytics(report))
    return {
      held: sql`
        select ${columns}, null as about, processed
        from analytics_day
        where account_id = ${id} and report = ${report} and app = ${outsideId} and day = ${day}`,
      own: sql`true`,
    }
  if (report === "prices")
    return {
      held: sql`
        select distinct on (product) day, source, seen_at, parser, origin, sha256, rows, null::bigint as pieces, product as about, null::date as processed
        from price_day
        where account_id = ${id} and app = ${outsideId} and day <= ${day}
        order by product, day desc`,
      own: sql`true`,
    }
  return heldOfAds(sql, { id, outsideId }, { report, day })
}

/** What stands until something else is said. */
const LASTING: readonly AdsReport[] = ["ads_campaigns", "ads_keywords", "ads_terms", "ads_popularity"]

function heldOfAds(
  sql: Sql,
  { id, outsideId }: Pick<AppAccount, "id" | "outsideId">,
  { report, day }: { report: AdsReport; day: string },
) {
  const campaigns = sql`select campaign from ads_campaign where account_id = ${id} and app = ${outsideId}`
  const ofApp = ["ads_keywords", "ads_days", "ads_terms"].includes(report) ? sql`about in (${campaigns})` : sql`true`
  const own =
    report === "ads_campaigns"
      ? sql`e.row ->> 'app' = ${outsideId}`
      : report === "ads_changes"
        ? sql`e.row ->> 'campaign' in (${campaigns})`
        : sql`true`
  const columns = sql`day, source, seen_at, parser, origin, sha256, rows, pieces, nullif(about, '') as about, null::date as processed`
  const held = LASTING.includes(report)
    ? sql`
      select distinct on (ads_report.about) ${columns}
      from ads_report
      where account_id = ${id} and report = ${report} and day <= ${day} and ${ofApp}
      order by ads_report.about, day desc, seen_at desc, parser desc, sha256 desc`
    : sql`
      select ${columns}
      from ads_report
      where account_id = ${id} and report = ${report} and day = ${day} and ${ofApp}`
  return { held, own }
}
