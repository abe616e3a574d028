import type { DownloadsObservation, EngagementObservation } from "../../observations/kinds/analytics.ts"
import type { AnalyticsRow } from "../../observations/shapes/analytics.ts"
import type { AccountSource, AnalyticsReport } from "../../vocabulary/upstreams.ts"
import { type About, ReadFailure } from "../source.ts"
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
const ANALYTICS_PARSER = 1

/**
 * What a file says, day by day, oldest first: it holds several days whole. Of several segments the bytes stand after one another.
 * Devices, versions and kinds of pages are added up; unique counts cannot be, and are left out. Throws ReadFailure.
 */
export async function analyticsIn(
  bytes: Uint8Array,
  { account, app, report, processed }: AnalyticsQuestion,
  { seenAt, sha256 }: About,
): Promise<AnalyticsReading[]> {
  const { source, event } = SOURCE[report]
  const days = new Map<string, ReturnType<typeof createSum<AnalyticsRow>>>()
  for await (const row of reportTable(reportLines(bytes), ["Date", event, "Source Type", "Territory", "Counts"])) {
    if ((row.word("App Apple Identifier") ?? app) !== app)
      throw new ReadFailure("mismatched", `the report is of another app than ${app}`)
    const day = row.text("Date")
    if (!/^\d{4}-\d\d-\d\d$/.test(day) || day > processed)
      throw new ReadFailure("changed", "a row of the report is of no day before its processing")
    const sum = days.get(day) ?? createSum<AnalyticsRow>(["count"])
    days.set(day, sum)
    sum.add(rowOf(row, event))
  }
  const head = { kind: report, source, platform: "ios", seenAt, parser: ANALYTICS_PARSER, origin: "own", sha256 }
  return [...days].sort().map(([day, sum]) => {
    return { ...head, account, app, day, processed, rows: sum.rows() } as AnalyticsReading
  })
}

/** Where people came from is blank where it is not known; and territories are countries but for a few. */
function rowOf(row: ReportRow, event: string): AnalyticsRow {
  const territory = row.text("Territory").toLowerCase()
  return {
    event: row.text(event),
    from: row.text("Source Type") || "Unavailable",
    ...(/^[a-z]{2}$/.test(territory) && { country: territory }),
    count: row.count("Counts"),
  }
}
