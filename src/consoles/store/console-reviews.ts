import type { AnyObservation } from "../../core/observation/provenance.ts"
import type { Tx } from "../../database/types.ts"
import { type BestOptions, provenanceOf, storeBest } from "../../measuring/record/best-rows.ts"
import type { StoreReview } from "../../reviews/kinds/review-shape.ts"
import { storeConsoleForms } from "../../reviews/store/console-feeds.ts"
import { readOfAccounts } from "./of-accounts.ts"

interface Review extends StoreReview {
  language?: string | undefined
  device?: string | undefined
  androidApi?: number | undefined
  versionCode?: number | undefined
  reply?: { text: string; at: Date } | undefined
}

interface Reviews extends AnyObservation {
  account: string
  storeId: string
  reviews: readonly Review[]
}

const TABLE: BestOptions = { table: "console_review", key: ["account_id", "app_id", "review_id"] }

/**
 * Stores what only the console has of each review (language, device, reply), and the texts of the reviews that the
 * store's page did not show.
 */
export async function storeConsoleReviews<Seen extends Reviews>(
  tx: Tx,
  seen: readonly Seen[],
  appOf: (from: Seen) => number,
): Promise<Seen[]> {
  const accepted = await readOfAccounts(tx, seen)
  const rows = accepted.flatMap((from) =>
    from.reviews.map((review) => ({ from, row: rowOf(from, appOf(from), review) })),
  )
  const best = await storeBest(tx, TABLE, rows)
  const pages = accepted.map((from) => ({ from, appId: appOf(from), account: from.account }))
  return [...new Set([...best, ...(await storeConsoleForms(tx, pages))])]
}

function rowOf(from: Reviews, app_id: number, review: Review) {
  const { id: review_id, at, language, device, version, androidApi, versionCode, reply } = review
  return {
    account_id: from.account,
    app_id,
    review_id,
    at: at.toISOString(),
    language: language ?? null,
    version: version ?? null,
    version_code: versionCode ?? null,
    device: device ?? null,
    android_api: androidApi ?? null,
    reply: reply?.text ?? null,
    reply_at: reply?.at.toISOString() ?? null,
    ...provenanceOf(from),
  }
}
