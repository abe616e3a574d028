import type { Operation } from "../../src/core/operation.ts"
import { readTree } from "../../src/database/assets.ts"

/**
 * Row counts of answers for a workspace of 20 apps with 50 keywords and default arguments: the operations' limits, or
 * typical numbers below them. Other operations use their sample unchanged.
 */
const ROWS: Record<string, Record<string, number>> = {
  list_alerts: { alerts: 50 },
  get_portfolio_overview: { apps: 20, pending: 20 },
  list_apps: { apps: 20 },
  list_keyword_ranks: { keywords: 50 },
  list_rivals: { rivals: 50 },
  get_ai_visibility: { answers: 120 },
  get_rank_history: { keywords: 50 },
  get_store_page: { timeline: 100 },
  list_reviews: { list: 100, android: 100 },
  search_reviews: { reviews: 100 },
  // 15 themes found by rules and 12 finer ones found by a model, which the sample lacks
  summarize_reviews: { themes: 15 + 12 },
  get_review_stats: { byVersion: 200 },
  get_timeline: { changes: 50 },
  get_keyword_competition: { keywords: 50, notMeasured: 10 },
  get_rival: { keywords: 1_000, changes: 50 },
  get_rival_ad_networks: { networks: 60 },
  get_chart_movers: { risers: 25, fallers: 25, entrants: 25, dropouts: 25, rivals: 50 },
  get_featuring: { storefronts: 20, history: 200 },
  get_weekly_plan: { tasks: 5, storefronts: 20 },
  get_app: { keywords: 50, snapshot: 6 },
  search: { results: 20 },
  get_revenue: { days: 30, countries: 60, products: 10 },
  get_subscriptions: { days: 30, countries: 20 },
  get_country_prices: { countries: 175, products: 10 },
  get_pricing: { paid: 60, listed: 60, offers: 10, offered: 20 },
  get_funnel: { days: 30, countries: 60, trafficSources: 8 },
  list_campaigns: { campaigns: 40 },
  list_ads_keywords: { keywords: 100 },
  list_ads_search_terms: { terms: 100 },
  list_ads_commands: { commands: 50 },
  get_search_popularity: { top: 50, wanted: 50 },
  hive_find_apps: { apps: 50 },
  hive_list_new_apps: { apps: 50 },
  hive_get_publisher: { apps: 50 },
  hive_list_reviews: { reviews: 50 },
  hive_get_landscape: { categories: 28 },
  hive_spy_app: { keywords: 100 },
  hive_get_keyword_gap: { keywords: 100 },
  hive_research_keyword: { keywords: 50 },
  hive_get_keyword_metrics_history: { difficulty: 90, popularity: 90 },
}

const fixtures = readTree("fixtures/sandbox", ".json")

/** Returns the sample of an operation with its rows repeated to that number. */
export function grownAnswer({ id }: Operation): Record<string, unknown> {
  const { answer } = JSON.parse(fixtures.get(`${id}.json`) as string) as { answer: Record<string, unknown> }
  const grown = Object.entries(ROWS[id] ?? {}).map(([list, rows]) => [list, repeated(answer[list] as unknown[], rows)])
  return { ...answer, ...Object.fromEntries(grown) }
}

function repeated(rows: readonly unknown[], count: number): unknown[] {
  return Array.from({ length: count }, (_, at) => rows[at % rows.length])
}
