import type { PendingQuery, Row } from "postgres"
import type { Tx } from "../../database/types.ts"
import type { AdsReport, AnalyticsReport, Report } from "../../lib/upstreams.ts"
import type { AnyObservation } from "./provenance.ts"

export type FactsReport = Report | AnalyticsReport | AdsReport

/** What a report of an account said of a day. */
export interface RowsObservation extends AnyObservation {
  account: string
  day: string
  /** What it is about; of the account itself none of these. */
  app?: string
  campaign?: string
  country?: string
  rows: readonly object[]
}

export type ReportSubject = Pick<RowsObservation, "account" | "day" | "app" | "campaign" | "country">

export function aboutOf({ app, campaign, country }: Omit<ReportSubject, "day">): string {
  return app ?? campaign ?? country ?? ""
}

/** What follows from the rows of a report, and where it stands. */
export interface Facts {
  /** Holds what reports said, a row for each thing that was said. */
  said: "report_day" | "analytics_day" | "ads_report"
  /** Facts of all sets; the view without "_row" shows those that count. */
  table: string
  /** The column that says what a fact is about; null = the account itself. */
  about: string | null
  /** Every day has facts of its own; else what was said last stands alone. */
  daily: boolean
  /** Facts of several reports stand in the table. */
  shared?: true
  /** Facts of some rows: what other rows say changes none of them. */
  insert(tx: Tx, rows: SaidRows): Promise<void>
}

export interface SaidRows {
  /** account_id, about, day, row, place. */
  from: PendingQuery<Row[]>
  /** The set that the facts are of; 0 = of what is stored at once. */
  set: number
  /** How many rows stand before these. */
  before: number
}

/** Where the rows of a reading stand already, and its facts; neither counts before the reading does. */
export interface StagedSets {
  rows: number
  facts: number
}

export type ReportSets = ReadonlyMap<AnyObservation, StagedSets>
