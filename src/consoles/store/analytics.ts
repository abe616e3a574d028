import type { ReportSets, RowsObservation } from "../../core/observation/facts.ts"
import type { Sql, Tx } from "../../database/types.ts"
import type { AnalyticsReport } from "../../lib/upstreams.ts"
import { type BestOptions, pagesOf, provenanceOf } from "../../measuring/record/best-rows.ts"
import { readWithPieces, rowColumns } from "../../measuring/record/report-sets.ts"
import type { AnalyticsRow } from "../kinds/analytics-shape.ts"
import { storeOfAccounts } from "./of-accounts.ts"

interface AnalyticsObservation extends RowsObservation {
  app: string
  processed: string
  rows: readonly AnalyticsRow[]
}

const TABLE: BestOptions = { table: "analytics_day", key: ["account_id", "app", "report", "day", "processed"] }

/** Inserts a row for each day in each file. */
export async function storeAnalytics<Seen extends AnalyticsObservation>(
  tx: Tx,
  report: AnalyticsReport,
  seen: readonly Seen[],
  staged: ReportSets,
): Promise<Seen[]> {
  const rowOf = (from: Seen) => {
    const { account: account_id, app, day, processed } = from
    return { account_id, app, report, day, processed, ...rowColumns(from, staged), ...provenanceOf(from) }
  }
  return await storeOfAccounts(tx, TABLE, seen, rowOf)
}

const PAGE = 20

/** Yields the stored reports, one file after another. */
export async function* readAnalytics<Seen extends AnalyticsObservation>(
  sql: Sql,
  report: AnalyticsReport,
  { since, sources }: { since: string | null; sources: readonly string[] },
): AsyncGenerator<Seen[]> {
  const pages = pagesOf(
    (after: (Seen & { pieces: number | null }) | null) => sql<(Seen & { pieces: number | null })[]>`
      select ${report}::text as kind, source, 'ios' as platform, account_id as account, app, day, processed, rows,
        pieces, seen_at as "seenAt", parser, origin, sha256
      from analytics_day
      where report = ${report} and day >= ${since ?? "0001-01-01"} and source = any(${sources as string[]}::text[])
        and (account_id, app, day, processed) > (
          ${after?.account ?? ""}, ${after?.app ?? ""}, ${after?.day ?? "0001-01-01"}::date,
          ${after?.processed ?? "0001-01-01"}::date
        )
      order by account_id, app, day, processed
      limit ${PAGE}`,
  )
  yield* readWithPieces<Seen>(sql, pages)
}
