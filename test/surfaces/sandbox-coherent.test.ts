import { describe, expect, test } from "bun:test"
import { chartMove } from "../../src/alerts/types/chart-moves.ts"
import { rankMove } from "../../src/alerts/types/keyword-moves.ts"
import { readTree } from "../../src/database/assets.ts"
import { bandOf } from "../../src/formulas/difficulty.ts"
import { UNMEASURED } from "../../src/formulas/month-bytes.ts"
import { type DayRank, moveBetween } from "../../src/formulas/rank-moves.ts"
import { movementsAround, spanOf, type TermMonths } from "../../src/formulas/timeline.ts"
import { addDays, monthOf } from "../../src/vocabulary/days.ts"

const fixtures = readTree("fixtures/sandbox", ".json")
// biome-ignore lint/suspicious/noExplicitAny: every sample answer has a shape of its own
type Answer = any
const answer = (id: string): Answer => JSON.parse(fixtures.get(`${id}.json`) as string).answer

/** With those of what else the sample answers name. */
const every = (id: string): Answer[] => {
  const { answer, others = [] } = JSON.parse(fixtures.get(`${id}.json`) as string)
  return [answer, ...others.map((other: Answer) => other.answer)]
}

const TODAY = "2026-11-02"
const [apps, app] = [answer("list_apps").apps, answer("get_app")]
const [ranks, history] = [answer("list_keyword_ranks"), answer("get_rank_history")]
const [rivals, rival, market] = [answer("list_rivals"), answer("get_rival"), answer("get_rival_market")]
const [competition, today, portfolio] = [
  answer("get_keyword_competition"),
  answer("get_today"),
  answer("get_portfolio_overview"),
]
const [page, featuring, timeline, plan] = [
  answer("get_store_page"),
  answer("get_featuring"),
  answer("get_timeline"),
  answer("get_weekly_plan"),
]
const [charts, movers, alerts] = [
  answer("get_chart_positions"),
  answer("get_chart_movers"),
  answer("list_alerts").alerts,
]
const [reviews, found, stats] = [answer("list_reviews"), answer("search_reviews"), answer("get_review_stats")]
const audit = answer("get_storefront_audit")

const figure = (key: string, platform: string, country: string) =>
  today.figures.find((row: Answer) => row.key === key && row.platform === platform && row.country === country)
const value = (...of: Parameters<typeof figure>) => figure(...of).value

/** The days of a keyword's series, as they were read. */
const daysOf = (term: string): DayRank[] => {
  const { series, sources } = history.keywords.find((row: Answer) => row.term === term)
  return series.map(([day, rank]: [string, number | null]) => ({ day, rank, source: sources[0].source, depth: 200 }))
}

