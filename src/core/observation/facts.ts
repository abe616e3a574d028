import type { PendingQuery, Row } from "postgres"
import type { Tx } from "../../database/types.ts"
import type { AdsReport, AnalyticsReport, PlayReport, Report } from "../../lib/upstreams.ts"
import type { AnyObservation } from "./provenance.ts"

export type FactsReport = Report | AnalyticsReport | AdsReport | PlayReport

/** A report of an account for one day. */
export interface RowsObservation extends AnyObservation {
  account: string
  day: string
  /** The subject of the report. All three are missing if the report is about the whole account. */
  app?: string
  campaign?: string
  country?: string
  rows: readonly object[]
}

export type ReportSubject = Pick<RowsObservation, "account" | "day" | "app" | "campaign" | "country">

export function aboutOf({ app, campaign, country }: Omit<ReportSubject, "day">): string {
  return app ?? campaign ?? country ?? ""
}

/** How the facts of a report are derived and where they are stored. */
export interface Facts {
  /** The table of stored reports, with one row per subject of a report. */
  reportTable: "report_day" | "analytics_day" | "ads_report"
  /** The table with the facts of all sets. The view without "_row" shows the current ones. */
  table: string
  /** The column with the subject of a fact. Null if the subject is the account itself. */
  about: string | null
  /** True if every day has its own facts. False if only the latest report counts. */
  daily: boolean
  /** True if several kinds of report write to the table. */
  shared?: true
  /** Inserts the facts of some rows of a report. These facts must not depend on the other rows. */
  insert(tx: Tx, rows: ReportRows): Promise<void>
}

export interface ReportRows {
  /** SQL for the rows: account_id, about, day, row, place. */
  from: PendingQuery<Row[]>
  /** The set of the facts. 0 for reports stored in one transaction. */
  set: number
  /** Number of rows of the report that come before these. */
  before: number
}

/**
 * The sets that contain the rows and facts of a reading stored so far. Neither set counts before the whole reading
 * does.
 */
export interface StagedSets {
  rows: number
  facts: number
}

export type ReportSets = ReadonlyMap<AnyObservation, StagedSets>
