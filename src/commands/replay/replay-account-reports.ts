import { reportDigest } from "../../consoles/kinds/reports-shape.ts"
import { adsIn, type StoredAdsBody } from "../../consoles/sources/ads/stored-bodies.ts"
import { analyticsIn } from "../../consoles/sources/analytics.ts"
import { metricsIn } from "../../consoles/sources/billing/revenuecat-metrics.ts"
import { parsePlayReport, playObservations } from "../../consoles/sources/play/reports.ts"
import { playText } from "../../consoles/sources/play/text.ts"
import { pricesIn } from "../../consoles/sources/price-lists.ts"
import { reportIn } from "../../consoles/sources/reports.ts"
import { aboutOf } from "../../core/observation/facts.ts"
import { DEMO } from "../../core/observation/provenance.ts"
import type { Sql } from "../../database/types.ts"
import type { Observation } from "../../kinds.ts"
import { KINDS } from "../../kinds.ts"
import { isPlayReport, PLAY_COUNT_REPORTS, type SourceName } from "../../lib/upstreams.ts"
import { type RawBody, ReadFailure } from "../../measuring/source.ts"
import type { Range, ReplaySubject } from "./replay-subjects.ts"

/** A stored report of a console or ad account. It belongs to an account, never to a storefront. */
type StoredReport = Extract<Observation, { kind: (typeof ACCOUNT_KINDS)[number] }>

const ACCOUNT_KINDS = [
  "sales",
  "subscriptions",
  "subscription_events",
  "offer_redemptions",
  "engagement",
  "downloads",
  "prices",
  "ads_campaigns",
  "ads_keywords",
  "ads_days",
  "ads_terms",
  "ads_popularity",
  ...PLAY_COUNT_REPORTS,
  "billing_metrics",
] as const

/** Sources whose bodies belong only to accounts. */
export const KEPT_OF_ACCOUNTS: readonly SourceName[] = ACCOUNT_KINDS.flatMap((name) => kindOf(name).sources)

function kindOf(name: (typeof ACCOUNT_KINDS)[number]) {
  return KINDS.find((kind) => kind.name === name)!
}

/**
 * Yields stored reports, prices and ads of accounts in pages: one subject for each day, file, product or campaign with
 * a body. Data of the demo has no body.
 */
export async function* readStoredReports(sql: Sql, { since, source }: Range): AsyncGenerator<ReplaySubject[]> {
  for (const name of ACCOUNT_KINDS) {
    const kind = kindOf(name)
    const sources = kind.sources.filter((one) => source === null || one === source)
    if (sources.length === 0) continue
    for await (const page of kind.stored!(sql, { since, sources }))
      yield (page as StoredReport[]).filter(({ origin }) => origin !== DEMO).map((report) => subjectOf(report))
  }
}

function subjectOf(storedReport: StoredReport): ReplaySubject {
  const { source, platform, seenAt, sha256, parser, account, day } = storedReport
  const what = "product" in storedReport ? storedReport.product : aboutOf(storedReport) || storedReport.kind
  return {
    source,
    platform,
    storefront: "",
    seenAt,
    sha256,
    parser,
    subjects: [`${account} ${what} ${day}`],
    read: async (body) => ({ ...(await readAnew(storedReport, body)), origin: storedReport.origin }) as Observation,
    compare: (seen) => {
      const rows = (seen as StoredReport).rows
      if (reportDigest(storedReport.rows).equals(reportDigest(rows))) return [null]
      // the output of a command must not contain figures of a workspace
      return [
        {
          places: Math.max(storedReport.rows.length, rows.length),
          detail: `${storedReport.rows.length} rows became ${rows.length} different ones`,
        },
      ]
    },
  }
}

/** Parses the body of a stored report. Throws ReadFailure. */
async function readAnew(storedReport: StoredReport, body: RawBody): Promise<StoredReport> {
  const { account, day } = storedReport
  const { bytes } = body
  if (isOfAds(storedReport)) return adsIn(storedReport, body)
  if (storedReport.kind === "billing_metrics") return metricsIn(account, body)
  if (storedReport.kind === "prices") return pricesIn(bytes, storedReport, body)
  if (storedReport.kind === "engagement" || storedReport.kind === "downloads") {
    const { kind: report, app, processed } = storedReport
    const days = await analyticsIn(bytes, { account, app, report, processed }, body)
    return of(days.find((one) => one.day === day))
  }
  if (isOfPlay(storedReport)) return await readFileAnew(storedReport, body)
  // a report is compressed; an uncompressed body is the message that there is no report
  const status = bytes[0] === 0x1f && bytes[1] === 0x8b ? 200 : 404
  const seen = await reportIn({ status, bytes }, { account, report: storedReport.kind, day }, body)
  return of(seen === "late" ? undefined : seen)
}

function of<Seen>(seen: Seen | undefined): Seen {
  if (seen === undefined) throw new ReadFailure("changed", "the body has no such day any more")
  return seen
}

type StoredFile = Extract<StoredReport, { file: string }>

function isOfPlay(report: StoredReport): report is StoredFile {
  return isPlayReport(report.kind)
}

/** Parses the stored file again. The file covers a month, but only the observation's day is compared. */
async function readFileAnew(storedFile: StoredFile, body: RawBody): Promise<StoredReport> {
  const [name, generation] = storedFile.file.split("#") as [string, string]
  const updated = storedFile.seenAt.toISOString()
  const parsed = await parsePlayReport({ name, generation, updated, text: playText(body.bytes) })
  if (parsed.problem !== null) throw new ReadFailure("changed", parsed.problem)
  const days = playObservations(parsed, storedFile.account, body) as StoredFile[]
  return of(days.find(({ day }) => day === storedFile.day))
}

function isOfAds(report: StoredReport): report is StoredAdsBody {
  return report.kind.startsWith("ads_")
}
