import type { Db } from "../../database/types.ts"
import { addDays } from "../../lib/days.ts"
import type { IntervalCalibration } from "../formulas/conformal.ts"
import type { Gain } from "../formulas/count-readings.ts"
import { MONTH_DAYS } from "../formulas/count-readings.ts"
import { type DownloadEstimate, estimateDownloads, LEVEL } from "../formulas/downloads.ts"
import type { Estimate } from "../formulas/estimate.ts"
import { widenedBy } from "../formulas/grades.ts"
import { type Growth, growthOf } from "../formulas/growth.ts"
import type { MeasuredDownloads } from "../formulas/install-gain.ts"
import { downloadsPerRating, STORE_PRIORS } from "../formulas/ratio.ts"
import { grossingRevenue, PUBLISHED_ANCHORS, paidRevenue, type RevenueEstimate } from "../formulas/revenue.ts"
import { type RatingGain, readMeasuredDownloads, readRatingGains } from "../read/gains.ts"
import { readMoneyFacts } from "./money-facts.ts"

/** An app's figures for 30 days. Null if unknown. */
export interface AppFigures {
  downloads: Estimate | null
  revenue: RevenueEstimate | null
  /** The source of the revenue. Null without revenue. */
  revenueBy: "price" | "place" | null
  growth: Growth | null
  /** Number of storefronts that the figures are based on. 1 for Google Play, whose install count is worldwide. */
  markets: number
  /** Number of days between the compared counts. Null if there is at most one count. */
  days: number | null
  /** Day of the newest count. */
  day: string | null
}

export interface EstimatedApp {
  app: number
  platform: "ios" | "android"
  genre: string | null
}

interface EstimateTerms {
  /** The last UTC day whose data may be used. */
  asOf: string
  /**
   * How far apps deviate from the average of their store, measured on apps whose installs Google Play publishes. Null
   * if there are too few such apps.
   */
  calibration: IntervalCalibration | null
}

/** Makes the figures of an app from the data up to and including a UTC day. Reads the database and writes nothing. */
export async function makeEstimate(sql: Db, app: EstimatedApp, terms: EstimateTerms): Promise<AppFigures> {
  return app.platform === "ios"
    ? await readAppStoreFigures(sql, app, terms)
    : await readGooglePlayFigures(sql, app, terms.asOf)
}

/** Google Play publishes install counts, so its figures are measured instead of estimated. */
async function readGooglePlayFigures(sql: Db, { app }: EstimatedApp, asOf: string): Promise<AppFigures> {
  const [rated, now, before, money] = [
    await readRatingGains(sql, app, asOf),
    await readMeasuredDownloads(sql, app, asOf),
    await readMeasuredDownloads(sql, app, addDays(asOf, -MONTH_DAYS)),
    await readMoneyFacts(sql, app),
  ]
  const downloads = now && { ...now, markets: 1 }
  const growth = growthOf(gainOf(now), gainOf(before), "measured", LEVEL)
  // the price formula needs the downloads of about a month; those of a shorter span would understate the revenue
  const revenue = now && now.days >= MONTH_DAYS - 2 ? paidRevenue(downloads, money.priceUsd) : null
  return {
    downloads: now,
    revenue,
    revenueBy: revenue && "price",
    growth,
    markets: now ? 1 : 0,
    days: now?.days ?? null,
    day: now?.to ?? newestDay(rated),
  }
}

function gainOf(measured: MeasuredDownloads | null): Gain | null {
  return measured && { gained: measured.value as number, days: measured.days, from: measured.from, to: measured.to }
}

async function readAppStoreFigures(
  sql: Db,
  { app, genre }: EstimatedApp,
  { asOf, calibration }: EstimateTerms,
): Promise<AppFigures> {
  const storefronts = await readRatingGains(sql, app, asOf)
  const money = await readMoneyFacts(sql, app)
  const downloads = downloadsFrom(storefronts, genre, calibration)
  const grossing = money.isSold ? grossingRevenue(money.place, money.depth, PUBLISHED_ANCHORS, LEVEL) : null
  const paid = paidRevenue(downloads, money.priceUsd)
  // revenue from in-app purchases of a paid app appears only in the grossing chart
  const isByPrice = grossing?.value == null && Boolean(money.priceUsd)
  return {
    downloads,
    revenue: isByPrice ? paid : grossing,
    revenueBy: isByPrice ? paid && "price" : grossing && "place",
    growth: growthFrom(storefronts),
    markets: downloads?.markets ?? 0,
    days: downloads?.days ?? null,
    day: newestDay(storefronts),
  }
}

function newestDay(storefronts: readonly RatingGain[]): string | null {
  return storefronts.reduce<string | null>((newest, { day }) => (newest && newest > day ? newest : day), null)
}

/**
 * Estimates the downloads of an App Store app from its ratings. The interval also covers the uncertainty of the App
 * Store's downloads per rating, which no data of Google Play can reduce.
 */
export function downloadsFrom(
  storefronts: readonly RatingGain[],
  genre: string | null,
  calibration: IntervalCalibration | null,
): DownloadEstimate | null {
  const ratio = downloadsPerRating("ios", { ownFigures: null, genre }, [])
  const widened = calibration && widenedBy(calibration, STORE_PRIORS.ios.spread)
  return estimateDownloads({ storefronts, ratio, level: LEVEL, calibration: widened })
}

/** Uses the storefront that gained the most ratings over both months, because its growth is the most precise. */
function growthFrom(storefronts: readonly RatingGain[]): Growth | null {
  const least = ({ gain, before }: RatingGain) => Math.min(gain?.gained ?? 0, before?.gained ?? 0)
  const [best] = storefronts.toSorted((a, b) => least(b) - least(a))
  return best ? growthOf(best.gain, best.before, "prior", LEVEL) : null
}
