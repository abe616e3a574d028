import { chart } from "../charts/kinds/chart.ts"
import { latestLookUps } from "../charts/read/listed-apps.ts"
import type { AnyKind } from "../core/kind.ts"
import type { Attempt } from "../core/observation/attempt.ts"
import type { Sql } from "../database/types.ts"
import { hints } from "../keywords/kinds/hints.ts"
import { search } from "../keywords/kinds/search.ts"
import { latestDifficulty } from "../keywords/store/keyword-metrics.ts"
import type { LiveSubject } from "../lib/live-read.ts"
import { appAds } from "../listings/kinds/app-ads.ts"
import { listing } from "../listings/kinds/listing.ts"
import { reviews } from "../reviews/kinds/reviews.ts"
import { apps, latestNameSearch } from "../stores/kinds/apps.ts"
import { developer } from "../stores/kinds/developer.ts"
import type { AskMark } from "./live-asks.ts"
import type { Failure } from "./rescheduling.ts"

const KIND_OF: Record<LiveSubject["kind"], Pick<AnyKind, "latest">> = {
  search,
  app: apps,
  listing,
  app_ads: appAds,
  chart,
  reviews,
  hints,
  developer,
  difficulty: { latest: latestDifficulty },
  chart_apps: { latest: latestLookUps },
  app_names: { latest: latestNameSearch },
}

/**
 * Returns the time of the latest reading since then. Null if there is none. Only this instance's own searches count,
 * because a live read is its own.
 */
export async function findLatestReading(sql: Sql, wanted: LiveSubject, since: Date): Promise<Date | null> {
  const [row] = await sql<{ seenAt: Date | null }[]>`${KIND_OF[wanted.kind].latest!(sql, wanted, since)}`
  return row?.seenAt ?? null
}

/**
 * Returns how the reading failed since it was requested. Untracked rows are deleted soon after they are read; then the
 * log of failed reads has the outcome. "gone" if it has none. Null if nothing failed.
 */
export async function findFailureSince(
  sql: Sql,
  wanted: LiveSubject,
  { askedAt, lastAttempt }: AskMark,
): Promise<Failure | "gone" | null> {
  const { kind, platform, storefront, subject } = wanted
  const [row] = await sql<{ failure: Failure | "gone" | null }[]>`
    select case
        when d.kind is null then coalesce(a.outcome, 'gone')
        when d.failed_at >= ${askedAt} then d.failure
        else 'not_found'
      end as failure
    from (select 1) one
    left join due d on (d.kind, d.platform, d.storefront, d.subject) = (${kind}, ${platform}, ${storefront}, ${subject})
    left join lateral (
      select outcome
      from attempt
      where (kind, platform, storefront, subject) = (${LOGGED_AS[kind]}, ${platform}, ${storefront}, ${subject})
        and id > ${lastAttempt}
      order by id desc
      limit 1
    ) a on true
    where d.kind is null
      or (d.lease is null
        and (d.failed_at >= ${askedAt} or ${MAY_BE_NOTHING.includes(kind)} and d.measured_at >= ${askedAt}))`
  return row?.failure ?? null
}

const LOGGED_AS: Record<LiveSubject["kind"], Attempt["kind"]> = {
  search: "search",
  app: "apps",
  listing: "listing",
  app_ads: "app_ads",
  chart: "chart",
  chart_apps: "apps",
  reviews: "reviews",
  developer: "developer",
  hints: "hints",
  difficulty: "apps",
  // never logged
  app_names: "apps",
}

/** Kinds whose reading may succeed without data: the store does not have it, or the ten apps give no figure. */
const MAY_BE_NOTHING: readonly LiveSubject["kind"][] = ["listing", "reviews", "developer", "difficulty", "chart_apps"]
