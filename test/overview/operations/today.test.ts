import { beforeEach, describe, expect, test } from "bun:test"
import type { Caller } from "../../../src/access/caller.ts"
import { ENTITLEMENTS, PLANS } from "../../../src/access/plans.ts"
import { slow } from "../../long.ts"
import { listed } from "../../measuring/record/listed.ts"
import { appsReading, reading } from "../../measuring/record/measured.ts"
import { reviewed } from "../../measuring/record/reviewed.ts"
import {
  BEFORE,
  begin,
  COMPLETE,
  context,
  figure,
  portfolio,
  type Row,
  refusal,
  store,
  today,
  track,
} from "./today-scene.ts"

beforeEach(begin)

describe("keywords", () => {
  test("keywords are compared with the previous measured day, across a day without readings", async () => {
    const app = await track({ keywords: ["up", "down", "in", "out", "same", "first", "unread"] })
    const before = "2025-11-17T10:00:00Z"
    const day = "2025-11-20T10:00:00Z"
    await store(
      reading("up", before, [20001, 20002, 10001]),
      reading("up", day, [10001, 20002]),
      reading("down", before, [10001, 20002]),
      reading("down", day, [20001, 10001]),
      reading("in", before, [20001, 20002, 20003, 20004]),
      reading("in", day, [20001, 10001]),
      reading("out", before, [20001, 10001]),
      reading("out", day, [20001, 20002, 20003]),
      reading("same", before, [10001]),
      reading("same", day, [10001]),
      reading("first", day, [20001, 20002, 20003, 20004, 10001]),
    )
    const answer = await today(app)
    const value = (key: string) => figure(answer, key).value
    expect(value("keywordsTracked")).toBe(7)
    expect(value("keywordsMeasured")).toBe(6)
    expect(value("keywordsRanked")).toBe(5)
    expect(["Up", "Down", "Entered", "Dropped"].map((move) => value(`keywords${move}`))).toEqual([1, 1, 1, 1])
    expect(figure(answer, "bestRank")).toMatchObject({ value: 1, state: "measured", source: "import" })
    expect(
      answer.moves.map(({ term, direction, was, rank, against }: Record<string, unknown>) => [
        term,
        direction,
        was,
        rank,
        against,
      ]),
    ).toEqual([
      ["in", "entered", null, 2, "2025-11-17"],
      ["out", "dropped", 2, null, "2025-11-17"],
      ["up", "up", 3, 1, "2025-11-17"],
      ["down", "down", 1, 2, "2025-11-17"],
    ])
  })

  test("only the ten largest moves are listed, and further moves are counted", async () => {
    const terms = Array.from({ length: 13 }, (_, i) => `term ${i}`)
    const app = await track({ keywords: terms })
    const otherIds = Array.from({ length: 20 }, (_, i) => 20_001 + i)
    const at = (rank: number) => [...otherIds.slice(0, rank - 1), 10_001, ...otherIds.slice(rank - 1)]
    await store(
      ...terms.map((term) => reading(term, "2025-11-19T10:00:00Z", at(1))),
      ...terms.map((term, i) => reading(term, "2025-11-20T10:00:00Z", at(2 + i))),
    )
    const { moves, movesOmitted, changesOmitted } = await today(app)
    expect(moves.map(({ term }: { term: string }) => term)).toEqual(terms.slice(3).reverse())
    expect([movesOmitted, changesOmitted]).toEqual([3, 0])
  })

  test("a day without readings of keywords makes movements and best rank unknown, not zero", async () => {
    const app = await track()
    await store(reading("tea", "2025-11-19T10:00:00Z", [10001]))
    const answer = await today(app)
    for (const key of [
      "keywordsRanked",
      "keywordsUp",
      "keywordsDown",
      "keywordsEntered",
      "keywordsDropped",
      "bestRank",
    ])
      expect(figure(answer, key)).toMatchObject({ value: null, state: "not_measured", source: null })
    expect(figure(answer, "keywordsMeasured")).toMatchObject({ value: 0, state: "measured", source: "appmeter" })
    expect(answer.moves).toEqual([])
    expect(figure(await today(app, { day: "2025-11-19" }), "bestRank").value).toBe(1)
  })

  test("a change of source or a shallower reading is no movement", async () => {
    const app = await track()
    const shallow = { depth: 2 }
    await store(
      reading("tea", "2025-11-19T10:00:00Z", [20001, 10001], { source: "foreign" }),
      reading("tea", "2025-11-20T10:00:00Z", [10001]),
      reading("mate", "2025-11-19T10:00:00Z", [20001, 20002, 20003, 10001]),
      reading("mate", "2025-11-20T10:00:00Z", [20001, 20002], shallow),
    )
    const answer = await today(app)
    expect(figure(answer, "keywordsMeasured").value).toBe(2)
    expect(figure(answer, "keywordsUp")).toMatchObject({ value: null, state: "not_measured" })
    expect(figure(answer, "keywordsDropped")).toMatchObject({ value: null, state: "not_measured" })
    expect(answer.moves).toEqual([])
  })
})

