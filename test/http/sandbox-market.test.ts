import { describe, expect, test } from "bun:test"
import { addDays } from "../../src/lib/days.ts"
import {
  type Answer,
  answer,
  app,
  charts,
  competition,
  daysOf,
  every,
  movers,
  page,
  ranks,
  rival,
  rivals,
  TODAY,
} from "./sandbox-answers.ts"

describe("the market", () => {
  const [check, hard, days] = [answer("check_rank"), answer("get_keyword_difficulty"), answer("hive_get_keyword_ranks")]
  const placed = (places: Answer[]) => places.map(({ rank, id, name }) => [rank, id, name])

  test("market answers give the app the same rank as the answers about tracked keywords", () => {
    const { rank, searchDepth, measuredAt, ...figures } = ranks.keywords.find(({ term }: Answer) => term === check.term)
    expect(check).toMatchObject({ app: { id: app.iosId, name: app.name }, rank, depth: searchDepth, measuredAt })
    expect(placed(hard.top).slice(0, 3)).toEqual(placed(check.above))
    expect(placed(days.results[0].apps)).toEqual(placed(hard.top).slice(0, days.top))
    for (const { day, apps } of days.results)
      expect([day, apps.findIndex(({ id }: Answer) => id === app.iosId) + 1]).toEqual([
        day,
        daysOf(days.term).find((row) => row.day === day)!.rank!,
      ])
    const { difficulty, difficultyBand, difficultyAt, demand, demandAt } = figures
    expect(hard).toMatchObject({ difficulty, difficultyBand, difficultyAt, demand, demandAt, measuredAt })
    expect(hard.related.length).toBe(figures.hintCount)
  })

  test("keyword research has the figures of tracked keywords and the top apps of the difficulty", () => {
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

  test("a market keyword has the tracked keyword's figures, and is marked stale by the day of the snapshot", () => {
    const marketMetrics = answer("hive_get_keyword_metrics")
    const trackedRank = ranks.keywords.find(({ term }: Answer) => term === marketMetrics.term)
    const { popularityStanding: popularity, difficultyStanding: difficulty } = marketMetrics
    expect([marketMetrics.popularity, marketMetrics.difficulty]).toEqual([
      trackedRank.popularity,
      trackedRank.difficulty,
    ])
    expect([popularity.month, popularity.measuredAt]).toEqual([trackedRank.popularityWeek, trackedRank.popularityAt])
    expect([difficulty.band, difficulty.measuredAt]).toEqual([trackedRank.difficultyBand, trackedRank.difficultyAt])
    expect(difficulty.evidence.parts).toMatchObject(hard.parts)
    for (const { stale, staleAt } of [popularity, difficulty]) expect(stale).toBe(staleAt.slice(0, 10) <= TODAY)
    const { difficulty: series, from, to } = answer("hive_get_keyword_metrics_history")
    expect([addDays(from, 29), to, series[0].value, series[0].at]).toEqual([
      TODAY,
      TODAY,
      marketMetrics.difficulty,
      difficulty.measuredAt,
    ])
  })

  test("a rival's keywords and the keyword gap match the tracked keywords", () => {
    const [spied, gap] = [answer("hive_spy_app"), answer("hive_get_keyword_gap")]
    expect([spied.id, spied.name, spied.total]).toEqual([rival.id, rival.name, rival.total])
    expect(spied.searched).toBeGreaterThanOrEqual(rival.searched)
    expect(gap).toMatchObject({ searched: spied.searched, since: spied.since })
    const followed = new Map(every("get_rival").map((rivalApp) => [rivalApp.id, rivalApp.keywords]))
    for (const [i, { term, rank, depth, day, source }] of spied.keywords.entries())
      expect(rival.keywords[i]).toMatchObject({ term, rank, depth, day, source })
    for (const { term, held: count, missing, ranks: places, popularity, difficulty } of gap.keywords) {
      const placed = gap.apps.filter(({ id }: Answer) => places[id] !== null)
      expect([term, count, missing.length]).toEqual([term, placed.length, gap.apps.length - placed.length])
      for (const { id } of gap.apps) {
        const ourRank = rival.keywords.find((row: Answer) => row.term === term)?.ourRank ?? null
        const theirRank = followed.get(id)?.find((row: Answer) => row.term === term)?.rank ?? null
        expect([term, id, places[id]]).toEqual([term, id, id === app.iosId ? ourRank : theirRank])
      }
      const figures = spied.keywords.find((row: Answer) => row.term === term)
      expect(figures).toMatchObject({ popularity, difficulty })
      const tracked = ranks.keywords.find((row: Answer) => row.term === term)
      if (tracked) expect(tracked).toMatchObject({ popularity, difficulty })
    }
  })

  test("market answers match the rivals' figures and publishers, and the count of names with the keyword", () => {
    const compared = competition.keywords.find(({ term }: Answer) => term === hard.term)
    expect(hard.top.slice(0, 3)).toMatchObject(compared.top)
    expect(hard.top.filter(({ inTitle }: Answer) => inTitle).length).toBe(compared.inTitle)
    for (const { id, ratings } of rivals.rivals)
      for (const appRow of hard.top.filter((row: Answer) => row.id === id))
        expect([id, appRow.ratings]).toEqual([id, ratings])
    const makers = new Map(every("get_rival").map(({ id, developer }: Answer) => [id, developer]))
    for (const row of [...hard.top, ...check.above, ...answer("hive_get_similar_apps").apps, answer("hive_get_app")])
      if (makers.has(row.id)) expect([row.id, row.publisher]).toEqual([row.id, makers.get(row.id)])
    const { titles, weakest, freshness } = hard.parts
    expect(Math.round(0.3 * titles + 0.6 * weakest + 0.1 * freshness)).toBe(hard.difficulty)
    const counts = hard.top.map(({ ratings }: Answer) => ratings).sort((a: number, b: number) => a - b)
    expect([hard.rated, hard.strongest, hard.median]).toEqual([10, counts[9], (counts[4] + counts[5]) / 2])
  })

  test("hive_find_apps lists chart apps with the chart's ranks, and its dates match the publisher's page", () => {
    const [found, chart, publisher] = [answer("hive_find_apps"), answer("hive_get_chart"), answer("hive_get_publisher")]
    const { country, device, kind, genre, day, measuredAt, source, origin } = chart
    for (const { firstSeen, ageDays, ...row } of found.apps) {
      const { estimate: _, rankEstimate: __, ...listed } = chart.apps.find(({ id }: Answer) => id === row.id)
      expect(row).toEqual({ ...listed, country, device, kind, genre: genre.id, day, measuredAt, source, origin })
      expect(ageDays).toBe(0)
      const published = publisher.apps.find(({ id }: Answer) => id === row.id)
      if (published)
        expect(published.storefronts.find((at: Answer) => at.country === country)).toMatchObject({ firstSeen })
    }
    expect(found.total).toBe(found.apps.length)
    expect(found.coverage.storefronts).toMatchObject([{ country, newestDay: day, followedSince: chart.measuredSince }])
  })

  test("new apps match the charts and the pages of their publishers", () => {
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
      const listed = answer("hive_get_publisher").apps.find((app: Answer) => app.id === id)
      if (listed)
        expect(listed.storefronts.find((at: Answer) => at.country === recent.country)).toMatchObject({ firstSeen })
    }
  })
})

describe("charts", () => {
  const listOf = (device: string, kind: string, scope: string) =>
    charts.charts.find((row: Answer) => row.device === device && row.kind === kind && row.scope === scope)

  test("a chart history ends at the rank that the charts show, in the category of the app's page", () => {
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

  test("the chart movers match the ranks of the app and its rivals, and list each that moved 3 places or more", () => {
    const listed = [...movers.risers, ...movers.fallers]
    for (const { id, rank, was } of [movers.app, ...movers.rivals]) {
      const row = listed.find((entry) => entry.id === id)
      expect([id, row !== undefined]).toEqual([id, rank !== null && was !== null && Math.abs(rank - was) >= 3])
      if (row) expect([row.rank, row.was]).toEqual([rank, was])
    }
    const expected = rivals.rivals.map(({ id, manual }: Answer) => `${id} ${manual}`)
    expect(movers.rivals.map(({ id, manual }: Answer) => `${id} ${manual}`).sort()).toEqual(expected.sort())
    for (const bucket of ["risers", "fallers", "entrants", "dropouts"])
      expect(movers.counts[bucket]).toBe(movers[bucket].length)
  })
})
