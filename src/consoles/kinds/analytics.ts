import { kind, type ObservationOf } from "../../core/kind.ts"
import { readAnalytics, storeAnalytics } from "../store/analytics.ts"
import { replaceFacts } from "../store/derived/facts.ts"
import { DOWNLOADS, ENGAGEMENT } from "../store/derived/funnel.ts"
import { analyticsShape } from "./analytics-shape.ts"

type Analytics<Name extends string, Source extends "asc-engagement" | "asc-downloads"> = Omit<
  ObservationOf<Name, Source, typeof analyticsShape>,
  "storefront"
>
export type EngagementObservation = Analytics<"engagement", "asc-engagement">
export type DownloadsObservation = Analytics<"downloads", "asc-downloads">

const EXAMPLE = {
  platform: "ios",
  seenAt: "2025-10-25T03:25:01Z",
  account: "ac_0123456789abcdef01",
  app: "310633997",
  day: "2025-10-22",
  processed: "2025-10-24",
}

/** Impressions, page views and taps of an app on a day. */
export const engagement = kind<EngagementObservation>({
  name: "engagement",
  sources: ["asc-engagement"],
  private: true,
  demo: true,
  everywhere: true,
  shape: analyticsShape,
  facts: ENGAGEMENT,
  store: async (tx, seen, _, staged) => ({ placed: await storeAnalytics(tx, "engagement", seen, staged) }),
  derive: (tx, { placed }, _, staged) => replaceFacts(tx, "engagement", ENGAGEMENT, placed, staged),
  stored: (sql, range) => readAnalytics<EngagementObservation>(sql, "engagement", range),
  example: {
    source: "asc-engagement",
    ...EXAMPLE,
    rows: [{ event: "Impression", from: "App Store search", country: "de", count: 412 }],
  },
})

/** Downloads of an app on a day, by type. */
export const downloads = kind<DownloadsObservation>({
  name: "downloads",
  sources: ["asc-downloads"],
  private: true,
  demo: true,
  everywhere: true,
  shape: analyticsShape,
  facts: DOWNLOADS,
  store: async (tx, seen, _, staged) => ({ placed: await storeAnalytics(tx, "downloads", seen, staged) }),
  derive: (tx, { placed }, _, staged) => replaceFacts(tx, "downloads", DOWNLOADS, placed, staged),
  stored: (sql, range) => readAnalytics<DownloadsObservation>(sql, "downloads", range),
  example: {
    source: "asc-downloads",
    ...EXAMPLE,
    rows: [{ event: "First-time download", from: "App Store search", country: "de", count: 31 }],
  },
})