describe("other figures", () => {
  test("ratings are returned with those of the previous measured day from the same source", async () => {
    const app = await track()
    await store(
      appsReading("2025-11-18T10:00:00Z", [{ id: "10001", rating: 4.7, ratings: 1_000 }]),
      appsReading("2025-11-20T10:00:00Z", [{ id: "10001", rating: 4.6, ratings: 1_040 }]),
    )
    const answer = await today(app)
    const common = {
      state: "measured",
      source: "itunes-lookup",
      measuredAt: "2025-11-20T10:00:00.000Z",
      against: "2025-11-18",
    }
    expect(figure(answer, "rating")).toMatchObject({ value: 4.6, was: 4.7, ...common })
    expect(figure(answer, "ratings")).toMatchObject({ value: 1_040, was: 1_000, ...common })
    expect(figure(await today(app, { day: "2025-11-19" }), "ratings")).toMatchObject({
      value: null,
      state: "not_measured",
    })
  })

  test("reviews count by the day in the time zone, and are unknown until the feed was read that day", async () => {
    const app = await track()
    const at = (id: string, time: string, stars: number) => ({ id, stars, at: new Date(time) })
    await store(
      reviewed(
        "2025-11-20T09:00:00Z",
        [at("1", "2025-11-19T22:59:59Z", 5), at("2", "2025-11-19T23:00:00Z", 1), at("3", "2025-11-20T08:00:00Z", 4)],
        COMPLETE,
      ),
    )
    const berlin = await today(app, { tz: "Europe/Berlin" })
    expect(berlin).toMatchObject({
      today: "2025-11-20",
      from: "2025-11-19T23:00:00.000Z",
      to: "2025-11-20T23:00:00.000Z",
    })
    const state = { state: "measured", source: "apple-reviews", measuredAt: "2025-11-20T09:00:00.000Z" }
    expect(figure(berlin, "newReviews")).toMatchObject({ value: 2, ...state })
    expect(figure(berlin, "lowReviews")).toMatchObject({ value: 1, ...state })
    expect(figure(berlin, "newReviewsAverage")).toMatchObject({ value: 2.5, ...state })
    expect(figure(await today(app), "newReviews").value).toBe(1)
    const tokyo = await today(app, { tz: "Asia/Tokyo" }, context({}, new Date("2025-11-20T15:30:00Z")))
    expect(tokyo.today).toBe("2025-11-21")
    expect(figure(tokyo, "newReviews")).toMatchObject({ value: null, state: "not_measured" })
  })

  slow("reviews of a day that is over are unknown until the feed was read after its end", async () => {
    const app = await track()
    const morning = { id: "1", stars: 1, at: new Date("2025-11-19T08:00:00Z") }
    const evening = { id: "2", stars: 5, at: new Date("2025-11-19T20:00:00Z") }
    await store(reviewed("2025-11-19T09:00:00Z", [BEFORE, morning], COMPLETE))
    const yesterday = async () => {
      const of = figure(await today(app, { day: "2025-11-19" }), "newReviews")
      return [of.value, of.state, (await portfolio({ day: "2025-11-19" })).totals.newReviews]
    }
    expect(await yesterday()).toEqual([null, "not_measured", null])
    const during = context({}, new Date("2025-11-19T10:00:00Z"))
    expect(figure(await today(app, {}, during), "newReviews").value).toBe(1)
    await store(reviewed("2025-11-20T00:00:00Z", [evening, morning], COMPLETE))
    expect(await yesterday()).toEqual([2, "measured", 2])
  })

  test("reviews are unknown on a day before the feed begins, and in a gap between two readings", async () => {
    const app = await track()
    const late = { id: "1", at: new Date("2025-11-18T08:00:00Z") }
    await store(
      reviewed("2025-11-15T09:00:00Z", [BEFORE], COMPLETE),
      reviewed("2025-11-18T09:00:00Z", [late], COMPLETE),
    )
    await store(reviewed("2025-11-20T00:00:00Z", [late], COMPLETE))
    const downloadsOn = async (day: string) => {
      const of = figure(await today(app, { day }), "newReviews")
      return [of.value, of.state, (await portfolio({ day })).totals.newReviews]
    }
    for (const day of ["2025-11-10", "2025-11-16", "2025-11-17"])
      expect(await downloadsOn(day)).toEqual([null, "not_measured", null])
    expect(await downloadsOn("2025-11-19")).toEqual([0, "measured", 0])
  })

  test("only changes seen on the requested day in the app's storefronts are listed", async () => {
    const app = await track()
    const page = (at: string, version: string, storefront = "us") =>
      listed(at, { version }, { id: "10001", storefront })
    await store(page("2025-11-19T10:00:00Z", "1.0"), page("2025-11-20T10:00:00Z", "1.1"))
    await store(page("2025-11-19T10:00:00Z", "1.0", "de"), page("2025-11-20T10:00:00Z", "1.1", "de"))
    const answer = await today(app)
    expect(answer.changes).toEqual([
      {
        at: "2025-11-20T10:00:00.000Z",
        day: "2025-11-20",
        notYetAt: "2025-11-19T10:00:00.000Z",
        source: "apple-app-page",
        country: "us",
        platform: "ios",
        kind: "version",
        before: "1.0",
        after: "1.1",
        subjectKind: null,
        subjectId: null,
        title: null,
        startsAt: null,
        endsAt: null,
        picturesBefore: null,
        picturesAfter: null,
      },
    ])
    expect((await today(app, { day: "2025-11-19" })).changes).toEqual([])
  })

  test("a change of price or screenshots shows both values, and a change of name shows no text", async () => {
    const app = await track()
    const page = (at: string, name: string, price: number, phone: string[]) =>
      listed(at, { name, price, screenshots: { phone } }, { id: "10001" })
    const [a, b] = ["a", "b"].map((name) => `https://is1-ssl.mzstatic.com/${name}.png/1290x2796bb.jpg`) as [
      string,
      string,
    ]
    await store(
      page("2025-11-19T10:00:00Z", "Old name", 0, [a]),
      page("2025-11-20T10:00:00Z", "New name", 2.99, [a, b]),
    )
    const { changes } = await today(app)
    const of = (kind: string) => changes.find((change: { kind: string }) => change.kind === kind)
    expect(changes.map(({ kind }: { kind: string }) => kind).sort()).toEqual(["name", "price", "screenshots"])
    expect(of("price")).toMatchObject({ before: "0 USD", after: "2.99 USD", picturesAfter: null })
    expect(of("screenshots")).toMatchObject({ before: null, after: null, picturesBefore: [a], picturesAfter: [a, b] })
    expect(of("name")).toMatchObject({ before: null, after: null })
    expect(JSON.stringify(changes)).not.toMatch(/Old name|New name/)
  })

  test("the words of a promotional text are returned from the Pro plan on, as in get_store_page", async () => {
    const app = await track()
    const page = (at: string, promotionalText: string) => listed(at, { promotionalText }, { id: "10001" })
    await store(page("2025-11-19T10:00:00Z", "Old secret"), page("2025-11-20T10:00:00Z", "New secret"))
    const changes = async (plan: "free" | "pro") => (await today(app, {}, context({ plan }))).changes
    expect(await changes("pro")).toMatchObject([
      { kind: "promotional_text", before: "Old secret", after: "New secret" },
    ])
    const [free, ...rest] = await changes("free")
    expect([free, rest]).toMatchObject([{ kind: "promotional_text", before: null, after: null }, []])
  })

  test("the workspace's own figures are null without a connection, and money is hidden without the right", async () => {
    const app = await track()
    const states = async (scopes: Caller["scopes"]) => {
      const { figures, hiddenMoney, conns } = await today(app, {}, context({ scopes }))
      const totals = figures.filter((row: Row) => row.country === null)
      expect(totals.every(({ value }: { value: unknown }) => value === null)).toBe(true)
      expect(conns.every(({ connected }: { connected: boolean }) => !connected)).toBe(true)
      return [hiddenMoney, Object.fromEntries(totals.map((row: Row & { state: string }) => [row.key, row.state]))]
    }
    const open = ["liveUsers", "users", "newUsers", "trials"].map((key) => [key, "not_connected"])
    const money = ["adRevenue", "subscriptionRevenue", "adSpend", "proceeds"]
    const [notConnected, hidden] = ["not_connected", "hidden"].map((state) =>
      Object.fromEntries([...open, ...money.map((key) => [key, state])]),
    )
    expect(await states(["apps:read", "revenue:read"])).toEqual([false, notConnected])
    expect(await states(["apps:read"])).toEqual([true, hidden])
  })
})

