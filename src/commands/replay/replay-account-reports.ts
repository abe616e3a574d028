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
      yield (page as StoredReport[]).filter(({ origin }) => origin !== DEMO).map((held) => subjectOf(held))
  }
}

function subjectOf(held: StoredReport): ReplaySubject {
  const { source, platform, seenAt, sha256, parser, account, day } = held
  const what = "product" in held ? held.product : aboutOf(held) || held.kind
  return {
    source,
    platform,
    storefront: "",
    seenAt,
    sha256,
    parser,
    subjects: [`${account} ${what} ${day}`],
    read: async (body) => ({ ...(await readAnew(held, body)), origin: held.origin }) as Observation,
    compare: (seen) => {
      const rows = (seen as StoredReport).rows
      if (reportDigest(held.rows).equals(reportDigest(rows))) return [null]
      // the output of a command must not contain figures of a workspace
      return [
        {
          places: Math.max(held.rows.length, rows.length),
          detail: `${held.rows.length} rows became ${rows.length} different ones`,
        },
      ]
    },
  }
}

/** Parses the body of a stored report. Throws ReadFailure. */
async function readAnew(held: StoredReport, body: RawBody): Promise<StoredReport> {
  const { account, day } = held
  const { bytes } = body
  if (isOfAds(held)) return adsIn(held, body)
  if (held.kind === "billing_metrics") return metricsIn(account, body)
  if (held.kind === "prices") return pricesIn(bytes, held, body)
  if (held.kind === "engagement" || held.kind === "downloads") {
    const { kind: report, app, processed } = held
    const days = await analyticsIn(bytes, { account, app, report, processed }, body)
    return of(days.find((one) => one.day === day))
  }
  if (isOfPlay(held)) return await readFileAnew(held, body)
  // a report is compressed; an uncompressed body is the message that there is no report
  const status = bytes[0] === 0x1f && bytes[1] === 0x8b ? 200 : 404
  const seen = await reportIn({ status, bytes }, { account, report: held.kind, day }, body)
  return of(seen === "late" ? undefined : seen)
}

function of<Seen>(seen: Seen | undefined): Seen {
  if (seen === undefined) throw new ReadFailure("changed", "the body has no such day any more")
  return seen
}

type StoredFile = Extract<StoredReport, { file: string }>

function isOfPlay(held: StoredReport): held is StoredFile {
  return isPlayReport(held.kind)
}

/** Parses the stored file again. The file covers a month, but only the observation's day is compared. */
async function readFileAnew(held: StoredFile, body: RawBody): Promise<StoredReport> {
  const [name, generation] = held.file.split("#") as [string, string]
  const updated = held.seenAt.toISOString()
  const parsed = await parsePlayReport({ name, generation, updated, text: playText(body.bytes) })
  if (parsed.problem !== null) throw new ReadFailure("changed", parsed.problem)
  const days = playObservations(parsed, held.account, body) as StoredFile[]
  return of(days.find(({ day }) => day === held.day))
}

function isOfAds(held: StoredReport): held is StoredAdsBody {
  return held.kind.startsWith("ads_")
}
