import { kind, type ObservationOf } from "../../core/kind.ts"
import type { Facts } from "../../core/observation/facts.ts"
import type { PlayCountReport } from "../../lib/upstreams.ts"
import { replaceFacts } from "../store/derived/facts.ts"
import { PLAY_EARNINGS, PLAY_SALES, playCounts } from "../store/derived/play.ts"
import { readReports, storeReports } from "../store/reports.ts"
import { playCountShape, playEarningsShape, playSalesShape } from "./play-shape.ts"

type Counts<Name extends PlayCountReport> = Omit<
  ObservationOf<Name, "play-console", typeof playCountShape>,
  "storefront"
>
type PlayEarningsObservation = Omit<
  ObservationOf<"play_earnings", "play-console", typeof playEarningsShape>,
  "storefront"
>
type PlaySalesObservation = Omit<ObservationOf<"play_sales", "play-console", typeof playSalesShape>, "storefront">
/** One day of a file of Google Play Console. */
export type PlayObservation =
  | { [Name in PlayCountReport]: Counts<Name> }[PlayCountReport]
  | PlayEarningsObservation
  | PlaySalesObservation

const HEAD = {
  source: "play-console",
  platform: "android",
  seenAt: "2025-10-25T03:25:01Z",
  account: "ac_0123456789abcdef01",
  day: "2025-10-23",
} as const
const APP = "com.example.tea"
const GENERATION = "#1761362700000000"

/** Returns the kind of a report with counts of an app on a day. Reports without facts are stored only as evidence. */
function countsOf<Name extends PlayCountReport>(
  name: Name,
  { file, row, facts }: { file: string; row: object; facts?: Facts },
) {
  return kind<Counts<Name>>({
    name,
    sources: ["play-console"],
    private: true,
    everywhere: true,
    shape: playCountShape,
    ...(facts && { facts }),
    store: async (tx, seen, _, staged) => ({ placed: await storeReports(tx, name, seen, staged) }),
    ...(facts && {
      derive: (tx, { placed }, _, staged) => replaceFacts(tx, name, facts, placed, staged),
    }),
    stored: (sql, range) => readReports<Counts<Name>>(sql, name, range),
    example: { ...HEAD, app: APP, file: `stats/${file}${GENERATION}`, rows: [row] },
  })
}

const INSTALLED = { userInstalls: 25, userUninstalls: 11, deviceUpgrades: 3, activeDevices: 1830 }

export const playInstalls = countsOf("play_installs", {
  file: `installs/installs_${APP}_202510_overview.csv`,
  row: INSTALLED,
  facts: playCounts("play_installs"),
})

export const playInstallsCountry = countsOf("play_installs_country", {
  file: `installs/installs_${APP}_202510_country.csv`,
  row: { country: "de", ...INSTALLED },
  facts: playCounts("play_installs_country"),
})

export const playStoreCountry = countsOf("play_store_country", {
  file: `store_performance/store_performance_${APP}_202510_country.csv`,
  row: { country: "de", visitors: 149, acquisitions: 63 },
  facts: playCounts("play_store_country"),
})

export const playStoreSources = countsOf("play_store_sources", {
  file: `store_performance/store_performance_${APP}_202510_traffic_source.csv`,
  row: { from: "Google Play search", term: "tea timer", visitors: 240, acquisitions: 69 },
  facts: playCounts("play_store_sources"),
})

export const playRatings = countsOf("play_ratings", {
  file: `ratings/ratings_${APP}_202510_overview.csv`,
  row: { ratingOfDay: "4.33", rating: "4.61" },
})

export const playRatingsCountry = countsOf("play_ratings_country", {
  file: `ratings/ratings_${APP}_202510_country.csv`,
  row: { country: "de", ratingOfDay: "5.00", rating: "4.58" },
})

export const playCrashes = countsOf("play_crashes", {
  file: `crashes/crashes_${APP}_202510_overview.csv`,
  row: { crashes: 2, freezes: 0 },
})

const SOLD = {
  app: APP,
  product: "com.example.tea.year",
  title: "Tea Pro",
  soldAs: "subscription",
  country: "se",
  units: 2,
  refunds: 0,
  free: 0,
  currency: "SEK",
  gross: "509.60",
  refunded: "0",
} as const

/** Settled transactions of a day, for all apps of a developer. */
export const playEarnings = kind<PlayEarningsObservation>({
  name: "play_earnings",
  sources: ["play-console"],
  private: true,
  everywhere: true,
  shape: playEarningsShape,
  facts: PLAY_EARNINGS,
  store: async (tx, seen, _, staged) => ({ placed: await storeReports(tx, "play_earnings", seen, staged) }),
  derive: (tx, { placed }, _, staged) => replaceFacts(tx, "play_earnings", PLAY_EARNINGS, placed, staged),
  stored: (sql, range) => readReports<PlayEarningsObservation>(sql, "play_earnings", range),
  example: {
    ...HEAD,
    file: `earnings/earnings_202510_1234567890-81.zip${GENERATION}`,
    rows: [{ ...SOLD, merchantCurrency: "USD", proceeds: "45.30" }],
  },
})

/** Orders of a day, for all apps of a developer, before fees and settlement. */
export const playSales = kind<PlaySalesObservation>({
  name: "play_sales",
  sources: ["play-console"],
  private: true,
  everywhere: true,
  shape: playSalesShape,
  facts: PLAY_SALES,
  store: async (tx, seen, _, staged) => ({ placed: await storeReports(tx, "play_sales", seen, staged) }),
  derive: (tx, { placed }, _, staged) => replaceFacts(tx, "play_sales", PLAY_SALES, placed, staged),
  stored: (sql, range) => readReports<PlaySalesObservation>(sql, "play_sales", range),
  example: { ...HEAD, file: `sales/salesreport_202510.zip${GENERATION}`, rows: [SOLD] },
})
