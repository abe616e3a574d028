import type { ReportSets, RowsObservation } from "../../core/observation/facts.ts"
import { hexOf } from "../../core/observation/precedence.ts"
import type { Sql, Tx } from "../../database/types.ts"
import type { Report } from "../../lib/upstreams.ts"
import { type BestOptions, pagesOf, provenanceOf } from "../../measuring/record/best-rows.ts"
import { readWithPieces, rowColumns } from "../../measuring/record/report-sets.ts"
import { reportDigest } from "../kinds/reports-shape.ts"
import { storeOfAccounts } from "./of-accounts.ts"

const TABLE: BestOptions = { table: "report_day", key: ["account_id", "report", "day", "digest"] }

/** Inserts a row for each version of a day's report. */
export async function storeReports<Seen extends RowsObservation>(
  tx: Tx,
  report: Report,
  seen: readonly Seen[],
  staged: ReportSets,
): Promise<Seen[]> {
  const rowOf = (from: Seen) => {
    const { account: account_id, day, rows } = from
    const digest = `\\x${hexOf(reportDigest(rows))}`
    const units = report === "sales" ? unitsIn(rows as readonly SoldRow[]) : null
    return { account_id, report, day, digest, units, ...rowColumns(from, staged), ...provenanceOf(from) }
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
  report: Report,
  { since, sources }: { since: string | null; sources: readonly string[] },
): AsyncGenerator<Seen[]> {
  const pages = pagesOf(
    (after: (Seen & StoredReport) | null) => sql<(Seen & StoredReport)[]>`
      select ${report}::text as kind, source, 'ios' as platform, account_id as account, day, rows, pieces,
        seen_at as "seenAt", parser, origin, sha256
      from report_day
      where report = ${report} and day >= ${since ?? "0001-01-01"} and source = any(${sources as string[]}::text[])
        and (account_id, day, seen_at, parser, sha256) > (
          ${after?.account ?? ""}, ${after?.day ?? "0001-01-01"}::date, ${after?.seenAt ?? new Date(0)},
          ${after?.parser ?? -1}::int, ${after?.sha256 ?? new Uint8Array()}::bytea
        )
      order by account_id, day, seen_at, parser, sha256
      limit ${PAGE}`,
  )
  yield* readWithPieces<Seen>(sql, pages)
}
