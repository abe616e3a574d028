import { reportDigest } from "../../consoles/kinds/reports-shape.ts"
import { adsIn, type KeptAds } from "../../consoles/sources/ads/kept.ts"
import { analyticsIn } from "../../consoles/sources/analytics.ts"
import { metricsIn } from "../../consoles/sources/billing/revenuecat-metrics.ts"
import { pricesIn } from "../../consoles/sources/price-lists.ts"
import { reportIn } from "../../consoles/sources/reports.ts"
import { aboutOf } from "../../core/observation/facts.ts"
import { DEMO } from "../../core/observation/provenance.ts"
import type { Sql } from "../../database/types.ts"
import type { Observation } from "../../kinds.ts"
import { KINDS } from "../../kinds.ts"
import type { SourceName } from "../../lib/upstreams.ts"
import { type RawBody, ReadFailure } from "../../measuring/source.ts"
import type { Range, ReplaySubject } from "./replay-subjects.ts"

/** What a console or an ad account said, as it is held: of an account, and never of any other place. */
type HeldReport = Extract<Observation, { kind: (typeof ACCOUNT_KINDS)[number] }>

const ACCOUNT_KINDS = [
  "sales", "subscriptions", "subscription_events", "offer_redemptions", "engagement", "downloads", "prices",
  "ads_campaigns", "ads_keywords", "ads_days", "ads_terms", "ads_popularity", "billing_metrics",
] as const // biome-ignore format: a list to scan

/** Sources whose bodies are kept of accounts alone. */
export const KEPT_OF_ACCOUNTS: readonly SourceName[] = ACCOUNT_KINDS.flatMap((name) => kindOf(name).sources)

function kindOf(name: (typeof ACCOUNT_KINDS)[number]) {
  return KINDS.find((kind) => kind.name === name)!
}

/**
 * What is held of the reports, prices and ads of accounts, page by page: each day, file, product and campaign by the body that it
 * was read from. What the demo invented was read from none.
 */
export async function* readHeldReports(sql: Sql, { since, source }: Range): AsyncGenerator<ReplaySubject[]> {
  for (const name of ACCOUNT_KINDS) {
    const kind = kindOf(name)
    const sources = kind.sources.filter((one) => source === null || one === source)
    if (sources.length === 0) continue
    for await (const page of kind.stored!(sql, { since, sources }))
      yield (page as HeldReport[]).filter(({ origin }) => origin !== DEMO).map((held) => subjectOf(held))
  }
}

function subjectOf(held: HeldReport): ReplaySubject {
  const { source, platform, seenAt, sha256, parser, account, day } = held
  const what = "product" in held ? held.product : aboutOf(held) || held.kind
  return {
    ...{ source, platform, storefront: "", seenAt, sha256, parser, subjects: [`${account} ${what} ${day}`] },
    read: async (body) => ({ ...(await readAnew(held, body)), origin: held.origin }) as Observation,
    compare: (seen) => {
      const rows = (seen as HeldReport).rows
      if (reportDigest(held.rows).equals(reportDigest(rows))) return [null]
      // figures of a workspace stand in no line of a command's
      return [
        {
          places: Math.max(held.rows.length, rows.length),
          detail: `${held.rows.length} rows are ${rows.length} others now`,
        },
      ]
    },
  }
}

/** Throws ReadFailure. */
async function readAnew(held: HeldReport, body: RawBody): Promise<HeldReport> {
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
  // what came packed was a report, and what came plain said in words that there was none
  const status = bytes[0] === 0x1f && bytes[1] === 0x8b ? 200 : 404
  const seen = await reportIn({ status, bytes }, { account, report: held.kind, day }, body)
  return of(seen === "late" ? undefined : seen)
}

function of<Seen>(seen: Seen | undefined): Seen {
  if (seen === undefined) throw new ReadFailure("changed", "the body says nothing of the day any more")
  return seen
}

function isOfAds(held: HeldReport): held is KeptAds {
  return held.kind.startsWith("ads_")
}
