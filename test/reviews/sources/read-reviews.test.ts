import { afterAll, describe, expect, test } from "bun:test"
import { ReadFailure, readOnce, type Source } from "../../../src/measuring/source.ts"
import type { ReviewsObservation } from "../../../src/reviews/kinds/review-shape.ts"
import { readPlayReviews, readReviews } from "../../../src/reviews/sources/read-reviews.ts"
import { fixture } from "../../stores/parsing/parsed.ts"
import { reachOf, replayServer } from "../../stores/parsing/replay.ts"
import { type Page, playAnswer, xmlFeed } from "../../stores/parsing/review-pages.ts"

const ID = "1600000201"
const server = replayServer()
afterAll(() => server.stop())

const now = () => new Date("2026-10-10T12:00:00Z")
const ask = async <Asked>(source: Source<Asked, ReviewsObservation>, subject: Asked) =>
  (await readOnce(source, subject, reachOf(server, { now }))).seen

const none = () => false

/** Answers requests for page N with the next prepared response for that page. Returns the list of requested pages. */
function feed(pages: Record<number, (Page | string | number)[]>): string[] {
  const requested: string[] = []
  const times = new Map<string, number>()
  server.on("itunes.apple.com", "/us/rss/customerreviews/", ({ url }) => {
    const [, page = "", form = ""] = /page=(\d+)\/.*\/(xml|json)$/.exec(url.pathname) ?? []
    requested.push(form === "json" ? `${page} in JSON` : page)
    const answers = pages[Number(page)] ?? [{ reviews: [], last: null }]
    const time = times.get(page) ?? 0
    times.set(page, time + 1)
    const answer = answers[Math.min(time, answers.length - 1)]!
    if (typeof answer === "number") return new Response("refused", { status: answer })
    return new Response(typeof answer === "string" ? answer : xmlFeed("us", ID, Number(page), answer))
  })
  return requested
}

const read = (rest: Partial<Parameters<typeof readReviews>[1]> = {}) =>
  readReviews(ask, { storefront: "us", id: ID, isKnown: none, ...rest })

/** Returns the number of reviews per page, and how the reading ended. */
const summaryOf = (pages: readonly ReviewsObservation[]) => ({
  pages: pages.map(({ page, reviews }) => `${page}: ${reviews.length}`),
  ends: pages.flatMap(({ end }) => end ?? []),
})

const full = (page: number, last = 10): Page => ({ reviews: numbered(page * 100, 50), last })
const empty: Page = { reviews: [], last: 10 }
const numbered = (from: number, count: number) => Array.from({ length: count }, (_, i) => 100_000 - from - i)

