import type { Sql } from "../database/types.ts"
import { latestLookUps } from "../history/market/listed-apps.ts"
import { latestDifficulty } from "../observations/derived/keyword-metrics.ts"
import type { AnyKind } from "../observations/kind.ts"
import { appAds } from "../observations/kinds/app-ads.ts"
import { apps, latestNameSearch } from "../observations/kinds/apps.ts"
import { chart } from "../observations/kinds/chart.ts"
import { developer } from "../observations/kinds/developer.ts"
import { hints } from "../observations/kinds/hints.ts"
import { listing } from "../observations/kinds/listing.ts"
import { reviews } from "../observations/kinds/reviews.ts"
import { search } from "../observations/kinds/search.ts"
import type { LiveSubject } from "../vocabulary/live-read.ts"

const KIND_OF: Record<LiveSubject["kind"], Pick<AnyKind, "latest">> = {
  ...{ search, app: apps, listing, app_ads: appAds, chart, reviews, hints, developer },
  difficulty: { latest: latestDifficulty },
  chart_apps: { latest: latestLookUps },
  app_names: { latest: latestNameSearch },
}

/** Null = not since then. Of searches only this instance's own count: live is what it read itself. */
export async function findLatestReading(sql: Sql, wanted: LiveSubject, since: Date): Promise<Date | null> {
  const [row] = await sql<{ seenAt: Date | null }[]>`${KIND_OF[wanted.kind].latest!(sql, wanted, since)}`
  return row?.seenAt ?? null
}
