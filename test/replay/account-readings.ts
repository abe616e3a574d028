import { dayBefore, TEA } from "./readings.ts"

/** The ids that a build gave to the connected accounts. */
export interface AccountIds {
  console: string
  ads: string
  billing: string
}

const CAMPAIGN = "444555666"

/** Returns the lines of an import file with the reports of the world's connected accounts, the oldest day first. */
export function accountReadings(now: Date, ids: AccountIds, days = 35): string[] {
  const lines: object[] = []
  for (let ago = days; ago >= 2; ago--) {
    const day = dayBefore(now, ago)
    const seenAt = `${dayBefore(now, ago - 1)}T16:00:00Z`
    lines.push(...consoleReports(ids.console, { day, ago, seenAt, processed: dayBefore(now, ago - 1) }))
    lines.push(...adsReports(ids.ads, { day, ago, seenAt }))
    lines.push(...billingReports(ids.billing, { day, ago, seenAt }))
  }
  return lines.map((line) => JSON.stringify({ platform: "ios", ...line }))
}

interface ReportDay {
  day: string
  ago: number
  seenAt: string
}

function* consoleReports(account: string, { day, ago, seenAt, processed }: ReportDay & { processed: string }) {
  const head = { account, day, seenAt }
  const countries = ["us", "gb", "de"]
  const product = "TEA01.pro.year"
  yield {
    ...head,
    kind: "sales",
    source: "asc-sales",
    rows: countries.flatMap((country, i) => [
      {
        app: TEA.sku,
        title: TEA.name,
        product: TEA.sku,
        type: "1F",
        country,
        units: 20 + ((ago * (i + 3)) % 17),
        currency: "EUR",
        price: "0",
        proceeds: "0",
        proceedsCurrency: "EUR",
      },
      {
        app: TEA.sku,
        title: "Tea Pro",
        product,
        type: "IAY",
        country,
        units: 1 + ((ago + i) % 3),
        currency: "EUR",
        price: "19.99",
        proceeds: "14.28",
        proceedsCurrency: "EUR",
        subscription: ago % 2 ? "New" : "Renewal",
      },
    ]),
  }
  const sold = { app: TEA.id, product: "6702026751", name: "Tea Pro" }
  yield {
    ...head,
    kind: "subscriptions",
    source: "asc-subscriptions",
    rows: countries.map((country, i) => ({
      ...sold,
      country,
      price: "19.99",
      currency: "EUR",
      active: 40 - ago + i,
      trials: 3 + (ago % 4),
      offers: 0,
      grace: i,
      retry: 0,
    })),
  }
  yield {
    ...head,
    kind: "subscription_events",
    source: "asc-subscription-events",
    rows: [
      { ...sold, country: "us", event: "Start Introductory Offer", offer: "Free Trial", quantity: 3 + (ago % 3) },
      { ...sold, country: "de", event: "Renew", quantity: 2 },
      { ...sold, country: "us", event: "Cancel", quantity: 1 + (ago % 2) },
    ],
  }
  if (ago % 7 === 0) {
    const rows = [{ ...sold, country: "de", offer: "Welcome back", code: "SPRING", redemptions: 4 }]
    yield { ...head, kind: "offer_redemptions", source: "asc-offer-redemptions", rows }
  }
  const from = (place: string, event: string, count: number) => ({ event, from: place, country: "us", count })
  yield {
    ...head,
    kind: "engagement",
    source: "asc-engagement",
    app: TEA.id,
    processed,
    rows: [
      from("App Store search", "Impression", 400 + ago),
      from("App Store search", "Page view", 60 + (ago % 9)),
      from("App Store browse", "Impression", 90 + ago),
    ],
  }
  yield {
    ...head,
    kind: "downloads",
    source: "asc-downloads",
    app: TEA.id,
    processed,
    rows: [
      from("App Store search", "First-time download", 31 + (ago % 5)),
      from("App Store browse", "First-time download", 4),
    ],
  }
  if (ago % 14 === 2)
    yield {
      ...head,
      kind: "prices",
      source: "asc-prices",
      app: TEA.id,
      product: "6702026751",
      soldAs: "subscription",
      sku: product,
      name: "Tea Pro",
      rows: [
        { country: "de", currency: "EUR", price: "19.99", proceeds: "14.28", proceedsYear2: "16.79", point: "p1" },
        { country: "us", currency: "USD", price: "19.99", proceeds: "13.99", proceedsYear2: "16.99", point: "p2" },
      ],
    }
}

