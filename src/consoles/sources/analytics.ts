import { cutText } from "../../lib/text.ts"
import { isRealDay } from "../../lib/time.ts"
import type { AccountSource, AnalyticsReport } from "../../lib/upstreams.ts"
import { checkedRow, PutAside } from "../../measuring/parsing/put-aside.ts"
import { type About, ReadFailure } from "../../measuring/source.ts"
import type { DownloadsObservation, EngagementObservation } from "../kinds/analytics.ts"
import { AnalyticsRow } from "../kinds/analytics-shape.ts"
import { MAX_NAME } from "../kinds/reports-shape.ts"
import { reportLines } from "./report-lines.ts"
import { createSum, type ReportRow, reportTable } from "./report-table.ts"

type AnalyticsReading = EngagementObservation | DownloadsObservation

/** A file of a report about one app, read with one account. */
interface AnalyticsQuestion {
  account: string
  /** The store's id. */
  app: string
  report: AnalyticsReport
  processed: string
}

const SOURCE: Record<AnalyticsReport, { source: AccountSource; event: string }> = {
  engagement: { source: "asc-engagement", event: "Event" },
  downloads: { source: "asc-downloads", event: "Download Type" },
}

/** Raise this whenever files are parsed differently. */
const ANALYTICS_PARSER = 2

/**
 * Parses a file, which has several complete days, and returns the days oldest first. The bytes of several segments are
 * concatenated. Rows that differ only in device, version or page type are summed; unique counts are left out, because
 * they cannot be summed. Unreadable rows, and rows of another app, are skipped. Throws ReadFailure when no row can be
 * used.
 */
export async function analyticsIn(
  bytes: Uint8Array,
  { account, app, report, processed }: AnalyticsQuestion,
  { seenAt, sha256 }: About,
  aside = new PutAside(),
): Promise<AnalyticsReading[]> {
  const { source, event } = SOURCE[report]
  const days = new Map<string, ReturnType<typeof createSum<AnalyticsRow>>>()
  const columns = ["Date", event, "Source Type", "Territory", "Counts"]
  for await (const row of reportTable(reportLines(bytes), columns, aside))
    aside.row(row.name, () => {
      if ((row.word("App Apple Identifier") ?? app) !== app)
        throw new ReadFailure("mismatched", `it is about another app than ${app}`)
      const day = row.text("Date")
      if (!/^\d{4}-\d\d-\d\d$/.test(day) || !isRealDay(day) || day > processed)
        throw new ReadFailure("changed", "its day is invalid or after its processing date")
      const read = rowOf(row, event)
      const sum = days.get(day) ?? createSum<AnalyticsRow>(["count"])
      days.set(day, sum)
      sum.add(read)
    })
  aside.assertSome([...days])
  const head = { kind: report, source, platform: "ios", seenAt, parser: ANALYTICS_PARSER, origin: "own", sha256 }
  return [...days].sort().map(([day, sum]) => {
    return { ...head, account, app, day, processed, rows: sum.rows() } as AnalyticsReading
  })
}

const analyticsRow = checkedRow<AnalyticsRow>(AnalyticsRow)

/** A blank source type means unknown. A territory that is not a country is left out. */
function rowOf(row: ReportRow, event: string): AnalyticsRow {
  const territory = row.text("Territory").toLowerCase()
  return analyticsRow({
    event: cutText(row.text(event) || "Unknown", MAX_NAME),
    from: cutText(row.text("Source Type") || "Unavailable", MAX_NAME),
    ...(/^[a-z]{2}$/.test(territory) && { country: territory }),
    count: row.count("Counts"),
  })
}
