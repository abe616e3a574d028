import { Buffer } from "node:buffer"
import { aboutOf } from "../../core/observation/facts.ts"
import type { Tx } from "../../database/types.ts"
import type { AccountTurn } from "../account-kind.ts"
import type { AdsChangesObservation, AdsPopularityObservation } from "../kinds/ads-insights.ts"
import type { AdsDaysObservation, AdsTermsObservation } from "../kinds/ads-metrics.ts"
import type { AdsCampaignsObservation, AdsKeywordsObservation } from "../kinds/ads-things.ts"
import { reportDigest } from "../kinds/reports-shape.ts"

export type AdsReading =
  | AdsCampaignsObservation
  | AdsKeywordsObservation
  | AdsDaysObservation
  | AdsTermsObservation
  | AdsChangesObservation
  | AdsPopularityObservation

/** Current values: valid until a newer report replaces them. */
const LASTING: readonly AdsReading["kind"][] = ["ads_campaigns", "ads_keywords"]

/**
 * Stores the rows of a report unless they equal the latest stored rows, so that `seen_at` stays the time when the rows
 * first appeared. `finish` runs in the same transaction.
 */
export async function storeAdsReadings(
  { sql, record, now }: Pick<AccountTurn, "sql" | "record" | "now">,
  readings: readonly AdsReading[],
  finish: (tx: Tx) => Promise<void>,
): Promise<void> {
  const fresh: AdsReading[] = []
  for (const reading of readings) if (!(await findStanding(sql, reading))) fresh.push(reading)
  await record(sql, fresh, now, { all: true, finish })
}

async function findStanding(sql: AccountTurn["sql"], reading: AdsReading): Promise<boolean> {
  const { kind, account, day, rows } = reading
  const isLasting = LASTING.includes(kind)
  const [latest] = await sql<{ digest: Uint8Array }[]>`
    select digest
    from ads_report
    where account_id = ${account} and report = ${kind} and about = ${aboutOf(reading)}
      and (${isLasting} or day = ${day})
    order by day desc, seen_at desc, parser desc, sha256 desc
    limit 1`
  return latest !== undefined && Buffer.from(latest.digest).equals(reportDigest(rows))
}