describe("readings of the App Store's reviews", () => {
  test("App Store reviews are read up to the tenth page, each page once", async () => {
    const requested = feed(Object.fromEntries(Array.from({ length: 10 }, (_, i) => [i + 1, [full(i + 1)]])))
    const pages = await read()
    expect(requested).toEqual(["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"])
    expect(pages.flatMap(({ reviews }) => reviews)).toHaveLength(500)
    expect(summaryOf(pages).ends).toEqual([{ pages: 10, complete: true, empty: false }])
    expect(pages.at(-1)!.end).toBeDefined()
  })

  test("App Store reviews end at the last page that the feed names", async () => {
    const requested = feed({ 1: [full(1, 2)], 2: [{ reviews: numbered(200, 7), last: 2 }] })
    expect(summaryOf(await read())).toEqual({
      pages: ["1: 50", "2: 7"],
      ends: [{ pages: 2, complete: true, empty: false }],
    })
    expect(requested).toEqual(["1", "2"])
  })

  test("App Store reviews are read until a page has a stored review that is unchanged", async () => {
    const requested = feed({ 1: [full(1)], 2: [full(2)], 3: [full(3)] })
    const edited = 100_000 - 120
    const storedId = 100_000 - 230
    const pages = await read({
      isKnown: ({ id, at }) => (id === String(edited) ? at.getTime() === 0 : id === String(storedId)),
    })
    expect(requested).toEqual(["1", "2"])
    expect(summaryOf(pages)).toEqual({ pages: ["1: 50", "2: 50"], ends: [{ pages: 2, complete: true, empty: false }] })
  })

  test("a page that is empty on the first request is read on the second request", async () => {
    const requested = feed({ 1: [empty, full(1, 2)], 2: [empty, { reviews: [7, 6], last: 2 }] })
    expect(summaryOf(await read())).toEqual({
      pages: ["1: 50", "2: 2"],
      ends: [{ pages: 2, complete: true, empty: false }],
    })
    expect(requested).toEqual(["1", "1", "2", "2"])
  })

  test("a reading continues after a page that is empty on both requests, but is then incomplete", async () => {
    const requested = feed({ 1: [full(1, 4)], 2: [empty], 3: [full(3, 4)], 4: [full(4, 4)] })
    expect(summaryOf(await read())).toEqual({
      pages: ["1: 50", "3: 50", "4: 50"],
      ends: [{ pages: 3, complete: false, empty: false }],
    })
    expect(requested).toEqual(["1", "2", "2", "3", "4"])
    feed({ 1: [empty], 2: [full(2, 2)] })
    expect(summaryOf(await read()).ends).toEqual([{ pages: 1, complete: false, empty: false }])
  })

  test("a reading with a stored review below an empty page is incomplete", async () => {
    feed({ 1: [full(1)], 2: [empty], 3: [full(3)] })
    const pages = await read({ isKnown: ({ id }) => id === String(100_000 - 310) })
    expect(summaryOf(pages)).toEqual({ pages: ["1: 50", "3: 50"], ends: [{ pages: 2, complete: false, empty: false }] })
  })

  test("a reading stops after three consecutive pages that are each empty on both requests", async () => {
    const requested = feed({ 1: [full(1)], 2: [empty], 3: [empty], 4: [empty], 5: [full(5)] })
    expect(summaryOf(await read()).ends).toEqual([{ pages: 1, complete: false, empty: false }])
    expect(requested).toEqual(["1", "2", "2", "3", "3", "4", "4"])
  })

  test("a reading ends at an empty page whose links show that the page is beyond the last page", async () => {
    const pageBeyond: Page = { reviews: [], last: 1 }
    const requested = feed({ 1: [{ reviews: [5, 4], last: null }], 2: [pageBeyond] })
    expect(summaryOf(await read()).ends).toEqual([{ pages: 1, complete: true, empty: false }])
    expect(requested).toEqual(["1", "2", "2"])
    // The end is not accepted if the page before it contradicts it.
    feed({ 1: [full(1, 3)], 2: [pageBeyond], 3: [full(3, 3)] })
    expect(summaryOf(await read()).ends).toEqual([{ pages: 2, complete: false, empty: false }])
  })

  test("a reading finds that an app has no reviews only if both requests for the first page state this", async () => {
    const last: Page = { reviews: [], last: 1 }
    const requested = feed({ 1: [last] })
    const pages = await read()
    expect(pages).toHaveLength(1)
    expect(pages[0]).toMatchObject({ page: 1, reviews: [], end: { pages: 1, complete: true, empty: true } })
    expect(requested).toEqual(["1", "1"])
    for (const unsure of [
      [empty],
      [last, empty],
      [empty, last],
      [{ reviews: [], last: null }],
      [last, { reviews: [], last: null }],
    ]) {
      feed({ 1: unsure as Page[] })
      const failed = await read().catch((error) => error)
      expect(failed).toBeInstanceOf(ReadFailure)
      expect(failed.outcome).toBe("failed")
    }
  })

  test("if the app has no ratings, an empty page without a statement means that there are no reviews", async () => {
    const unsaid: Page = { reviews: [], last: null }
    feed({ 1: [unsaid] })
    expect(summaryOf(await read({ ratings: 0 })).ends).toEqual([{ pages: 1, complete: true, empty: true }])
    for (const ratings of [1, null]) expect(await read({ ratings }).catch((error) => error.outcome)).toBe("failed")
    feed({ 1: [empty] })
    expect(await read({ ratings: 0 }).catch((error) => error.outcome)).toBe("failed")
    feed({ 1: [{ reviews: [9], last: 1 }] })
    expect(summaryOf(await read({ ratings: 0 })).ends).toEqual([{ pages: 1, complete: true, empty: false }])
  })

  test("an unreadable XML page is read from JSON, and an empty JSON page does not count as the end", async () => {
    const requested = feed({
      1: [
        "<feed>",
        fixture("apple-reviews-fr.json")
          .replaceAll("/fr/", "/us/")
          .replaceAll("1600000205", ID)
          .replaceAll("page=10/", "page=1/"),
      ],
    })
    expect(summaryOf(await read())).toEqual({ pages: ["1: 3"], ends: [{ pages: 1, complete: true, empty: false }] })
    expect(requested).toEqual(["1", "1 in JSON"])
    const bare = `{"feed":{"id":{"label":"https://itunes.apple.com/us/rss/customerreviews/page=1/id=${ID}/json"}}}`
    feed({ 1: ["<feed>", bare] })
    expect(await read().catch((error) => error.outcome)).toBe("changed")
  })

  test("a reading fails if the request for its first page fails", async () => {
    for (const [status, outcome] of [
      [403, "blocked"],
      [429, "rate_limited"],
      [502, "failed"],
      [404, "not_found"],
    ] as const) {
      const requested = feed({ 1: [status] })
      expect(await read().catch((error) => error.outcome)).toBe(outcome)
      expect(requested).toEqual(["1"])
    }
  })

  test("a reading ends at a later page that fails, and is then incomplete", async () => {
    for (const status of [403, 429, 502]) {
      const requested = feed({ 1: [full(1)], 2: [full(2)], 3: [status] })
      expect(summaryOf(await read())).toEqual({
        pages: ["1: 50", "2: 50"],
        ends: [{ pages: 2, complete: false, empty: false }],
      })
      expect(requested).toEqual(["1", "2", "3"])
    }
  })

  test("an error that the store did not cause fails the whole reading", async () => {
    feed({ 1: [full(1)], 2: [full(2)] })
    let calls = 0
    const stopped = readReviews(
      (source, subject) => (++calls > 1 ? Promise.reject(new Error("no turn")) : ask(source, subject)),
      { storefront: "us", id: ID, isKnown: none },
    )
    expect(await stopped.catch((error) => error.message)).toBe("no turn")
  })
})

