import { readTree } from "../../src/database/assets.ts"
import type { DayRank } from "../../src/keywords/formulas/rank-moves.ts"

export const fixtures = readTree("fixtures/sandbox", ".json")
// biome-ignore lint/suspicious/noExplicitAny: every sample answer has a shape of its own
export type Answer = any
export const answer = (id: string): Answer => JSON.parse(fixtures.get(`${id}.json`) as string).answer

/** Returns the samples of an operation, including those of further ids in sample answers. */
export const every = (id: string): Answer[] => {
  const { answer, others: more = [] } = JSON.parse(fixtures.get(`${id}.json`) as string)
  return [answer, ...more.map((other: Answer) => other.answer)]
}

export const TODAY = "2026-11-02"
export const [apps, app] = [answer("list_apps").apps, answer("get_app")]
export const [ranks, history] = [answer("list_keyword_ranks"), answer("get_rank_history")]
export const [rivals, rival, market] = [answer("list_rivals"), answer("get_rival"), answer("get_rival_market")]
export const [competition, today, portfolio] = [
  answer("get_keyword_competition"),
  answer("get_today"),
  answer("get_portfolio_overview"),
]
export const [page, featuring, timeline, plan] = [
  answer("get_store_page"),
  answer("get_featuring"),
  answer("get_timeline"),
  answer("get_weekly_plan"),
]
export const [charts, movers, alerts] = [
  answer("get_chart_positions"),
  answer("get_chart_movers"),
  answer("list_alerts").alerts,
]
export const [reviews, found, stats] = [answer("list_reviews"), answer("search_reviews"), answer("get_review_stats")]
export const audit = answer("get_storefront_audit")

export const figure = (key: string, platform: string, country: string) =>
  today.figures.find((row: Answer) => row.key === key && row.platform === platform && row.country === country)
export const value = (...of: Parameters<typeof figure>) => figure(...of).value

/** Returns the measured days of a keyword's series. */
export const daysOf = (term: string): DayRank[] => {
  const { series, sources } = history.keywords.find((row: Answer) => row.term === term)
  return series.map(([day, rank]: [string, number | null]) => ({ day, rank, source: sources[0].source, depth: 200 }))
}
