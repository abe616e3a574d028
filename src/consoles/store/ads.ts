import { aboutOf, type ReportSets, type RowsObservation } from "../../core/observation/facts.ts"
import { hexOf } from "../../core/observation/precedence.ts"
import type { Sql, Tx } from "../../database/types.ts"
import type { AdsReport } from "../../lib/upstreams.ts"
import { type BestOptions, pagesOf, provenanceOf } from "../../measuring/record/best-rows.ts"
import { readWithPieces, rowColumns } from "../../measuring/record/report-sets.ts"
import { reportDigest } from "../kinds/reports-shape.ts"
import { storeOfAccounts } from "./of-accounts.ts"
import type { StoredReport } from "./reports.ts"

const TABLE: BestOptions = { table: "ads_report", key: ["account_id", "report", "about", "day", "digest"] }

/** Inserts a row for each version of a day's report. */
export async function storeAds<Seen extends RowsObservation>(
  tx: Tx,
  report: AdsReport,
  seen: readonly Seen[],
  staged: ReportSets,
): Promise<Seen[]> {
  const rowOf = (from: Seen) => {
    const { account: account_id, day, rows } = from
    const digest = `\\x${hexOf(reportDigest(rows))}`
    return { account_id, report, about: aboutOf(from), day, digest, ...rowColumns(from, staged), ...provenanceOf(from) }
  }
  return await storeOfAccounts(tx, TABLE, seen, rowOf)
}

const PAGE = 20

interface StoredAds extends StoredReport {
  about: string
}

/**
 * The field that has the report's subject: the campaign or the country. Reports that are missing here have no subject.
 */
const ABOUT: Partial<Record<AdsReport, "campaign" | "country">> = {
  ads_keywords: "campaign",
  ads_days: "campaign",
  ads_terms: "campaign",
  ads_popularity: "country",
}

/** Yields the stored reports, one subject after another. */
export async function* readAds<Seen extends RowsObservation>(
  sql: Sql,
  report: AdsReport,
  { since, sources }: { since: string | null; sources: readonly string[] },
): AsyncGenerator<Seen[]> {
  const pages = pagesOf(
    (after: StoredAds | null) => sql<StoredAds[]>`
      select ${report}::text as kind, source, 'ios' as platform, account_id as account, about, day, rows, pieces,
        seen_at as "seenAt", parser, origin, sha256
      from ads_report
      where report = ${report} and day >= ${since ?? "0001-01-01"} and source = any(${sources as string[]}::text[])
        and (account_id, about, day, seen_at, parser, sha256) > (
          ${after?.account ?? ""}, ${after?.about ?? ""}, ${after?.day ?? "0001-01-01"}::date,
          ${after?.seenAt ?? new Date(0)}, ${after?.parser ?? -1}::int, ${after?.sha256 ?? new Uint8Array()}::bytea
        )
      order by account_id, about, day, seen_at, parser, sha256
      limit ${PAGE}`,
  )
  const name = ABOUT[report]
  // The name of the subject's field depends on the report, and the compiler cannot follow this.
  for await (const rows of readWithPieces(sql, pages))
    yield rows.map(({ about, ...rest }) => ({ ...rest, ...(name && { [name]: about }) }) as unknown as Seen)
}