describe("readings of Google Play's reviews", () => {
  const APP = "com.example.tide"
  const play = (rest: Partial<Parameters<typeof readPlayReviews>[1]> = {}) =>
    readPlayReviews(ask, { storefront: "us", language: "en", id: APP, isKnown: none, ...rest })

  /** Answers requests by token, each time with the next prepared response. Returns the list of requested tokens. */
  function store(answers: Record<string, (ReturnType<typeof playAnswer> | number)[]>): string[] {
    const requested: string[] = []
    server.on("play.google.com", "/_/PlayStoreUi", ({ body }) => {
      const [[[, call]]] = JSON.parse(new URLSearchParams(body).get("f.req")!)
      const token = JSON.parse(call)[2][2][2] ?? "first"
      requested.push(token)
      const all = answers[token] ?? [500]
      const answer = all[Math.min(requested.filter((other) => other === token).length, all.length) - 1]!
      return typeof answer === "number" ? new Response("", { status: answer }) : new Response(answer)
    })
    return requested
  }
  const ids = (from: number, count = 150) => Array.from({ length: count }, (_, i) => from - i)

  test("Google Play reviews are read by the token of each page until a page has none", async () => {
    const requested = store({ first: [playAnswer(ids(900), "b")], b: [playAnswer(ids(700, 20), null)] })
    const pages = await play()
    expect(requested).toEqual(["first", "b"])
    expect(pages.map(({ token, reviews }) => [token, reviews.length])).toEqual([
      [undefined, 150],
      ["b", 20],
    ])
    expect(summaryOf(pages).ends).toEqual([{ pages: 2, complete: true, empty: false }])
  })

  test("Google Play reviews are read until a stored review or the maximum is reached", async () => {
    const pages = { first: [playAnswer(ids(900), "b")], b: [playAnswer(ids(750), "c")], c: [playAnswer(ids(600), "d")] }
    const requested = store(pages)
    expect(summaryOf(await play({ isKnown: ({ id }) => id === "r-700" })).ends).toEqual([
      { pages: 2, complete: true, empty: false },
    ])
    expect(requested).toEqual(["first", "b"])
    expect(summaryOf(await play({ most: 450 })).ends).toEqual([{ pages: 3, complete: true, empty: false }])
  })

  test("Google Play reviews end at an empty page without a token, and that page is requested twice", async () => {
    const requested = store({ first: [playAnswer(ids(900), "b")], b: [playAnswer([], null)] })
    expect(summaryOf(await play()).ends).toEqual([{ pages: 1, complete: true, empty: false }])
    expect(requested).toEqual(["first", "b", "b"])
  })

  test("an empty page, a repeated token or a failure leaves a Google Play reading incomplete", async () => {
    store({ first: [playAnswer(ids(900), "b")], b: [playAnswer([], "c")], c: [playAnswer(ids(500, 3), null)] })
    expect(summaryOf(await play()).ends).toEqual([{ pages: 2, complete: false, empty: false }])
    store({ first: [playAnswer(ids(900), "b")], b: [playAnswer(ids(750), "b")] })
    expect(summaryOf(await play()).ends).toEqual([{ pages: 2, complete: false, empty: false }])
    store({ first: [playAnswer(ids(900), "b")], b: [429] })
    expect(summaryOf(await play()).ends).toEqual([{ pages: 1, complete: false, empty: false }])
    store({ first: [playAnswer(ids(900), "b")], b: [playAnswer(null, null)] })
    expect(summaryOf(await play()).ends).toEqual([{ pages: 1, complete: false, empty: false }])
  })

  test("an app has no Google Play reviews if both requests state this, or if the app has no ratings", async () => {
    store({ first: [playAnswer([], null)] })
    expect(summaryOf(await play()).ends).toEqual([{ pages: 1, complete: true, empty: true }])
    store({ first: [playAnswer(null, null)] })
    expect(await play().catch((error) => error.outcome)).toBe("failed")
    expect(summaryOf(await play({ ratings: 0 })).ends).toEqual([{ pages: 1, complete: true, empty: true }])
    store({ first: [playAnswer([], null), playAnswer(ids(9, 2), null)] })
    expect(summaryOf(await play()).ends).toEqual([{ pages: 1, complete: true, empty: false }])
  })
})