function* adsReports(account: string, { day, ago, seenAt }: ReportDay) {
  const head = { account, day, seenAt }
  if (ago % 5 === 2) {
    yield {
      ...head,
      kind: "ads_campaigns",
      source: "apple-ads-campaigns",
      rows: [
        {
          id: CAMPAIGN,
          app: TEA.id,
          name: "Tea, Germany",
          status: "ENABLED",
          serving: "RUNNING",
          reasons: [],
          countries: ["de", "us"],
          budget: "20",
          currency: "EUR",
          bidding: "MANUAL_CPT",
        },
      ],
    }
    yield {
      ...head,
      kind: "ads_keywords",
      source: "apple-ads-keywords",
      campaign: CAMPAIGN,
      rows: [
        { thing: "group", id: "71", name: "Brand", status: "ENABLED", bid: "0.80", currency: "EUR", automatic: true },
        { thing: "keyword", id: "81", group: "71", text: "tea timer", match: "EXACT", status: "ENABLED", bid: "1.20" },
        { thing: "keyword", id: "82", group: "71", text: "green tea", match: "BROAD", status: "ENABLED" },
        { thing: "negative", id: "91", text: "coffee", match: "BROAD", status: "ENABLED" },
      ],
    }
  }
  const metrics = (keyword: string, i: number) => ({
    group: "71",
    keyword,
    country: i % 2 ? "us" : "de",
    impressions: 120 + ago * i,
    taps: 9 + i,
    installs: 3 + (ago % 3),
    newDownloads: 3,
    spend: `${7 + i}.25`,
    currency: "EUR",
  })
  const rows = ["81", "82"].map(metrics)
  yield { ...head, kind: "ads_days", source: "apple-ads-days", campaign: CAMPAIGN, rows }
  yield {
    ...head,
    kind: "ads_terms",
    source: "apple-ads-terms",
    campaign: CAMPAIGN,
    rows: rows.map((row, i) => ({ ...row, term: ["tea timer app", "best green tea"][i], source: "TARGETED" })),
  }
  if (ago % 9 === 2) {
    const change = { change: `Keyword.81.${ago}`, at: `${day}T10:00:00.000Z`, by: "dashboard", event: "UPDATE" }
    const about = { entity: "Keyword", entityId: "81", campaign: CAMPAIGN, name: "tea timer" }
    const rows = [{ ...change, ...about, field: "bid", from: "1.00", to: "1.20" }]
    yield { ...head, kind: "ads_changes", source: "apple-ads-changes", rows }
  }
  if (new Date(day).getUTCDay() === 0) {
    const rows = [
      { term: "tea timer", genre: "FOOD_DRINK", rank: 42, inGenre: 78, overall100: 65, overall5: 4 },
      { term: "green tea", genre: "FOOD_DRINK", rank: 12, inGenre: 88, overall100: 75, overall5: 5 },
    ]
    for (const country of ["us", "de"])
      yield { ...head, kind: "ads_popularity", source: "apple-ads-popularity", country, rows }
  }
}

function* billingReports(account: string, { day, ago, seenAt }: ReportDay) {
  yield {
    kind: "billing_event",
    source: "revenuecat",
    account,
    seenAt,
    eventId: `12345678-1234-1234-1234-${String(ago).padStart(12, "0")}`,
    type: ago % 6 === 0 ? "CANCELLATION" : "RENEWAL",
    countsAs: ago % 6 === 0 ? "cancellation" : "renewal",
    environment: "production",
    store: "app_store",
    happenedAt: `${day}T15:24:58Z`,
    product: "TEA01.pro.year",
    country: "de",
    countryIs: "last_contact",
    currency: "EUR",
    price: "19.99",
    priceUsd: "23.21",
  }
}
