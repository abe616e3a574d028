import { beforeEach, describe, expect, test } from "bun:test"
import { reading } from "../../measuring/record/measured.ts"
import { reviewed, reviewedOnPlay } from "../../measuring/record/reviewed.ts"
import { BEFORE, begin, COMPLETE, portfolio, store, today, track } from "./today-scene.ts"

beforeEach(begin)

describe("the portfolio", () => {
  test("the portfolio has one row per app, totals of the known figures and a list of what is pending", async () => {
    const [first, two] = [
      await track({ keywords: ["tea", "mate"] }),
      await track({ iosId: "10002", keywords: ["tea"], countries: ["us", "de"] }),
    ]
    await store(
      reading("tea", "2025-11-19T10:00:00Z", [10002, 10001]),
      reading("tea", "2025-11-20T10:00:00Z", [10001, 10002]),
      reviewed("2025-11-20T11:00:00Z", [BEFORE, { id: "1", at: new Date("2025-11-20T01:00:00Z") }], COMPLETE),
    )
    const answer = await portfolio()
    const common = {
      liveUsers: null,
      users: null,
      newUsers: null,
      adRevenue: null,
      adSpend: null,
      subscriptionRevenue: null,
      trials: null,
    }
    expect(answer.apps).toEqual([
      {
        appId: first,
        name: "10001",
        icon: null,
        ...common,
        keywordsTracked: 2,
        keywordsMeasured: 1,
        keywordsUp: 1,
        keywordsDown: 0,
        bestRank: 1,
        newReviews: 1,
        rankSources: ["import"],
        reviewSources: ["apple-reviews"],
        reviewsReadAt: "2025-11-20T11:00:00.000Z",
      },
      {
        appId: two,
        name: "10002",
        icon: null,
        ...common,
        keywordsTracked: 2,
        keywordsMeasured: 1,
        keywordsUp: 0,
        keywordsDown: 1,
        bestRank: 2,
        newReviews: null,
        rankSources: ["import"],
        reviewSources: [],
        reviewsReadAt: null,
      },
    ])
    expect(answer.totals).toEqual({
      apps: 2,
      ...common,
      keywordsTracked: 4,
      keywordsMeasured: 2,
      keywordsUp: 1,
      keywordsDown: 1,
      bestRank: 1,
      newReviews: 1,
    })
    expect(answer.pending).toEqual([
      { appId: first, platform: "ios", country: "us", keywords: 1, expected: 0, notMeasuring: "no_worker" },
      { appId: two, platform: "ios", country: "de", keywords: 1, expected: 0, notMeasuring: "no_worker" },
    ])
    const yesterday = await portfolio({ day: "2025-11-19" })
    expect(
      yesterday.pending.map(({ expected, notMeasuring }: Record<string, unknown>) => [expected, notMeasuring]),
    ).toEqual(Array(2).fill([0, "past"]))
    expect(answer.feed).toEqual([])
    expect(answer.cards.map(({ id, state }: { id: string; state: string }) => [id, state])).toEqual([
      ["hours", "not_connected"],
      ["countries", "not_connected"],
    ])
  })

  test("the portfolio counts Google Play's reviews of a language once, however many storefronts share it", async () => {
    await track({ iosId: undefined, androidPkg: "com.example.tea", countries: ["us", "gb", "au"] })
    const reviews = [BEFORE, { id: "1", at: new Date("2025-11-20T01:00:00Z") }]
    await store(reviewedOnPlay("2025-11-20T11:00:00Z", reviews, COMPLETE))
    expect((await portfolio()).totals.newReviews).toBe(1)
  })

  test("the portfolio counts a storefront's reviews in other languages, as get_today does", async () => {
    const app = await track({ iosId: undefined, androidPkg: "com.example.tea", countries: ["us", "in"] })
    const hour = (id: string, stars: number) => ({ id, stars, at: new Date("2025-11-20T01:00:00Z") })
    await store(
      reviewedOnPlay("2025-11-20T11:00:00Z", [BEFORE, hour("1", 5)], COMPLETE),
      reviewedOnPlay("2025-11-20T11:00:00Z", [BEFORE, hour("2", 1), hour("3", 3)], {
        ...COMPLETE,
        storefront: "in",
        language: "hi",
      }),
    )
    expect((await portfolio()).totals.newReviews).toBe(3)
    const { figures } = await today(app)
    const of = (country: string, key: string) =>
      figures.find((row: Record<string, unknown>) => row.country === country && row.key === key)
    expect([of("us", "newReviews").value, of("in", "newReviews").value]).toEqual([1, 3])
    expect([of("in", "lowReviews").value, of("in", "newReviewsAverage").value]).toEqual([1, 3])
  })

  test("a portfolio without apps is empty, and totals that need a reading are unknown", async () => {
    expect(await portfolio()).toMatchObject({
      apps: [],
      pending: [],
      totals: { apps: 0, keywordsTracked: 0, bestRank: null, newReviews: null, keywordsUp: null },
    })
  })
})