describe("the requested day", () => {
  test("the number of tracked keywords is known for today, and unknown for a past day", async () => {
    const app = await track({ keywords: ["tea", "mate"] })
    await store(reading("tea", "2025-11-19T10:00:00Z", [10001]), reading("tea", "2025-11-20T10:00:00Z", [10001]))
    expect(figure(await today(app), "keywordsTracked")).toMatchObject({ value: 2, state: "measured" })
    const past = await today(app, { day: "2025-11-19" })
    expect(figure(past, "keywordsTracked")).toMatchObject({ value: null, state: "not_measured", source: null })
    expect(figure(past, "keywordsMeasured")).toMatchObject({ value: 1, state: "measured" })
    const { apps, totals } = await portfolio({ day: "2025-11-19" })
    expect([apps[0].keywordsTracked, totals.keywordsTracked, totals.keywordsMeasured]).toEqual([null, null, 1])
  })

  test("a requested day must be yesterday or earlier in the time zone", async () => {
    const app = await track()
    for (const day of ["2025-11-20", "2025-11-21"])
      expect(await refusal(() => today(app, { day }))).toEqual([
        "bad_day",
        { field: "day", detail: `${day} is not over in UTC, where today is 2025-11-20. Omit day for today.` },
      ])
    expect(await today(app, { day: "2025-11-19" })).toMatchObject({
      today: "2025-11-19",
      past: true,
      realToday: "2025-11-20",
    })
    const late = context({}, new Date("2025-11-20T23:30:00Z"))
    expect(await today(app, { day: "2025-11-20", tz: "Asia/Tokyo" }, late)).toMatchObject({
      past: true,
      realToday: "2025-11-21",
    })
    expect(await refusal(() => today(app, { day: "2025-11-20", tz: "America/New_York" }, late))).toEqual([
      "bad_day",
      {
        field: "day",
        detail: "2025-11-20 is not over in America/New_York, where today is 2025-11-20. Omit day for today.",
      },
    ])
  })

  test("a requested day may be any day of the plan's history, including the first", async () => {
    const app = await track()
    const free = context({ entitlements: ENTITLEMENTS.free })
    expect((await today(app, { day: "2025-10-22" }, free)).today).toBe("2025-10-22")
    const [code, extra] = await refusal(() => today(app, { day: "2025-10-21" }, free))
    expect([code, extra]).toEqual(["plan_required", { detail: "This plan includes history of the last 30 days." }])
    expect((await refusal(() => portfolio({ day: "2025-10-21" }, free)))[0]).toBe("plan_required")
  })

  test("a day before the history of every plan is refused with bad_day instead of plan_required", async () => {
    const app = await track()
    for (const plan of PLANS) {
      const ctx = context({ plan, entitlements: ENTITLEMENTS[plan] })
      const detail = expect.stringMatching(/^2001-01-01 is before \d{4}-\d\d-\d\d, /)
      for (const ask of [() => today(app, { day: "2001-01-01" }, ctx), () => portfolio({ day: "2001-01-01" }, ctx)])
        expect(await refusal(ask)).toEqual(["bad_day", { field: "day", detail }])
    }
  })
})
