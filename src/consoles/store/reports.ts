import { aboutOf, type ReportSets, type RowsObservation } from "../../core/observation/facts.ts"
import { hexOf } from "../../core/observation/precedence.ts"
import type { Sql, Tx } from "../../database/types.ts"
import { isPlayReport, type PlayReport, type Report } from "../../lib/upstreams.ts"
import { type BestOptions, pagesOf, provenanceOf } from "../../measuring/record/best-rows.ts"
import { readWithPieces, rowColumns } from "../../measuring/record/report-sets.ts"
import { reportDigest } from "../kinds/reports-shape.ts"
import { storeOfAccounts } from "./of-accounts.ts"

const TABLE: BestOptions = { table: "report_day", key: ["account_id", "report", "about", "day", "digest"] }

/** Inserts a row for each version of a day's report. */
export async function storeReports<Seen extends RowsObservation & { file?: string }>(
  tx: Tx,
  report: Report | PlayReport,
  seen: readonly Seen[],
  staged: ReportSets,
): Promise<Seen[]> {
  const rowOf = (from: Seen) => {
    const { account: account_id, day, rows, file = null } = from
    const about = aboutOf(from)
    const digest = `\\x${hexOf(reportDigest(rows))}`
    const units = report === "sales" ? unitsIn(rows as readonly SoldRow[]) : null
    const key = { account_id, report, about, day, digest }
    return { ...key, units, file, ...rowColumns(from, staged), ...provenanceOf(from) }
  }
  return await storeOfAccounts(tx, TABLE, seen, rowOf)
}

interface SoldRow {
  app: string
  country: string
  units: number
  credit?: string | undefined
}

/** Sums units by app and storefront. */
function unitsIn(rows: readonly SoldRow[]): Record<string, Record<string, number>> {
  const sums = new Map<string, Map<string, number>>()
  for (const { app, country, units: sold, credit } of rows) {
    const units = credit === undefined ? sold : 0
    const byCountry = sums.get(app) ?? new Map<string, number>()
    sums.set(app, byCountry.set(country, (byCountry.get(country) ?? 0) + units))
  }
  return Object.fromEntries([...sums].map(([app, byDay]) => [app, Object.fromEntries(byDay)]))
}

const PAGE = 20

/** A stored report. Its rows are inline, or in pieces (set). */
export interface StoredReport {
  /** The subject of the report, such as an app. */
  about?: string
  /** The file and its generation. Null if the report is not in files. */
  file?: string | null
  pieces: number | null
  account: string
  day: string
  seenAt: Date
  parser: number
  sha256: Uint8Array
}

/** Yields the stored reports. */
export async function* readReports<Seen extends RowsObservation>(
  sql: Sql,
  report: Report | PlayReport,
  { since, sources }: { since: string | null; sources: readonly string[] },
): AsyncGenerator<Seen[]> {
  const isPlay = isPlayReport(report)
  const pages = pagesOf(
    (after: (Seen & StoredReport) | null) => sql<(Seen & StoredReport)[]>`
      select ${report}::text as kind, source, ${isPlay ? "android" : "ios"}::text as platform, account_id as account,
        about, file, day, rows, pieces, seen_at as "seenAt", parser, origin, sha256
      from report_day
      where report = ${report} and day >= ${since ?? "0001-01-01"} and source = any(${sources as string[]}::text[])
        and (account_id, about, day, seen_at, parser, sha256) > (
          ${after?.account ?? ""}, ${after?.about ?? ""}, ${after?.day ?? "0001-01-01"}::date,
          ${after?.seenAt ?? new Date(0)}, ${after?.parser ?? -1}::int, ${after?.sha256 ?? new Uint8Array()}::bytea
        )
      order by account_id, about, day, seen_at, parser, sha256
      limit ${PAGE}`,
  )
  for await (const page of readWithPieces<Seen & StoredReport>(sql, pages)) yield page.map(withoutAbout<Seen>)
}

/** Removes the fields that do not apply: only reports in files have `file`, and only reports about one app name it. */
function withoutAbout<Seen>({ about, file, ...rest }: StoredReport): Seen {
  return { ...rest, ...(about && { app: about }), ...(file && { file }) } as Seen
}

/**
 * Returns the observations whose rows differ from the latest stored rows of the same report, app and day. Observations
 * with equal rows are not stored again, so that `seen_at` stays the time when the rows first appeared.
 */
export async function changedReports<Seen extends RowsObservation>(sql: Sql, seen: readonly Seen[]): Promise<Seen[]> {
  if (seen.length === 0) return []
  const latest = await sql<{ at: number; digest: Uint8Array }[]>`
    select s.at::int, d.digest
    from unnest(
      ${seen.map(({ account }) => account)}::text[], ${seen.map(({ kind }) => kind)}::text[],
      ${seen.map(aboutOf)}::text[], ${seen.map(({ day }) => day)}::date[]
    ) with ordinality s (account, report, about, day, at)
    cross join lateral (
      select digest
      from report_day
      where account_id = s.account and report = s.report and about = s.about and day = s.day
      order by seen_at desc, parser desc, sha256 desc
      limit 1
    ) d
    order by s.at`
  const digests = new Map(latest.map(({ at, digest }) => [at - 1, digest]))
  return seen.filter((one, at) => {
    const digest = digests.get(at)
    return digest === undefined || !reportDigest(one.rows).equals(digest)
  })
}
