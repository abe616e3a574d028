import { KINDS } from "../../../src/kinds.ts"

export const [SOLD, STANDING, HAPPENED, REDEEMED, ENGAGED, COSTS] = [
  "sales",
  "subscriptions",
  "subscription_events",
  "offer_redemptions",
  "engagement",
  "prices",
].map((name) => {
  const { rows } = KINDS.find((kind) => kind.name === name)!.example as { rows: object[] }
  return rows[0]
})

/** Invalid readings per kind, each refused by one of the kind's own rules. */
export const WRONG: Record<string, [object, string][]> = {
  apps: [
    [{ asked: ["com.example.tea"] }, "bad_app_id"],
    [{ asked: Array(2).fill("897446215") }, "duplicate_app"],
    [{ apps: [{ id: "897446215", rating: 6 }] }, "bad_figure"],
    [{ apps: [{ id: "897446215", genre: "Games" }] }, "bad_text"],
    [{ apps: [{ id: "897446215", market: { installs: -1 } }] }, "bad_figure"],
    [{ apps: [{ id: "897446215", listing: {} }] }, "bad_text"],
    [{ source: "itunes-search", apps: [{ id: "897446215", name: "Canva", listing: {} }] }, "bad_source"],
  ],
  search: [
    [{ term: "Photo editor " }, "bad_term"],
    [{ depth: 0 }, "bad_depth"],
    [{ depth: 251 }, "bad_depth"],
    [{ complete: "yes" }, "bad_depth"],
    [{ depth: 1 }, "too_many_results"],
    [{ results: [{ id: "897446215" }, { id: "897446215" }] }, "duplicate_app"],
    [{ results: [{ id: "com.example.tea" }] }, "bad_app_id"],
    [{ results: [{ id: "897446215", rating: 6 }] }, "bad_figure"],
  ],
  genres: [
    [{ genres: [{ id: "6014", name: "Games", parent: "36" }] }, "bad_text"],
    [{ genres: [{ id: "first", name: "App Store" }] }, "bad_text"],
    [{ genres: Array(1_001).fill({ id: "36", name: "App Store" }) }, "too_many_results"],
  ],
  app_ads: [
    [{ id: "com.example.tea" }, "bad_app_id"],
    [{ state: "no_site" }, "bad_text"],
    [{ state: "guessed" }, "bad_kind"],
    [{ domain: "Example.com" }, "bad_text"],
    [{ records: [] }, "bad_kind"],
    [{ variables: { SECRET: ["1"] } }, "bad_kind"],
  ],
  hints: [
    [{ prefix: "Te" }, "bad_term"],
    [{ terms: ["tea", "t\0"] }, "bad_term"],
    [{ terms: ["tea", "tea"] }, "duplicate_term"],
    [{ terms: Array.from({ length: 101 }, (_, i) => `tea ${i}`) }, "too_many_results"],
  ],
  popularity: [
    [{ term: "Tea" }, "bad_term"],
    [{ month: "2025-09-02" }, "bad_month"],
    [{ month: "2025-10-01" }, "bad_month"],
    [{ popularity: 7.5 }, "bad_figure"],
    [{ genres: Array(2).fill({ genre: "Games", rank: 1, popularity: 5 }) }, "bad_text"],
    [{ genres: [{ genre: "Games", rank: 0, popularity: 5 }] }, "bad_figure"],
  ],
  reviews: [
    [{ storeId: "com.example.tea" }, "bad_app_id"],
    [{ language: "en" }, "bad_language"],
    [{ end: { pages: 1, complete: true, empty: true } }, "bad_depth"],
    [{ reviews: Array(2).fill({ id: "1", stars: 5, text: "", at: new Date("2025-10-24") }) }, "duplicate_review"],
    [{ reviews: [{ id: "1", stars: 6, text: "", at: new Date("2025-10-24") }] }, "bad_figure"],
  ],
  chart: [
    [{ device: "watch" }, "bad_kind"],
    [{ chart: "new" }, "bad_kind"],
    [{ genre: "games" }, "bad_text"],
    [{ depth: 1 }, "too_many_results"],
    [{ depth: 1.5 }, "bad_depth"],
    [{ apps: [{ id: "com.example.tea" }] }, "bad_app_id"],
    [{ apps: Array(2).fill({ id: "1435783608" }) }, "duplicate_app"],
    [{ apps: [{ id: "1435783608", rating: 9 }] }, "bad_figure"],
  ],
  developer: [
    [{ developerId: "Canva" }, "bad_text"],
    [{ complete: null }, "bad_depth"],
    [{ apps: [{ id: "com.example.tea" }] }, "bad_app_id"],
    [{ apps: [{ id: "897446215", genre: "games" }] }, "bad_text"],
  ],
  listing: [
    [{ id: "com.example.tea" }, "bad_app_id"],
    [{ listing: { name: " " } }, "bad_text"],
    [{ listing: { name: "Tea", subtitle: "t\0" } }, "bad_text"],
    [{ listing: { name: "Tea", rating: 6 } }, "bad_figure"],
    [{ listing: { name: "Tea", similar: Array(2).fill({ id: "1435783608" }) } }, "duplicate_app"],
    [{ listing: { name: "Tea", screenshots: { phone: ["picture"] } } }, "bad_text"],
    [{ listing: { name: "Tea", languages: Array(5_001).fill("English") } }, "too_many_results"],
    [{ listing: { name: "Tea", versions: [{ version: "1", releasedAt: new Date("2300-01-01") }] } }, "bad_time"],
    [{ listing: { name: "Tea", events: [event("2025-10-02", "2025-10-01")] } }, "bad_time"],
  ],
  sales: [
    [{ account: "ac_1" }, "bad_text"],
    [{ day: "2025-10-32" }, "bad_time"],
    [{ day: "2025-10-26" }, "bad_time"],
    [{ rows: [{ ...SOLD, price: "1e3" }] }, "bad_figure"],
    [{ rows: [{ ...SOLD, units: 1.5 }] }, "bad_figure"],
    [{ rows: [{ ...SOLD, currency: "euro" }] }, "bad_text"],
    [{ rows: [{ ...SOLD, country: "DE" }] }, "bad_storefront"],
  ],
  subscriptions: [
    [{ account: "" }, "bad_text"],
    [{ rows: [{ ...STANDING, active: -1 }] }, "bad_figure"],
    [{ rows: [{ ...STANDING, price: "" }] }, "bad_figure"],
  ],
  subscription_events: [
    [{ account: "" }, "bad_text"],
    [{ rows: [{ ...HAPPENED, event: " " }] }, "bad_text"],
    [{ rows: [{ ...HAPPENED, quantity: 0.5 }] }, "bad_figure"],
  ],
  offer_redemptions: [
    [{ account: "" }, "bad_text"],
    [{ rows: [{ ...REDEEMED, offer: " " }] }, "bad_text"],
    [{ rows: [{ ...REDEEMED, redemptions: -1 }] }, "bad_figure"],
    [{ rows: [{ ...REDEEMED, country: "DE" }] }, "bad_storefront"],
  ],
  engagement: [
    [{ app: " " }, "bad_text"],
    [{ processed: "2025-10-27" }, "bad_time"],
    [{ rows: [{ ...ENGAGED, count: -1 }] }, "bad_figure"],
    [{ rows: [{ ...ENGAGED, country: "DEU" }] }, "bad_storefront"],
  ],
  downloads: [
    [{ day: "2025-10-27" }, "bad_time"],
    [{ rows: [{ ...ENGAGED, event: "" }] }, "bad_text"],
  ],
  prices: [
    [{ product: "" }, "bad_text"],
    [{ rows: [{ ...COSTS, price: "19,99" }] }, "bad_figure"],
    [{ rows: [{ ...COSTS, startsAt: "2025-13-01" }] }, "bad_time"],
    [{ rows: [{ ...COSTS, currency: "eur" }] }, "bad_text"],
  ],
  ads_campaigns: [
    [{ day: "2025-10-26" }, "bad_time"],
    [{ rows: [{ ...adsRow("ads_campaigns"), id: "x" }] }, "bad_text"],
    [{ rows: [{ ...adsRow("ads_campaigns"), countries: ["DE"] }] }, "bad_storefront"],
    [{ rows: [{ ...adsRow("ads_campaigns"), budget: "1e3" }] }, "bad_figure"],
  ],
  ads_keywords: [
    [{ campaign: "all" }, "bad_text"],
    [{ rows: [{ ...adsRow("ads_keywords"), name: " " }] }, "bad_text"],
    [{ rows: [{ ...adsRow("ads_keywords"), bid: "0,8" }] }, "bad_figure"],
  ],
  ads_days: [
    [{ campaign: "" }, "bad_text"],
    [{ rows: [{ ...adsRow("ads_days"), taps: -1 }] }, "bad_figure"],
    [{ rows: [{ ...adsRow("ads_days"), spend: "7,25" }] }, "bad_figure"],
  ],
  ads_terms: [
    [{ account: "ac_1" }, "bad_text"],
    [{ rows: [{ ...adsRow("ads_terms"), term: "" }] }, "bad_text"],
    [{ rows: [{ ...adsRow("ads_terms"), installs: 0.5 }] }, "bad_figure"],
  ],
  ads_changes: [
    [{ rows: [{ ...adsRow("ads_changes"), at: "yesterday" }] }, "bad_time"],
    [{ rows: [{ ...adsRow("ads_changes"), campaign: "x" }] }, "bad_text"],
  ],
  ads_popularity: [
    [{ country: "DE" }, "bad_storefront"],
    [{ rows: [{ ...adsRow("ads_popularity"), rank: 0 }] }, "bad_figure"],
    [{ rows: [{ ...adsRow("ads_popularity"), overall5: 6 }] }, "bad_figure"],
  ],
  play_installs: wrongCounts({ userInstalls: -1 }),
  play_installs_country: wrongCounts({ userInstalls: 2 ** 31 }),
  play_store_country: wrongCounts({ visitors: -1 }),
  play_store_sources: [...wrongCounts({ acquisitions: -1 }), [{ rows: [{ term: "" }] }, "bad_text"]],
  play_ratings: wrongCounts({ rating: "4,5" }),
  play_ratings_country: wrongCounts({ ratingOfDay: "NA" }),
  play_crashes: wrongCounts({ freezes: -1 }),
  play_earnings: wrongMoney("play_earnings", { merchantCurrency: "$" }, { proceeds: "1e3" }),
  play_sales: wrongMoney("play_sales", { currency: "euro" }, { gross: "7,99" }),
  billing_event: [
    [{ account: "ac_1" }, "bad_text"],
    [{ eventId: "" }, "bad_text"],
    [{ happenedAt: new Date("2025-10-27") }, "bad_time"],
    [{ price: "7,99" }, "bad_figure"],
    [{ currency: "euro" }, "bad_text"],
    [{ country: "DE" }, "bad_storefront"],
  ],
  billing_metrics: [
    [{ account: "ac_1" }, "bad_text"],
    [{ currency: "$" }, "bad_text"],
    [{ day: "2025-10-26" }, "bad_time"],
    [{ rows: [{ metric: "mrr", value: "1e3" }] }, "bad_figure"],
  ],
  console_reviews: [
    [{ account: "ac_1" }, "bad_text"],
    [{ storeId: "310633997" }, "bad_app_id"],
    [{ reviews: Array(2).fill({ id: "1", stars: 5, text: "", at: new Date("2025-10-24") }) }, "duplicate_review"],
    [{ reviews: [{ id: "1", stars: 0, text: "", at: new Date("2025-10-24") }] }, "bad_figure"],
    [{ reviews: [{ id: "1", stars: 5, text: "", at: new Date("2025-10-24"), language: "EN" }] }, "bad_language"],
    [{ reviews: [{ id: "1", stars: 5, text: "", at: new Date("2025-10-27") }] }, "bad_time"],
  ],
  assistant_answer: [
    [{ term: "Tea" }, "bad_term"],
    [{ language: "German" }, "bad_language"],
    [{ model: " " }, "bad_text"],
    [{ phrasing: "a1" }, "bad_text"],
    [{ run: 20 }, "bad_figure"],
    [{ text: "tea\0" }, "bad_text"],
    [{ cited: [{ url: "javascript:alert(1)" }] }, "bad_text"],
    [{ inputTokens: -1 }, "bad_figure"],
  ],
  award: [
    [{ id: "com.example.tea" }, "bad_app_id"],
    [{ award: " " }, "bad_text"],
  ],
}

