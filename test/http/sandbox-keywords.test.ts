import { describe, expect, test } from "bun:test"
import { chartMove } from "../../src/alerts/types/chart-moves.ts"
import { rankMove } from "../../src/alerts/types/keyword-moves.ts"
import { bandOf } from "../../src/keywords/formulas/difficulty.ts"
import { type DayRank, moveBetween } from "../../src/keywords/formulas/rank-moves.ts"
import {
  type Answer,
  alerts,
  answer,
  app,
  apps,
  audit,
  charts,
  competition,
  daysOf,
  every,
  history,
  market,
  page,
  portfolio,
  ranks,
  rival,
  rivals,
  TODAY,
  today,
  value,
} from "./sandbox-answers.ts"

describe("ranks", () => {
  test("a keyword has the same rank in every sample answer", () => {
    for (const { term, rank, measured, searchDepth } of ranks.keywords) {
      const last = daysOf(term).findLast(({ day }) => day === TODAY)
      expect([term, last?.rank]).toEqual([term, measured ? rank : undefined])
      const competing = competition.keywords.find((row: Answer) => row.term === term)
      expect([term, competing?.rank, competing?.depth]).toEqual([
        term,
        measured ? rank : undefined,
        searchDepth ?? undefined,
      ])
      const rivalRow = rival.keywords.find((row: Answer) => row.term === term)
      if (rivalRow) expect([term, rivalRow.ourRank, rivalRow.tracked]).toEqual([term, rank, true])
    }
    expect(competition.notMeasured).toEqual(
      ranks.keywords.filter((row: Answer) => !row.measured).map(({ term }: Answer) => term),
    )
    const { metadata } = answer("fetch")
    const { from, to, wanted: requested } = answer("get_search_popularity")
    const { popularity } = requested.find(({ term }: Answer) => term === metadata.term)
    const { overall100, overall5 } = popularity
    const expected = { state: "measured", from, to, terms: [{ term: metadata.term, overall100, overall5 }] }
    expect(metadata.adsPopularity).toMatchObject(expected)
    expect(metadata.history).toEqual(history.keywords.find((row: Answer) => row.term === metadata.term).series)
    expect(metadata.current.rank).toBe(daysOf(metadata.term).at(-1)?.rank)
  })

  test("a rival's rank and rating count match the top apps of each keyword", () => {
    const named = new Map(rivals.rivals.map((row: Answer) => [row.id, row]))
    for (const { term, rank, top } of competition.keywords)
      for (const { id, rank: rivalRank, name, ratings } of top) {
        if (id === app.iosId) {
          expect([term, rivalRank, ratings]).toEqual([term, rank, page.ios.ratings])
          continue
        }
        const spiedApp = named.get(id) as Answer
        expect([id, name, ratings]).toEqual([id, spiedApp.name, spiedApp.ratings])
        const rivalRow = spiedApp.terms.find((row: Answer) => row.term === term)
        if (rivalRow || rank === null || rivalRank < rank)
          expect([term, id, rivalRow?.theirRank]).toEqual([term, id, rivalRank])
      }
    for (const { id, name, ratings } of answer("fetch").metadata.current.above)
      expect(named.get(id)).toMatchObject({ name, ratings })
  })

  test("a rival's ranks match the list of rivals, and its rating count is the last value of its history", () => {
    const listed = rivals.rivals.find(({ id }: Answer) => id === rival.id)
    for (const { term, theirRank } of listed.terms)
      expect(rival.keywords.find((row: Answer) => row.term === term)).toMatchObject({ rank: theirRank })
    const last = rival.history.points.at(-1)
    for (const { ratings, rating, ratingsDay, ratingsSource } of [rival, market])
      expect({ ratings, rating, day: ratingsDay, source: ratingsSource }).toEqual(last)
    expect([listed.ratings, listed.name, listed.manual]).toEqual([last.ratings, rival.name, rival.manual])
    expect(rival.total).toBe(rival.keywords.length)
    const spy = answer("get_usage").quotas.find(({ key }: Answer) => key === "spy")
    expect([spy.used, spy.limit]).toEqual([rival.spies.used, rival.spies.limit])
  })

  test("every rival in any answer has a sample that matches the list of rivals", () => {
    const ids = new Set(
      [...rivals.rivals, ...alerts.map(({ rivalId }: Answer) => ({ id: rivalId }))].map(({ id }) => id),
    )
    ids.delete(null)
    expect(ids.size).toBe(rivals.rivals.length)
    const details = every("get_rival")
    for (const id of ["get_rival_market", "get_rival_ad_networks"])
      expect([id, ...every(id).map((row) => row.id)]).toEqual([id, ...details.map((row) => row.id)])
    expect(new Set(details.map((row) => row.id))).toEqual(ids)
    for (const detail of details) {
      const listed = rivals.rivals.find(({ id }: Answer) => id === detail.id)
      const { name, ratings, ratingsDay, ratingsSource, manual } = detail
      expect(listed).toMatchObject({ name, ratings, ratingsDay, ratingsSource, manual })
      expect(every("get_rival_market").find(({ id }) => id === detail.id)).toMatchObject({
        name,
        ratings,
        rating: detail.rating,
      })
      expect(every("get_rival_ad_networks").find(({ id }) => id === detail.id).name).toBe(name)
      expect([detail.total, detail.history.points.at(-1).ratings]).toEqual([detail.keywords.length, ratings])
      const rivalAlerts = alerts.filter(({ type, rivalId }: Answer) => type === "rival_event" && rivalId === detail.id)
      for (const { change: kind, day, at, before, after } of rivalAlerts)
        expect(detail.changes).toContainEqual(expect.objectContaining({ kind, day, at, before, after }))
      const tracked = detail.keywords.filter(({ tracked }: Answer) => tracked)
      for (const { term, theirRank, ourRank } of listed.terms)
        expect(tracked.find((row: Answer) => row.term === term)).toMatchObject({ rank: theirRank, ourRank })
      for (const { term, rank } of tracked) {
        const top = competition.keywords.find((row: Answer) => row.term === term).top
        const ranked = top.find(({ id }: Answer) => id === detail.id)
        if (ranked) expect([term, detail.id, ranked.rank]).toEqual([term, detail.id, rank])
      }
    }
  })

  test("difficulty and popularity are values of the formulas and are the same in each answer", () => {
    for (const row of ranks.keywords) {
      const { difficulty, popularity, popularitySource, popularityWeek } = row
      expect([row.term, row.difficultyBand]).toEqual([row.term, difficulty === null ? null : bandOf(difficulty)])
      if (popularity === null) expect([popularitySource, popularityWeek]).toEqual([null, null])
      else expect(["apple-ads-report", "estimate"]).toContain(popularitySource)
      if (popularitySource === "apple-ads-report") expect(popularityWeek).toMatch(/^\d{4}-\d{2}$/)
      const competing = competition.keywords.find(({ term }: Answer) => term === row.term)
      if (competing)
        expect(row).toMatchObject({ difficulty: competing.difficulty, difficultyBand: competing.difficultyBand })
    }
  })
})

