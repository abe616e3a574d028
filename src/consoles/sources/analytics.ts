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

/** A file of a report about one app of one account. */
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

/** Raised whenever a file is read otherwise. */
const ANALYTICS_PARSER = 2

/**
 * What a file says, day by day, oldest first: it holds several days whole. Of several segments the bytes stand after one another.
 * Devices, versions and kinds of pages are added up; unique counts cannot be, and are left out. Rows that cannot be read, or
 * that are of another app, are put aside. Throws ReadFailure if every row is one.
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
        throw new ReadFailure("mismatched", `it is of another app than ${app}`)
      const day = row.text("Date")
      if (!/^\d{4}-\d\d-\d\d$/.test(day) || !isRealDay(day) || day > processed)
        throw new ReadFailure("changed", "it is of no day before its processing")
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

/** Where people came from is blank where it is not known. Territories are countries but for a few. */
function rowOf(row: ReportRow, event: string): AnalyticsRow {
  const territory = row.text("Territory").toLowerCase()
  return analyticsRow({
    event: cutText(row.text(event) || "Unknown", MAX_NAME),
    from: cutText(row.text("Source Type") || "Unavailable", MAX_NAME),
    ...(/^[a-z]{2}$/.test(territory) && { country: territory }),
    count: row.count("Counts"),
  })
}
