import type { Sql } from "../../database/types.ts"
import type { AppAdsObservation } from "../kinds/app-ads.ts"

export interface AppAds extends Pick<AppAdsObservation, "seenAt" | "domain" | "state" | "records" | "variables"> {
  day: string
}

/** Returns the latest day's reading of an app (store_app id). Null if there is none. */
export async function readStoredAppAds(sql: Sql, appId: number): Promise<AppAds | null> {
  const [row] = await sql<AppAds[]>`
    select day, seen_at as "seenAt", domain, state, records, variables
    from app_ads
    where app_id = ${appId}
    order by day desc
    limit 1`
  return row ?? null
}
