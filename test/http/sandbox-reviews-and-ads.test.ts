import { describe, expect, test } from "bun:test"
import { addDays } from "../../src/lib/days.ts"
import { type Answer, answer, app, found, ranks, reviews, rival, stats, TODAY, value } from "./sandbox-answers.ts"

describe("reviews", () => {
  test("the search finds exactly the listed reviews, and today's review counts match the list", () => {
    expect(found.reviews).toEqual(reviews.list)
    expect([found.total, reviews.feeds.ios.total, reviews.feeds.android.total]).toEqual([
      reviews.list.length,
      reviews.list.length,
      reviews.android.length,
    ])
    for (const [platform, list] of [
      ["ios", reviews.list],
      ["android", reviews.android],
    ] as const) {
      const stars = list.filter(({ date }: Answer) => date.startsWith(TODAY)).map(({ rating }: Answer) => rating)
      const of = (key: string) => value(key, platform, "us")
      expect([of("newReviews"), of("lowReviews")]).toEqual([stars.length, stars.filter((n: number) => n <= 2).length])
      expect(of("newReviewsAverage")).toBe(averageOf(stars))
    }
    expect(reviews.newCount).toBe(value("newReviews", "ios", "us"))
  })

  test("review counts by star, day and version match the list", () => {
    const within = reviews.list.filter(({ date }: Answer) => date >= stats.from && date.slice(0, 10) <= stats.to)
    const stars = within.map(({ rating }: Answer) => rating)
    expect([stats.count, stats.average]).toEqual([stars.length, averageOf(stars)])
    const count = (all: number[], n: number) => all.filter((rating) => rating === n).length
    const spread = (all: number[]) => Object.fromEntries([1, 2, 3, 4, 5].map((n) => [n, count(all, n)]))
    expect(stats.distribution).toEqual(spread(stars))
    const byVersion = Map.groupBy(within, ({ version }: Answer) => version)
    expect(stats.byVersion).toHaveLength(byVersion.size)
    for (const { version, ...figures } of stats.byVersion) {
      const ratings = (byVersion.get(version) ?? []).map(({ rating }: Answer) => rating)
      expect(figures).toEqual({ count: ratings.length, average: averageOf(ratings), distribution: spread(ratings) })
    }
    expect(stats.byDay.map(({ day }: Answer) => day)).toEqual(
      Array.from({ length: 90 }, (_, n) => addDays(stats.from, n)),
    )
    for (const { day, count: written } of stats.byDay)
      expect([day, written]).toEqual([day, within.filter(({ date }: Answer) => date.startsWith(day)).length])
  })
})

function averageOf(stars: readonly number[]): number | null {
  if (stars.length === 0) return null
  return Math.round((stars.reduce((sum, n) => sum + n, 0) / stars.length) * 100) / 100
}

describe("ads", () => {
  const [campaigns, bought, terms] = ["list_campaigns", "list_ads_keywords", "list_ads_search_terms"].map(answer)
  const sumOf = (rows: Answer[], name: string) =>
    rows.reduce((sum, { metrics }) => sum + (name === "spend" ? Number(metrics.spend.amount) * 100 : metrics[name]), 0)

  test("search terms with withheld values add up to the campaigns, and so do keywords with automatic matches", () => {
    const auto = terms.terms.filter(({ source }: Answer) => source === "AUTO")
    for (const name of ["impressions", "taps", "installs", "newDownloads", "spend"]) {
      const whole = sumOf([{ metrics: campaigns.totals }], name)
      expect([name, Math.round(sumOf(campaigns.campaigns, name))]).toEqual([name, Math.round(whole)])
      expect([name, Math.round(sumOf(terms.terms, name))]).toEqual([name, Math.round(whole)])
      expect([name, Math.round(sumOf(bought.keywords, name) + sumOf(auto, name))]).toEqual([name, Math.round(whole)])
      const withheld = terms.terms.filter(({ undisclosed }: Answer) => undisclosed)
      expect([name, Math.round(sumOf(withheld, name))]).toEqual([
        name,
        Math.round(sumOf([{ metrics: terms.undisclosed }], name)),
      ])
    }
    expect([terms.totals, bought.campaignTotals]).toEqual([campaigns.totals, campaigns.totals])
  })

  test("ad reports show the tracked ranks, and search popularity lists the tracked keywords", () => {
    const tracked = new Map(ranks.keywords.map((row: Answer) => [row.term, row]))
    for (const { term, text, organic } of [...terms.terms, ...bought.keywords])
      if (organic?.tracked)
        expect([term ?? text, organic.rank]).toEqual([term ?? text, (tracked.get(term ?? text) as Answer).rank])
    const { wanted: requested, top } = answer("get_search_popularity")
    expect(requested.map(({ term }: Answer) => term)).toEqual([...tracked.keys()])
    for (const row of top) {
      const match = requested.find(({ term }: Answer) => term === row.term)
      if (match) expect(match.popularity).toEqual(row)
    }
  })
})

describe("assistants", () => {
  const visibility = answer("get_ai_visibility")
  const check = answer("start_ai_check")

  test("each visibility figure counts its answers, and its keywords and rivals match other answers", () => {
    const { openai } = visibility.engines
    const named = visibility.answers.filter((row: Answer) => row.named === true)
    expect([openai.named, openai.of, openai.answers]).toEqual([named.length, 18, visibility.answers.length])
    for (const { term, named: count, of } of openai.keywords) {
      const answers = visibility.answers.filter((row: Answer) => row.term === term)
      expect([term, count, of]).toEqual([term, answers.filter((row: Answer) => row.named).length, answers.length])
      expect(app.keywordsByCountry.us).toContain(term)
    }
    for (const { storeIds } of openai.rivals) expect(storeIds[0].id).toBe(rival.id)
    expect(check.keywords).toBe(Object.values(app.keywordsByCountry as Record<string, string[]>).flat().length)
    expect(check.answers).toBe(check.keywords * check.runs * check.engines.length)
    expect(visibility.check.id).toBe(check.checkId)
  })
})