describe("ranks", () => {
  test("are the same wherever a keyword is told", () => {
    for (const { term, rank, measured, searchDepth } of ranks.keywords) {
      const last = daysOf(term).findLast(({ day }) => day === TODAY)
      expect([term, last?.rank]).toEqual([term, measured ? rank : undefined])
      const shown = competition.keywords.find((row: Answer) => row.term === term)
      expect([term, shown?.rank, shown?.depth]).toEqual([term, measured ? rank : undefined, searchDepth ?? undefined])
      const held = rival.keywords.find((row: Answer) => row.term === term)
      if (held) expect([term, held.ourRank, held.tracked]).toEqual([term, rank, true])
    }
    expect(competition.notMeasured).toEqual(
      ranks.keywords.filter((row: Answer) => !row.measured).map(({ term }: Answer) => term),
    )
    const { metadata } = answer("fetch")
    const { from, to, wanted } = answer("get_search_popularity")
    const { popularity } = wanted.find(({ term }: Answer) => term === metadata.term)
    const { overall100, overall5 } = popularity
    const said = { state: "measured", from, to, terms: [{ term: metadata.term, overall100, overall5 }] }
    expect(metadata.adsPopularity).toMatchObject(said)
    expect(metadata.history).toEqual(history.keywords.find((row: Answer) => row.term === metadata.term).series)
    expect(metadata.current.rank).toBe(daysOf(metadata.term).at(-1)?.rank)
  })

  test("of rivals stand where the first places are told, with one count of ratings each", () => {
    const named = new Map(rivals.rivals.map((row: Answer) => [row.id, row]))
    for (const { term, rank, top } of competition.keywords)
      for (const { id, rank: theirs, name, ratings } of top) {
        if (id === app.iosId) {
          expect([term, theirs, ratings]).toEqual([term, rank, page.ios.ratings])
          continue
        }
        const known = named.get(id) as Answer
        expect([id, name, ratings]).toEqual([id, known.name, known.ratings])
        const held = known.terms.find((row: Answer) => row.term === term)
        if (held || rank === null || theirs < rank) expect([term, id, held?.theirRank]).toEqual([term, id, theirs])
      }
    for (const { id, name, ratings } of answer("fetch").metadata.current.above)
      expect(named.get(id)).toMatchObject({ name, ratings })
  })

  test("of one rival are those of the list of rivals, and its ratings the last of its history", () => {
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

  test("of every rival named anywhere are to be had, and are those of the list of rivals", () => {
    const ids = new Set(
      [...rivals.rivals, ...alerts.map(({ rivalId }: Answer) => ({ id: rivalId }))].map(({ id }) => id),
    )
    ids.delete(null)
    expect(ids.size).toBe(rivals.rivals.length)
    const details = every("get_rival")
    for (const id of ["get_rival_market", "get_rival_ad_networks"])
      expect([id, ...every(id).map((one) => one.id)]).toEqual([id, ...details.map((one) => one.id)])
    expect(new Set(details.map((one) => one.id))).toEqual(ids)
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
      const told = alerts.filter(({ type, rivalId }: Answer) => type === "rival_event" && rivalId === detail.id)
      for (const { change: kind, day, at, before, after } of told)
        expect(detail.changes).toContainEqual(expect.objectContaining({ kind, day, at, before, after }))
      const tracked = detail.keywords.filter(({ tracked }: Answer) => tracked)
      for (const { term, theirRank, ourRank } of listed.terms)
        expect(tracked.find((row: Answer) => row.term === term)).toMatchObject({ rank: theirRank, ourRank })
      for (const { term, rank } of tracked) {
        const top = competition.keywords.find((row: Answer) => row.term === term).top
        const seen = top.find(({ id }: Answer) => id === detail.id)
        if (seen) expect([term, detail.id, seen.rank]).toEqual([term, detail.id, rank])
      }
    }
  })

  test("difficulty and popularity are such as the product gives, the same in each answer", () => {
    for (const row of ranks.keywords) {
      const { difficulty, popularity, popularitySource, popularityWeek } = row
      expect([row.term, row.difficultyBand]).toEqual([row.term, difficulty === null ? null : bandOf(difficulty)])
      if (popularity === null) expect([popularitySource, popularityWeek]).toEqual([null, null])
      else expect(["apple-ads-report", "estimate"]).toContain(popularitySource)
      if (popularitySource === "apple-ads-report") expect(popularityWeek).toMatch(/^\d{4}-\d{2}$/)
      const shown = competition.keywords.find(({ term }: Answer) => term === row.term)
      if (shown) expect(row).toMatchObject({ difficulty: shown.difficulty, difficultyBand: shown.difficultyBand })
    }
  })
})

describe("the market", () => {
  const [check, hard, days] = [answer("check_rank"), answer("get_keyword_difficulty"), answer("hive_get_keyword_ranks")]
  const placed = (places: Answer[]) => places.map(({ rank, id, name }) => [rank, id, name])

  test("stands where the app's own keywords say, whoever is asked", () => {
    const { rank, searchDepth, measuredAt, ...own } = ranks.keywords.find(({ term }: Answer) => term === check.term)
    expect(check).toMatchObject({ app: { id: app.iosId, name: app.name }, rank, depth: searchDepth, measuredAt })
    expect(placed(hard.top).slice(0, 3)).toEqual(placed(check.above))
    expect(placed(days.results[0].apps)).toEqual(placed(hard.top).slice(0, days.top))
    for (const { day, apps } of days.results)
      expect([day, apps.findIndex(({ id }: Answer) => id === app.iosId) + 1]).toEqual([
        day,
        daysOf(days.term).find((one) => one.day === day)!.rank!,
      ])
    const { difficulty, difficultyBand, difficultyAt, demand, demandAt } = own
    expect(hard).toMatchObject({ difficulty, difficultyBand, difficultyAt, demand, demandAt, measuredAt })
    expect(hard.related.length).toBe(own.hintCount)
  })

  test("is researched with the figures that trackers see, and with apps where the keyword's own answers say", () => {
    const { seed, keywords, related } = answer("hive_research_keyword")
    const gap = answer("hive_get_keyword_gap").keywords
    expect(related).toEqual(hard.related)
    expect(seed.top.map(({ id, name }: Answer) => [id, name])).toEqual(
      hard.top.map(({ id, name }: Answer) => [id, name]),
    )
    for (const row of [seed, ...keywords]) {
      const tracked = ranks.keywords.find(({ term }: Answer) => term === row.term)
      if (tracked) expect(row).toMatchObject({ popularity: tracked.popularity, difficulty: tracked.difficulty })
      const places = row.top?.map(({ id }: Answer) => id) ?? []
      for (const [id, rank] of Object.entries(gap.find(({ term }: Answer) => term === row.term)?.ranks ?? {}))
        expect([row.term, id, places.indexOf(id) + 1 || null]).toEqual([row.term, id, rank])
    }
    for (const { term, suggested } of keywords) expect([term, related.includes(term)]).toEqual([term, suggested])
  })

  test("tells of a keyword the figures that its trackers see, stale or not by the snapshot's day", () => {
    const told = answer("hive_get_keyword_metrics")
    const own = ranks.keywords.find(({ term }: Answer) => term === told.term)
    const { popularityStanding: popularity, difficultyStanding: difficulty } = told
    expect([told.popularity, told.difficulty]).toEqual([own.popularity, own.difficulty])
    expect([popularity.month, popularity.measuredAt]).toEqual([own.popularityWeek, own.popularityAt])
    expect([difficulty.band, difficulty.measuredAt]).toEqual([own.difficultyBand, own.difficultyAt])
    expect(difficulty.evidence.parts).toMatchObject(hard.parts)
    for (const { stale, staleAt } of [popularity, difficulty]) expect(stale).toBe(staleAt.slice(0, 10) <= TODAY)
    const { difficulty: series, from, to } = answer("hive_get_keyword_metrics_history")
    expect([addDays(from, 29), to, series[0].value, series[0].at]).toEqual([
      TODAY,
      TODAY,
      told.difficulty,
      difficulty.measuredAt,
    ])
  })

  test("knows the keywords of a rival and of several apps as whoever follows them sees them", () => {
    const [spied, gap] = [answer("hive_spy_app"), answer("hive_get_keyword_gap")]
    expect([spied.id, spied.name, spied.total]).toEqual([rival.id, rival.name, rival.total])
    expect(spied.searched).toBeGreaterThanOrEqual(rival.searched)
    expect(gap).toMatchObject({ searched: spied.searched, since: spied.since })
    const followed = new Map(every("get_rival").map((one) => [one.id, one.keywords]))
    for (const [i, { term, rank, depth, day, source }] of spied.keywords.entries())
      expect(rival.keywords[i]).toMatchObject({ term, rank, depth, day, source })
    for (const { term, held, missing, ranks: places, popularity, difficulty } of gap.keywords) {
      const placed = gap.apps.filter(({ id }: Answer) => places[id] !== null)
      expect([term, held, missing.length]).toEqual([term, placed.length, gap.apps.length - placed.length])
      for (const { id } of gap.apps) {
        const own = rival.keywords.find((row: Answer) => row.term === term)?.ourRank ?? null
        const theirs = followed.get(id)?.find((row: Answer) => row.term === term)?.rank ?? null
        expect([term, id, places[id]]).toEqual([term, id, id === app.iosId ? own : theirs])
      }
      const figures = spied.keywords.find((row: Answer) => row.term === term)
      expect(figures).toMatchObject({ popularity, difficulty })
      const tracked = ranks.keywords.find((row: Answer) => row.term === term)
      if (tracked) expect(tracked).toMatchObject({ popularity, difficulty })
    }
  })

  test("shows the rivals with their figures and who makes them, and as many names with the keyword", () => {
    const shown = competition.keywords.find(({ term }: Answer) => term === hard.term)
    expect(hard.top.slice(0, 3)).toMatchObject(shown.top)
    expect(hard.top.filter(({ inTitle }: Answer) => inTitle).length).toBe(shown.inTitle)
    for (const { id, ratings } of rivals.rivals)
      for (const one of hard.top.filter((row: Answer) => row.id === id))
        expect([id, one.ratings]).toEqual([id, ratings])
    const makers = new Map(every("get_rival").map(({ id, developer }: Answer) => [id, developer]))
    for (const one of [...hard.top, ...check.above, ...answer("hive_get_similar_apps").apps, answer("hive_get_app")])
      if (makers.has(one.id)) expect([one.id, one.publisher]).toEqual([one.id, makers.get(one.id)])
    const { titles, weakest, freshness } = hard.parts
    expect(Math.round(0.3 * titles + 0.6 * weakest + 0.1 * freshness)).toBe(hard.difficulty)
    const counts = hard.top.map(({ ratings }: Answer) => ratings).sort((a: number, b: number) => a - b)
    expect([hard.rated, hard.strongest, hard.median]).toEqual([10, counts[9], (counts[4] + counts[5]) / 2])
  })

  test("finds apps on the chart as it is shown, and since when their publishers' pages say", () => {
    const [found, chart, publisher] = [answer("hive_find_apps"), answer("hive_get_chart"), answer("hive_get_publisher")]
    const { country, device, kind, genre, day, measuredAt, source, origin } = chart
    for (const { firstSeen, ageDays, ...row } of found.apps) {
      const { estimate: _, rankEstimate: __, ...listed } = chart.apps.find(({ id }: Answer) => id === row.id)
      expect(row).toEqual({ ...listed, country, device, kind, genre: genre.id, day, measuredAt, source, origin })
      expect(ageDays).toBe(0)
      const own = publisher.apps.find(({ id }: Answer) => id === row.id)
      if (own) expect(own.storefronts.find((at: Answer) => at.country === country)).toMatchObject({ firstSeen })
    }
    expect(found.total).toBe(found.apps.length)
    expect(found.coverage.storefronts).toMatchObject([{ country, newestDay: day, followedSince: chart.measuredSince }])
  })

  test("has apps on their first day as the charts and their publishers show them", () => {
    const [recent, chart, moved] = [
      answer("hive_list_new_apps"),
      answer("hive_get_chart"),
      answer("hive_get_chart_movers"),
    ]
    expect([recent.to, recent.searched]).toEqual([TODAY, [chart.country]])
    const named = new Map([...chart.apps, ...moved.entered].map((row: Answer) => [row.id, row]))
    for (const { id, name, publisher, publisherId, firstSeen, rank } of recent.apps) {
      const row = named.get(id)
      if ("publisher" in row) expect(row).toMatchObject({ name, publisher, publisherId })
      else expect([row.name, row.rank, firstSeen]).toEqual([name, rank, moved.latest.day])
      const own = answer("hive_get_publisher").apps.find((app: Answer) => app.id === id)
      if (own) expect(own.storefronts.find((at: Answer) => at.country === recent.country)).toMatchObject({ firstSeen })
    }
  })
})

describe("today", () => {
  test("counts what the snapshot counts, of every storefront and store", () => {
    for (const { platform, country, tracked, measured, ranked, best } of app.snapshot) {
      const of = (key: string) => value(key, platform, country)
      expect([of("keywordsTracked"), of("keywordsMeasured")]).toEqual([tracked, measured])
      expect([of("keywordsRanked"), of("bestRank")]).toEqual(measured > 0 ? [ranked, best] : [null, null])
    }
  })

  test("moves are those between the last two measured days of the history", () => {
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
      const own = today.moves.filter((row: Answer) => row.platform === platform && row.country === country)
      const keys = { Up: "up", Down: "down", Entered: "entered", Dropped: "dropped" }
      for (const [key, direction] of Object.entries(keys)) {
        const count = own.filter((row: Answer) => row.direction === direction).length
        expect(value(`keywords${key}`, platform, country) ?? 0).toBe(count)
      }
      for (const { term } of own) expect(app.keywordsByCountry[country]).toContain(term)
    }
  })

  test("ratings are those of the store page and of the audit", () => {
    for (const platform of ["ios", "android"])
      for (const key of ["rating", "ratings"]) expect(value(key, platform, "us")).toBe(page[platform][key])
    for (const { country, rating, ratings } of audit.rows.filter((row: Answer) => app.countries.includes(row.country)))
      expect([value("rating", "ios", country), value("ratings", "ios", country)]).toEqual([rating, ratings])
    for (const { stars, ratings } of [{ ...page.ios, ...page.ios.listingExtras }, page.android])
      expect(Object.values<number>(stars).reduce((sum, count) => sum + count, 0)).toBe(ratings)
  })

  test("the portfolio adds up what is known, Google Play's reviews once a language", () => {
    const [row] = portfolio.apps
    const sum = (...keys: string[]) =>
      today.figures.reduce((total: number, one: Answer) => total + (keys.includes(one.key) ? (one.value ?? 0) : 0), 0)
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
    // the us and gb read one list there
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

describe("the store page", () => {
  const onIos = page.timeline.filter(({ platform }: Answer) => platform === "ios")

  test("changed as the timeline says, and today's change is today's", () => {
    const told = timeline.changes.map(({ kind, at, notYetAt, subjectId, before, after }: Answer) => {
      return { kind, at, notYetAt, subjectId, before, after }
    })
    const words = ["name", "subtitle", "description", "promotional_text", "icon", "price"]
    expect(onIos.filter(({ kind }: Answer) => !words.includes(kind))).toMatchObject(told)
    expect(page.timeline.map(({ at }: Answer) => at)).toEqual(
      page.timeline
        .map(({ at }: Answer) => at)
        .sort()
        .reverse(),
    )
    for (const { at, day } of page.timeline) expect(at.slice(0, 10)).toBe(day)
    expect(today.changes).toMatchObject(
      page.timeline
        .filter(({ day }: Answer) => day === TODAY)
        .map(({ kind, at, after }: Answer) => ({ kind, at, after })),
    )
    expect(onIos.find(({ kind }: Answer) => kind === "version").after).toBe(page.ios.version)
  })

  test("keywords moved around each change as their history says", () => {
    const terms = history.keywords.map(({ term }: Answer) => monthsOf(term))
    for (const change of timeline.changes) {
      const span = spanOf({ day: change.day, beforeDay: change.notYetAt.slice(0, 10) }, timeline.window)
      const { biggest, ...counts } = movementsAround(terms, span)
      expect([change.kind, change.day, change]).toMatchObject([change.kind, change.day, counts])
      expect(change.biggest).toMatchObject(biggest.map(({ source: _, ...move }) => move))
      expect(change.windowTo).toBe(addDays(change.day, timeline.window))
    }
  })

  test("asks the prices that the page shows, and what was paid is what is asked, of products that the console sold", () => {
    const pricing = answer("get_pricing")
    const asked = new Map(pricing.listed.map((row: Answer) => [`${row.product} ${row.country}`, row.price]))
    const shown = new Map(page.ios.listingExtras.inAppPurchases.map(({ name, price }: Answer) => [name, price]))
    for (const { name, country, price } of pricing.listed)
      if (country === "us") expect([name, shown.get(name)]).toEqual([name, `$${price.amount}`])
    const costs = answer("get_country_prices")
    for (const { product, country, from, price, proceeds } of pricing.listed) {
      if (product !== costs.product.sku) continue
      const there = costs.countries.find((row: Answer) => row.country === country)
      const written = [from, price.amount, price.currency, proceeds]
      expect([there.startsAt, there.price, there.currency, there.proceeds]).toEqual(written)
    }
    const sold = answer("get_revenue").products.map(({ product }: Answer) => product)
    for (const { product, country, prices, ...counts } of pricing.paid) {
      expect(sold).toContain(product)
      expect(prices[0].price).toEqual(asked.get(`${product} ${country}`))
      expect(prices[0].sales).toBe(counts.paidStarts + counts.trialConversions + counts.renewals + counts.oneTime)
      expect(Number(prices[0].revenue)).toBeCloseTo(
        Number(prices[0].price.amount) * (prices[0].sales - counts.refunds),
        6,
      )
    }
    const told = pricing.paid.flatMap(({ product: _, country: __, countryIs: ___, prices: ____, ...counts }: Answer) =>
      Object.values(counts),
    )
    expect(told.reduce((sum: number, one: unknown) => sum + (one as number), 0)).toBe(pricing.sources[0].events)
  })

  test("what the latest change of texts did is reckoned between the readings around it, beside what else changed near", () => {
    const impact = answer("get_change_impact")
    const texts = ["price", "name", "subtitle", "screenshots", "icon", "promotional_text", "description"]
    const latest = onIos.find(({ kind }: Answer) => texts.includes(kind))
    expect([impact.day, impact.at, impact.notYetAt]).toEqual([latest.day, latest.at, latest.notYetAt])
    expect(impact.changed).toEqual([{ kind: latest.kind, countries: ["us"] }])
    const near = onIos.filter(({ day, kind }: Answer) => {
      return (
        day >= addDays(impact.day, -impact.window) && day <= addDays(impact.day, impact.window) && kind !== latest.kind
      )
    })
    expect(impact.overlaps.map(({ kind, day }: Answer) => [kind, day])).toEqual(
      near.map(({ kind, day }: Answer) => [kind, day]),
    )
    expect([impact.verdict, impact.sources[0].id]).toEqual(["confounded", answer("get_revenue").sources[0].id])
    const ranks = impact.outcomes.find(({ outcome }: Answer) => outcome === "ranks")
    expect(history.keywords.map(({ term }: Answer) => term)).toContain(ranks.treated[0])
  })

  test("the plan settles for 14 days after a change of name or subtitle, and begins with the texts that stand", () => {
    const changed = onIos.find(({ kind }: Answer) => kind === "name" || kind === "subtitle")
    const [us] = plan.storefronts
    const settledAt = new Date(Date.parse(changed.at) + 14 * 86_400_000).toISOString()
    expect(us).toMatchObject({ country: "us", state: "settling", settledAt, pageReadAt: page.ios.measuredAt })
    expect(plan.goal).toBe(app.goal)
    for (const { country, current, gains, expectedValue } of plan.tasks) {
      expect(current).toBe(audit.rows.find((row: Answer) => row.country === country).subtitle)
      const worth = gains.map(({ weight, expectedRank, rank }: Answer) => {
        return weight * (1 / expectedRank - (rank === null ? 0 : 1 / rank))
      })
      const sum = worth.reduce((total: number, one: number) => total + one, 0)
      expect(expectedValue).toBe(Math.round(sum * 100) / 100)
      for (const { term, rank } of gains) {
        expect(app.keywordsByCountry[country]).toContain(term)
        const move = today.moves.find((row: Answer) => row.term === term && row.country === country)
        if (move) expect([term, move.rank]).toEqual([term, rank])
      }
    }
  })

  test("shows what featuring shows of that storefront", () => {
    const us = (rows: Answer[], platform?: string) =>
      rows
        .filter((row) => row.country === "us" && (!platform || row.platform === platform))
        .map(({ country: _, platform: __, ...row }) => row)
    expect(us(featuring.editorial)).toEqual(page.ios.editorial)
    expect(us(featuring.events)).toEqual(page.ios.listingExtras.events)
    for (const store of ["ios", "android"]) expect(us(featuring.similar, store)).toEqual(page[store].similar)
    for (const { platform, hasEditorial, hasEvents } of featuring.storefronts)
      if (platform === "android") expect([hasEditorial, hasEvents]).toEqual([null, null])
  })
})

describe("charts", () => {
  const listOf = (device: string, kind: string, scope: string) =>
    charts.charts.find((row: Answer) => row.device === device && row.kind === kind && row.scope === scope)

  test("end at the rank told, in the category of the app's page", () => {
    for (const { measured, day, rank, depth, series } of charts.charts)
      expect(series.at(-1)).toEqual(measured ? [day, rank, depth] : undefined)
    expect([charts.category, charts.category.name]).toEqual([movers.genre, page.ios.category])
    const free = listOf("iphone", "free", "category").series
    const { rank, was } = movers.app
    expect([movers.day.day, rank, movers.against.day, was]).toEqual([
      ...free.at(-1).slice(0, 2),
      ...free.at(-2).slice(0, 2),
    ])
  })

  test("the app and its rivals stood where the movers say, and they are the rivals known", () => {
    const listed = [...movers.risers, ...movers.fallers]
    for (const { id, rank, was } of [movers.app, ...movers.rivals]) {
      const row = listed.find((one) => one.id === id)
      expect([id, row !== undefined]).toEqual([id, rank !== null && was !== null && Math.abs(rank - was) >= 3])
      if (row) expect([row.rank, row.was]).toEqual([rank, was])
    }
    const known = rivals.rivals.map(({ id, manual }: Answer) => `${id} ${manual}`)
    expect(movers.rivals.map(({ id, manual }: Answer) => `${id} ${manual}`).sort()).toEqual(known.sort())
    for (const bucket of ["risers", "fallers", "entrants", "dropouts"])
      expect(movers.counts[bucket]).toBe(movers[bucket].length)
  })
})

describe("alerts", () => {
  const since = alerts.map(({ day }: Answer) => day).sort()[0]
  const pairs = <Point extends DayRank>(points: readonly Point[]) =>
    points.slice(1).flatMap((after, at): [Point, Point][] => (after.day >= since ? [[points[at] as Point, after]] : []))

  test("of keywords are those that the history gives, no more and no fewer", () => {
    const due = history.keywords.flatMap(({ term }: Answer) =>
      pairs(daysOf(term)).flatMap(([before, after]) => {
        const type = rankMove(before, after)
        return type ? [[type, term, before.rank, after.rank, before.day, after.day].join(" ")] : []
      }),
    )
    const types = ["dropped_out", "entered", "rank_drop", "rank_rise"]
    const told = alerts.filter((row: Answer) => types.includes(row.type) && row.platform === "ios")
    expect(
      told.map((row: Answer) => [row.type, row.term, row.before, row.after, row.against, row.day].join(" ")).sort(),
    ).toEqual(due.sort())
  })

  test("of rivals agree with the app's history, and of Google Play with today's moves", () => {
    for (const row of alerts.filter(({ type }: Answer) => type === "rival_passed" || type === "rival_beaten")) {
      const rankOn = (day: string) => daysOf(row.term).find((one) => one.day === day)?.rank
      expect([row.id, row.before, row.after]).toEqual([row.id, rankOn(row.against), rankOn(row.day)] as number[])
      const held = rivals.rivals.find(({ id }: Answer) => id === row.rivalId)
      expect(held).toMatchObject({ name: row.rivalName, manual: row.rivalManual })
      const now = held.terms.find(({ term }: Answer) => term === row.term)
      if (row.day === TODAY) expect(now.theirRank).toBe(row.rivalAfter)
    }
    for (const { term, country, before, after, against } of alerts.filter((row: Answer) => row.platform === "android"))
      expect(today.moves).toContainEqual(
        expect.objectContaining({ term, country, platform: "android", was: before, rank: after, against }),
      )
  })

  test("of charts are those that the chart positions give", () => {
    const due = charts.charts.flatMap(({ series, source }: Answer) =>
      pairs(
        series.map(([day, rank, depth]: [string, number | null, number]) => ({ day, rank, depth, source })),
      ).flatMap(([before, after]) => chartMove(before, after) ?? []),
    )
    expect(alerts.map(({ type }: Answer) => type).filter((type: string) => type.startsWith("chart_"))).toEqual(due)
  })
})

describe("reviews", () => {
  test("found are those listed, and the day's are counted", () => {
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
      // biome-ignore format: a table
      const stars = list.filter(({ date }: Answer) => date.startsWith(TODAY)).map(({ rating }: Answer) => rating)
      const of = (key: string) => value(key, platform, "us")
      expect([of("newReviews"), of("lowReviews")]).toEqual([stars.length, stars.filter((n: number) => n <= 2).length])
      expect(of("newReviewsAverage")).toBe(averageOf(stars))
    }
    expect(reviews.newCount).toBe(value("newReviews", "ios", "us"))
  })

  test("are counted by stars, day and version as they are listed", () => {
    const within = reviews.list.filter(({ date }: Answer) => date >= stats.from && date.slice(0, 10) <= stats.to)
    const stars = within.map(({ rating }: Answer) => rating)
    expect([stats.count, stats.average]).toEqual([stars.length, averageOf(stars)])
    const count = (all: number[], n: number) => all.filter((one) => one === n).length
    const spread = (all: number[]) => Object.fromEntries([1, 2, 3, 4, 5].map((n) => [n, count(all, n)]))
    expect(stats.distribution).toEqual(spread(stars))
    const byVersion = Map.groupBy(within, ({ version }: Answer) => version)
    expect(stats.byVersion).toHaveLength(byVersion.size)
    for (const { version, ...figures } of stats.byVersion) {
      const own = (byVersion.get(version) ?? []).map(({ rating }: Answer) => rating)
      expect(figures).toEqual({ count: own.length, average: averageOf(own), distribution: spread(own) })
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

/** A keyword's history in the bytes that months are stored as. */
function monthsOf(term: string): TermMonths {
  const byMonth = Map.groupBy(daysOf(term), ({ day }) => monthOf(day))
  const months = [...byMonth].map(([month, points]) => {
    const bytes = {
      ranks: new Uint8Array(31).fill(UNMEASURED),
      sources: new Uint8Array(31),
      depths: new Uint8Array(31),
    }
    for (const { day, rank, depth } of points) {
      const place = Number(day.slice(8)) - 1
      bytes.ranks[place] = rank ?? 0
      bytes.depths[place] = depth
    }
    return [month, bytes] as const
  })
  return { term, months: new Map(months) }
}

describe("texts", () => {
  const [summary, ideas] = [answer("summarize_reviews"), answer("suggest_keywords")]

  test("a summary's counts are no more than its reviews, and its days lie between the first and the last", () => {
    for (const { count, share, firstDay, lastDay, quotes, reviewIds } of summary.themes) {
      expect(new Set(reviewIds).size).toBe(count)
      for (const { reviewId } of quotes) expect(reviewIds).toContain(reviewId)
      expect(share).toBeCloseTo(count / summary.reviews, 4)
      expect([summary.from <= firstDay, firstDay <= lastDay, lastDay <= summary.to]).toEqual([true, true, true])
      expect(quotes.length).toBeLessThanOrEqual(count)
    }
    expect(app.countries).toContain(summary.country)
  })

  test("what a draft rests on stands in the page, or in the review that it names", () => {
    const reviews = new Map(answer("search_reviews").reviews.map((one: { id: string }) => [one.id, one]))
    const row = answer("get_storefront_audit").rows.find(({ country }: { country: string }) => country === "us")
    for (const { kept, facts } of answer("draft_listing").fields) {
      expect(facts.length > 0).toBe(kept === null)
      for (const { reviewId, quote } of facts)
        expect(reviewId === null ? `${row.appName} ${row.subtitle}` : (reviews.get(reviewId) as Answer).text).toInclude(
          quote,
        )
    }
  })

  test("a listing in another language is of the page that was audited, for storefronts that read it", () => {
    const { source, storefronts, locale, fields } = answer("localize_listing")
    const rows = answer("get_storefront_audit").rows as Answer[]
    const reading = rows.filter(({ state, locales }) => state === "sold" && locales.includes(locale))
    expect(storefronts).toEqual(reading.map(({ country }) => country).sort())
    const { appName, subtitle } = rows.find(({ country }) => country === source.country)
    expect(fields.slice(0, 2).map(({ source }: Answer) => source)).toEqual([appName, subtitle])
    for (const { text, characters } of fields) expect(characters).toBe([...text].length)
  })

  test("the screenshots that were read are the first of the page", () => {
    const shots = answer("get_screenshot_text")
    const { measuredAt, screenshotsPhone } = answer("get_store_page").ios
    expect([shots.pageReadAt, shots.screenshots.map(({ address }: Answer) => address)]).toEqual([
      measuredAt,
      screenshotsPhone.slice(0, 4),
    ])
    for (const { caption, lines } of shots.screenshots)
      expect(caption).toBe(lines === null ? null : lines.map(({ text }: Answer) => text).join("\n"))
  })

  test("a reply answers to what its review says", () => {
    const draft = answer("draft_review_reply")
    const review = found.reviews.find(({ id }: Answer) => id === draft.reviewId)
    for (const quote of draft.addresses) expect(review.text).toInclude(quote)
    expect(draft.characters).toBe(draft.reply.length)
  })

  test("no idea is tracked or buried, and its ranks are those told elsewhere", () => {
    const told = new Map(rival.keywords.map(({ term, rank, ourRank }: Answer) => [term, { rank, ourRank }]))
    for (const { term, measured, rank, evidence } of ideas.ideas) {
      expect([...app.keywords, ...app.buriedKeywords]).not.toContain(term)
      if (!measured) continue
      const shown = told.get(term) as { rank: number; ourRank: number | null }
      expect(rank).toBe(shown.ourRank)
      expect(evidence.find(({ kind }: Answer) => kind === "rival").rank).toBe(shown.rank)
    }
  })
})

describe("ads", () => {
  const [campaigns, bought, terms] = ["list_campaigns", "list_ads_keywords", "list_ads_search_terms"].map(answer)
  const sumOf = (rows: Answer[], name: string) =>
    rows.reduce((sum, { metrics }) => sum + (name === "spend" ? Number(metrics.spend.amount) * 100 : metrics[name]), 0)

  test("add up: terms with what is withheld to the campaigns, keywords with what Apple matches by itself", () => {
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

  test("show the ranks that are tracked, and the searches of tracked keywords", () => {
    const tracked = new Map(ranks.keywords.map((row: Answer) => [row.term, row]))
    for (const { term, text, organic } of [...terms.terms, ...bought.keywords])
      if (organic?.tracked)
        expect([term ?? text, organic.rank]).toEqual([term ?? text, (tracked.get(term ?? text) as Answer).rank])
    const { wanted, top } = answer("get_search_popularity")
    expect(wanted.map(({ term }: Answer) => term)).toEqual([...tracked.keys()])
    for (const row of top) {
      const own = wanted.find(({ term }: Answer) => term === row.term)
      if (own) expect(own.popularity).toEqual(row)
    }
  })
})

describe("assistants", () => {
  const visibility = answer("get_ai_visibility")
  const check = answer("start_ai_check")

  test("each figure is the count of its answers, and keywords and rivals are those told elsewhere", () => {
    const { openai } = visibility.engines
    const named = visibility.answers.filter((one: Answer) => one.named === true)
    expect([openai.named, openai.of, openai.answers]).toEqual([named.length, 18, visibility.answers.length])
    for (const { term, named: count, of } of openai.keywords) {
      const own = visibility.answers.filter((one: Answer) => one.term === term)
      expect([term, count, of]).toEqual([term, own.filter((one: Answer) => one.named).length, own.length])
      expect(app.keywordsByCountry.us).toContain(term)
    }
    for (const { storeIds } of openai.rivals) expect(storeIds[0].id).toBe(rival.id)
    expect(check.keywords).toBe(Object.values(app.keywordsByCountry as Record<string, string[]>).flat().length)
    expect(check.answers).toBe(check.keywords * check.runs * check.engines.length)
    expect(visibility.check.id).toBe(check.checkId)
  })
})
