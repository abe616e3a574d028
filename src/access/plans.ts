import { keysOf } from "../lib/objects.ts"
export const PLANS = ["free", "pro", "studio", "enterprise"] as const
export type Plan = (typeof PLANS)[number]

/**
 * The entitlements of a plan. A workspace may override each by name. The specification does not give all amounts; the
 * others are this project's choice.
 */
export interface Entitlements {
  credits: number
  ratePerSecond: number
  liveKeys: number
  apps: number
  trackedKeywords: number
  /** Maximum age in days of the history that can be read. */
  historyDays: number
  /** Maximum age in days of the reviews that can be read, by the day they were written. */
  reviewDays: number
  /** Monthly: keyword discovery runs, AI questions, Review AI, AI writing, AI visibility runs and keyword spies. */
  discovery: number
  aiQuestions: number
  reviewAi: number
  aiWriting: number
  aiVisibility: number
  spy: number
  /** Listings in other locales per month. On the free plan, once and for all. */
  listingWrites: number
  /** Measurements per day of keywords that are not measured yet. */
  measurements: number
}

// A hundred years: older than any store.
const ALL_REVIEWS = 36_500

export const ENTITLEMENTS: Record<Plan, Entitlements> = {
  free: entitlements([500, 2, 1, 2, 50, 30, 30], [2, 5, 3, 0, 0, 3, 1], 5),
  pro: entitlements([10_000, 5, 3, 10, 1_000, 90, 365], [20, 50, 50, 30, 0, 30, 20], 50),
  studio: entitlements([50_000, 10, 10, 50, 5_000, 365, ALL_REVIEWS], [100, 200, 200, 150, 30, 150, 75], 200),
  enterprise: entitlements(
    [250_000, 25, 50, 500, 50_000, 1_095, ALL_REVIEWS],
    [500, 1_000, 1_000, 750, 150, 750, 300],
    1_000,
  ),
}

export const ENTITLEMENT_NAMES = keysOf(ENTITLEMENTS.free)

export function entitlementsOf(plan: Plan, overrides: Partial<Entitlements> = {}): Entitlements {
  return { ...ENTITLEMENTS[plan], ...overrides }
}

export function planCovers(plan: Plan, least: Plan): boolean {
  return PLANS.indexOf(plan) >= PLANS.indexOf(least)
}

/** Returns the Hive calls per day: 10,000 with Explorer, 500 while a credit pack has credits left, otherwise 0. */
export function hivePerDay(explorer: boolean, hasPack: boolean): number {
  if (explorer) return 10_000
  return hasPack ? 500 : 0
}

type Stock = [
  credits: number,
  ratePerSecond: number,
  liveKeys: number,
  apps: number,
  keywords: number,
  historyDays: number,
  reviewDays: number,
]
type MonthlyUnits = [
  discovery: number,
  questions: number,
  reviewAi: number,
  writing: number,
  visibility: number,
  spy: number,
  listingWrites: number,
]

function entitlements(stock: Stock, monthly: MonthlyUnits, measurements: number): Entitlements {
  const [credits, ratePerSecond, liveKeys, apps, trackedKeywords, historyDays, reviewDays] = stock
  const [discovery, aiQuestions, reviewAi, aiWriting, aiVisibility, spy, listingWrites] = monthly
  return {
    credits,
    ratePerSecond,
    liveKeys,
    apps,
    trackedKeywords,
    historyDays,
    reviewDays,
    discovery,
    aiQuestions,
    reviewAi,
    aiWriting,
    aiVisibility,
    spy,
    listingWrites,
    measurements,
  }
}
