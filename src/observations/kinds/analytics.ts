import { type AnalyticsDay, deriveFunnel } from "../derived/accounts/funnel.ts"
import { kind, type ObservationOf } from "../kind.ts"
import { readAnalytics, storeAnalytics } from "../rows/analytics.ts"
import { analyticsShape } from "../shapes/analytics.ts"

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
const derive = async (tx: Parameters<typeof deriveFunnel>[0], { placed }: { placed: readonly AnalyticsDay[] }) =>
  deriveFunnel(tx, placed)

/** How often an app was shown, looked at and tapped on a day. */
export const engagement = kind<EngagementObservation>({
  name: "engagement",
  sources: ["asc-engagement"],
  private: true,
  demo: true,
  everywhere: true,
  shape: analyticsShape,
  store: async (tx, seen) => ({ placed: await storeAnalytics(tx, "engagement", seen) }),
  derive,
  stored: (sql, range) => readAnalytics<EngagementObservation>(sql, "engagement", range),
  example: {
    source: "asc-engagement",
    ...EXAMPLE,
    rows: [{ event: "Impression", from: "App Store search", country: "de", count: 412 }],
  },
})

/** How often it was downloaded on a day, and in which way. */
export const downloads = kind<DownloadsObservation>({
  name: "downloads",
  sources: ["asc-downloads"],
  private: true,
  demo: true,
  everywhere: true,
  shape: analyticsShape,
  store: async (tx, seen) => ({ placed: await storeAnalytics(tx, "downloads", seen) }),
  derive,
  stored: (sql, range) => readAnalytics<DownloadsObservation>(sql, "downloads", range),
  example: {
    source: "asc-downloads",
    ...EXAMPLE,
    rows: [{ event: "First-time download", from: "App Store search", country: "de", count: 31 }],
  },
})
