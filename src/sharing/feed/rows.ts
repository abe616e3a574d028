import { sentenceOf } from "../../alerts/alert.ts"
import { type FeedAlert, MAX_ALERTS, readFeed } from "../../alerts/feed.ts"
import { FEED_TYPES } from "../../alerts/types.ts"
import type { Side } from "../../core/observation/provenance.ts"
import type { TrackedApp } from "../../core/tracked-app.ts"
import type { Sql } from "../../database/types.ts"
import { readKeywordsNow } from "../../keywords/read/ranks.ts"
import { metricsOf, UNMEASURED } from "../../keywords/store/keyword-figures.ts"
import type { CsvCell } from "../../lib/csv.ts"
import { dayOf } from "../../lib/days.ts"
import { readStorefrontFeeds } from "../../reviews/read/feeds.ts"
import { findInFeeds } from "../../reviews/read/find.ts"
import type { StoredReview } from "../../reviews/read/reviews.ts"
import type { FEED_DATASETS } from "./datasets.ts"

/** Maximum number of entries or rows of alerts and reviews. The newest are used. */
const MAX_ENTRIES = 100

const PUBLIC_TYPES = FEED_TYPES.filter(({ hasMoney }) => !hasMoney).map(({ name }) => name)

/**
 * Returns the newest alerts about an app. Leaves out withdrawn alerts, alerts about money, and alerts that an import
 * raised about past days.
 */
export async function readPublicAlerts(sql: Sql, workspaceId: number, app: TrackedApp): Promise<FeedAlert[]> {
  const only = { appId: app.id, types: PUBLIC_TYPES }
  const { alerts } = await readFeed(sql, { workspaceId, appIds: null, limit: MAX_ALERTS, rights: [], only })
  return alerts.filter(({ withdrawnAt, history }) => withdrawnAt === null && !history).slice(0, MAX_ENTRIES)
}

/** Returns the newest reviews of a storefront. Empty if the app is not in the store. */
export async function readPublicReviews(sql: Sql, app: TrackedApp, side: Side, today: string): Promise<StoredReview[]> {
  const appId = side.platform === "ios" ? app.iosApp : app.androidApp
  if (appId === null) return []
  const [names = []] = await readStorefrontFeeds(sql, [{ ...side, app: appId }])
  const feeds = names.map((feed) => ({ appId, feed }))
  return (await findInFeeds(sql, feeds, { from: "2008-01-01", to: today }, MAX_ENTRIES)).reviews
}

type Row<Dataset extends keyof typeof FEED_DATASETS> = Record<
  (typeof FEED_DATASETS)[Dataset]["columns"][number],
  CsvCell
>

export function alertCells(alert: FeedAlert, app: TrackedApp): Row<"alerts"> {
  const { id, day, at, type, platform, storefront } = alert
  const place = { platform, country: storefront }
  return { id, day, at: at.toISOString(), type, appName: app.name, ...place, sentence: sentenceOf(alert) }
}

export function reviewCells(review: StoredReview, { platform, storefront }: Side): Row<"reviews"> {
  const { id, at, stars: rating, title, text, version } = review
  return { id, date: at.toISOString(), rating, title, text, version, country: storefront, platform }
}

/** Returns the latest rank of each keyword in a storefront. An unmeasured keyword has empty cells. */
export async function readRankCells(sql: Sql, app: TrackedApp, side: Side, now: Date): Promise<Row<"ranks">[]> {
  const { day, keywords } = await readKeywordsNow(sql, app, side)
  return keywords.map(({ term, measured, rank, depth, source, figures }) => {
    const { popularity, difficulty } = figures ? metricsOf(figures, side.platform, dayOf(now)) : UNMEASURED
    const place = { country: side.storefront, platform: side.platform }
    return { term, ...place, day, measured, rank, searchDepth: depth, source, popularity, difficulty }
  })
}