function adsRow(name: string): object {
  const { rows } = KINDS.find((kind) => kind.name === name)!.example as { rows: object[] }
  return rows[0]!
}

function event(startsAt: string, endsAt: string) {
  return { id: "1", title: "Harvest", startsAt: new Date(startsAt), endsAt: new Date(endsAt) }
}

/** Returns invalid readings of a kind of Google Play's counts. `row` has an invalid measure. */
function wrongCounts(row: object): [object, string][] {
  return [
    [{ account: "ac_1" }, "bad_text"],
    [{ platform: "ios" }, "bad_platform"],
    [{ file: "installs.csv" }, "bad_text"],
    [{ day: "2025-10-26" }, "bad_time"],
    [{ rows: [{ country: "DE" }] }, "bad_storefront"],
    [{ rows: [row] }, "bad_figure"],
  ]
}

/** Returns invalid readings of a kind of Google Play's money figures. `row` has an invalid measure. */
function wrongMoney(name: string, text: object, amount: object): [object, string][] {
  const row = adsRow(name)
  return [
    [{ file: "sales.zip#first" }, "bad_text"],
    [{ rows: [{ ...row, app: "" }] }, "bad_text"],
    [{ rows: [{ ...row, ...text }] }, "bad_text"],
    [{ rows: [{ ...row, ...amount }] }, "bad_figure"],
    [{ rows: [{ ...row, refunds: -1 }] }, "bad_figure"],
  ]
}