describe("today", () => {
  test("today's counts of each storefront and store match the snapshot", () => {
    for (const { platform, country, tracked, measured, ranked, best } of app.snapshot) {
      const of = (key: string) => value(key, platform, country)
      expect([of("keywordsTracked"), of("keywordsMeasured")]).toEqual([tracked, measured])
      expect([of("keywordsRanked"), of("bestRank")]).toEqual(measured > 0 ? [ranked, best] : [null, null])
    }
  })

  test("today's moves are the differences between the last two measured days of the history", () => {
    const moved = ranks.keywords.flatMap(({ term, measured }: Answer) => {
      const [before, after] = daysOf(term).slice(-2)
      const move = measured && before && after && moveBetween(before, after)
      if (!move || move.direction === "same") return []
      return [{ term, direction: move.direction, rank: move.to, was: move.from, against: before.day }]
    })
    const of = today.moves.filter(({ platform, country }: Answer) => platform === "ios" && country === "us")
    expect(of).toMatchObject(moved)
    expect(of).toHaveLength(moved.length)
    for (const { platform, country } of app.snapshot) {
      const moves = today.moves.filter((row: Answer) => row.platform === platform && row.country === country)
      const keys = { Up: "up", Down: "down", Entered: "entered", Dropped: "dropped" }
      for (const [key, direction] of Object.entries(keys)) {
        const count = moves.filter((row: Answer) => row.direction === direction).length
        expect(value(`keywords${key}`, platform, country) ?? 0).toBe(count)
      }
      for (const { term } of moves) expect(app.keywordsByCountry[country]).toContain(term)
    }
  })

  test("today's ratings match the store page and the audit", () => {
    for (const platform of ["ios", "android"])
      for (const key of ["rating", "ratings"]) expect(value(key, platform, "us")).toBe(page[platform][key])
    for (const { country, rating, ratings } of audit.rows.filter((row: Answer) => app.countries.includes(row.country)))
      expect([value("rating", "ios", country), value("ratings", "ios", country)]).toEqual([rating, ratings])
    for (const { stars, ratings } of [{ ...page.ios, ...page.ios.listingExtras }, page.android])
      expect(Object.values<number>(stars).reduce((sum, count) => sum + count, 0)).toBe(ratings)
  })

  test("the portfolio sums the day's known values, with Google Play's reviews counted once per language", () => {
    const [row] = portfolio.apps
    const sum = (...keys: string[]) =>
      today.figures.reduce(
        (total: number, figure: Answer) => total + (keys.includes(figure.key) ? (figure.value ?? 0) : 0),
        0,
      )
    expect([apps.length, row.appId, row.keywordsTracked, row.keywordsMeasured]).toEqual([
      1,
      app.id,
      sum("keywordsTracked"),
      sum("keywordsMeasured"),
    ])
    expect([row.keywordsUp, row.keywordsDown]).toEqual([
      sum("keywordsUp", "keywordsEntered"),
      sum("keywordsDown", "keywordsDropped"),
    ])
    // the us and gb storefronts share one review list on Google Play
    expect(row.newReviews).toBe(sum("newReviews") - value("newReviews", "android", "gb"))
    const { apps: count, ...totals } = portfolio.totals
    expect([count, row]).toMatchObject([1, totals])
    expect(portfolio.pending).toMatchObject(
      app.snapshot
        .filter(({ tracked, measured }: Answer) => measured < tracked)
        .map(({ platform, country, tracked, measured }: Answer) => {
          return { appId: app.id, platform, country, keywords: tracked - measured }
        }),
    )
  })
})

