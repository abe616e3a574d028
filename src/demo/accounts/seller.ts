import { hash } from "node:crypto"
import type { AnalyticsRow } from "../../consoles/kinds/analytics-shape.ts"
import type { SalesRow } from "../../consoles/kinds/sales.ts"
import type { EventRow, StockRow } from "../../consoles/kinds/subscriptions.ts"
import { addDays } from "../../lib/days.ts"

/** An app of the demo, with the fields from which sales are generated. */
export interface DemoApp {
  /** Id in the workspace. */
  id: string
  /** Id in the store. */
  iosId: string
  name: string
  keywords: readonly string[]
}

interface Storefront {
  country: string
  currency: string
  price: string
  proceeds: string
  /** Share of all downloads. */
  share: number
}

export const STOREFRONTS: readonly Storefront[] = [
  { country: "us", currency: "USD", price: "4.99", proceeds: "3.49", share: 0.6 },
  { country: "gb", currency: "GBP", price: "4.99", proceeds: "2.91", share: 0.22 },
  { country: "de", currency: "EUR", price: "5.99", proceeds: "3.52", share: 0.18 },
]

export const TITLE = "Invented Pro, monthly"

export function skuOf({ iosId }: DemoApp): string {
  return `DEMO${iosId}`
}

/** Returns the app's subscription: SKU and product id of the console. */
export function productOf(app: DemoApp): { sku: string; id: string } {
  return { sku: `${skuOf(app)}.pro.month`, id: `77${app.iosId}` }
}

const TRIAL_DAYS = 7

/**
 * Returns the downloads of a day. They depend on app, storefront and day only, so that they are the same whenever they
 * are generated.
 */
function downloadsOn(app: DemoApp, { country, share }: Storefront, day: string): number {
  return Math.round(sizeOf(app) * share * mood(`${app.iosId} ${country}`, day))
}

/** Returns the downloads per day: 150 to 600, depending on the store id. */
export function sizeOf({ iosId }: DemoApp): number {
  return 150 + Math.round(450 * chance(`size ${iosId}`))
}

/** Returns a factor that varies by weekday, season and day. */
export function mood(what: string, day: string): number {
  const at = Date.parse(day) / 86_400_000
  const weekend = [0, 6].includes(new Date(day).getUTCDay()) ? 1.2 : 0.94
  return weekend * (1 + 0.12 * Math.sin((at / 365.25) * 2 * Math.PI)) * (0.88 + 0.24 * chance(`${what} ${day}`))
}

/** Returns a pseudorandom number from 0 to 1 that depends on the text only. */
export function chance(text: string): number {
  return hash("sha256", text, "buffer").readUInt32BE(0) / 2 ** 32
}

interface SubscriptionDay {
  trialStarts: number
  conversions: number
  renewals: number
  cancellations: number
  refunds: number
}

function subscriptionsOn(app: DemoApp, storefront: Storefront, day: string): SubscriptionDay {
  const begun = (on: string) => Math.round(downloadsOn(app, storefront, on) * 0.12)
  const active = activeOn(app, storefront, day)
  const renewals = Math.round((active / 30) * mood(`renewals ${app.iosId} ${storefront.country}`, day))
  return {
    trialStarts: begun(day),
    // 40% of the trials that end on this day
    conversions: Math.round(begun(addDays(day, -TRIAL_DAYS)) * 0.4),
    renewals,
    cancellations: Math.round(renewals * 0.3),
    refunds: chance(`refund ${app.iosId} ${storefront.country} ${day}`) < 0.15 ? 1 : 0,
  }
}

/** Returns a number that grows by 10% per year. */
function activeOn(app: DemoApp, { share }: Storefront, day: string): number {
  const years = Math.max(0, Date.parse(day) / 86_400_000 - 20_000) / 365.25
  return Math.round(sizeOf(app) * share * 4 * 1.1 ** years)
}

export function salesOn(apps: readonly DemoApp[], day: string): SalesRow[] {
  return apps.flatMap((app) => STOREFRONTS.flatMap((storefront) => salesIn(app, storefront, day)))
}