describe("alerts", () => {
  const since = alerts.map(({ day }: Answer) => day).sort()[0]
  const pairs = <Point extends DayRank>(points: readonly Point[]) =>
    points.slice(1).flatMap((after, at): [Point, Point][] => (after.day >= since ? [[points[at] as Point, after]] : []))

  test("keyword alerts are exactly those that follow from the rank history", () => {
    const due = history.keywords.flatMap(({ term }: Answer) =>
      pairs(daysOf(term)).flatMap(([before, after]) => {
        const type = rankMove(before, after)
        return type ? [[type, term, before.rank, after.rank, before.day, after.day].join(" ")] : []
      }),
    )
    const types = ["dropped_out", "entered", "rank_drop", "rank_rise"]
    const keywordAlerts = alerts.filter((row: Answer) => types.includes(row.type) && row.platform === "ios")
    expect(
      keywordAlerts
        .map((row: Answer) => [row.type, row.term, row.before, row.after, row.against, row.day].join(" "))
        .sort(),
    ).toEqual(due.sort())
  })

  test("rival alerts agree with the app's history, and Google Play alerts with today's moves", () => {
    for (const row of alerts.filter(({ type }: Answer) => type === "rival_passed" || type === "rival_beaten")) {
      const rankOn = (day: string) => daysOf(row.term).find((entry) => entry.day === day)?.rank
      expect([row.id, row.before, row.after]).toEqual([row.id, rankOn(row.against), rankOn(row.day)] as number[])
      const stored = rivals.rivals.find(({ id }: Answer) => id === row.rivalId)
      expect(stored).toMatchObject({ name: row.rivalName, manual: row.rivalManual })
      const now = stored.terms.find(({ term }: Answer) => term === row.term)
      if (row.day === TODAY) expect(now.theirRank).toBe(row.rivalAfter)
    }
    for (const { term, country, before, after, against } of alerts.filter((row: Answer) => row.platform === "android"))
      expect(today.moves).toContainEqual(
        expect.objectContaining({ term, country, platform: "android", was: before, rank: after, against }),
      )
  })

  test("chart alerts are exactly those that follow from the chart positions", () => {
    const due = charts.charts.flatMap(({ series, source }: Answer) =>
      pairs(
        series.map(([day, rank, depth]: [string, number | null, number]) => ({ day, rank, depth, source })),
      ).flatMap(([before, after]) => chartMove(before, after) ?? []),
    )
    expect(alerts.map(({ type }: Answer) => type).filter((type: string) => type.startsWith("chart_"))).toEqual(due)
  })
})