function salesIn(app: DemoApp, storefront: Storefront, day: string): SalesRow[] {
  const { country, currency, price, proceeds } = storefront
  const downloads = downloadsOn(app, storefront, day)
  const { conversions, renewals, refunds } = subscriptionsOn(app, storefront, day)
  const base = { app: skuOf(app), country, currency, proceedsCurrency: currency }
  const free = { ...base, product: base.app, title: app.name, price: "0", proceeds: "0" }
  const paid = { ...base, product: productOf(app).sku, title: TITLE, type: "IAY", price, proceeds, period: "1 Month" }
  const rows: SalesRow[] = [
    { ...free, type: "1F", units: downloads },
    { ...free, type: "3F", units: Math.round(downloads * 0.21) },
    { ...paid, units: conversions, subscription: "New" },
    { ...paid, units: renewals, subscription: "Renewal" },
    { ...paid, units: -refunds, subscription: "Renewal" },
  ]
  return rows.filter(({ units }) => units !== 0)
}

export function stockOn(apps: readonly DemoApp[], day: string): StockRow[] {
  return eachSubscription(apps, (app, storefront, about) => {
    const active = activeOn(app, storefront, day)
    const running = Array.from({ length: TRIAL_DAYS }, (_, ago) => addDays(day, -ago))
    const trials = running.reduce((sum, on) => sum + subscriptionsOn(app, storefront, on).trialStarts, 0)
    const retry = Math.round(active * 0.02)
    const { price, currency } = storefront
    return [{ ...about, price, currency, active, trials, offers: 0, grace: Math.round(retry / 2), retry }]
  })
}

export function eventsOn(apps: readonly DemoApp[], day: string): EventRow[] {
  return eachSubscription(apps, (app, storefront, about) => {
    const counts = subscriptionsOn(app, storefront, day)
    const rows: EventRow[] = [
      { ...about, event: "Start Introductory Offer", offer: "Free Trial", quantity: counts.trialStarts },
      {
        ...about,
        event: "Paid Subscription from Introductory Offer",
        offer: "Free Trial",
        quantity: counts.conversions,
      },
      { ...about, event: "Renew", quantity: counts.renewals },
      { ...about, event: "Cancel", quantity: counts.cancellations },
      { ...about, event: "Refund", quantity: counts.refunds },
    ]
    return rows.filter(({ quantity }) => quantity !== 0)
  })
}

type AboutSubscription = Pick<StockRow, "app" | "product" | "name" | "country">

function eachSubscription<Row>(
  apps: readonly DemoApp[],
  rowsOf: (app: DemoApp, storefront: Storefront, about: AboutSubscription) => Row[],
): Row[] {
  return apps.flatMap((app) =>
    STOREFRONTS.flatMap((storefront) => {
      const about = { app: app.iosId, product: productOf(app).id, name: TITLE, country: storefront.country }
      return rowsOf(app, storefront, about)
    }),
  )
}

/** Sources of downloads, with impressions (`shown`) and page views (`looked`) per download. */
const WAYS = [
  { from: "App Store search", share: 0.72, shown: 17, looked: 1.4 },
  { from: "App Store browse", share: 0.28, shown: 38, looked: 2.6 },
]

/** Returns the downloads of a day by source. First downloads equal those of the sales. */
export function downloadRowsOn(app: DemoApp, day: string): AnalyticsRow[] {
  return eachWay(app, day, ({ from, country, count }) => [
    { event: "First-time download", from, country, count },
    { event: "Redownload", from, country, count: Math.round(count * 0.21) },
  ])
}

export function engagementRowsOn(app: DemoApp, day: string): AnalyticsRow[] {
  return eachWay(app, day, ({ from, country, count, shown, looked }) => [
    { event: "Impression", from, country, count: Math.round(count * shown) },
    { event: "Page view", from, country, count: Math.round(count * looked) },
  ])
}

function eachWay(
  app: DemoApp,
  day: string,
  rowsOf: (way: { from: string; country: string; count: number; shown: number; looked: number }) => AnalyticsRow[],
): AnalyticsRow[] {
  return STOREFRONTS.flatMap((storefront) => {
    const all = downloadsOn(app, storefront, day)
    const searched = Math.round(all * WAYS[0]!.share)
    return WAYS.flatMap(({ from, shown, looked }, place) => {
      const count = place === 0 ? searched : all - searched
      return rowsOf({ from, country: storefront.country, count, shown, looked })
    })
  })
}
