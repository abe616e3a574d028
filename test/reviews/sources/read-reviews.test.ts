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
const ask = async <Asked>(source: Source<Asked, ReviewsObservation>, asked: Asked) =>
  (await readOnce(source, asked, reachOf(server, { now }))).seen

const none = () => false

/** The feed answers page N with what stands for it, each time it is asked with the next; returns what was asked for. */
function feed(pages: Record<number, (Page | string | number)[]>): string[] {
  const asked: string[] = []
  const times = new Map<string, number>()
  server.on("itunes.apple.com", "/us/rss/customerreviews/", ({ url }) => {
    const [, page = "", form = ""] = /page=(\d+)\/.*\/(xml|json)$/.exec(url.pathname) ?? []
    asked.push(form === "json" ? `${page} in JSON` : page)
    const answers = pages[Number(page)] ?? [{ reviews: [], last: null }]
    const time = times.get(page) ?? 0
    times.set(page, time + 1)
    const answer = answers[Math.min(time, answers.length - 1)]!
    if (typeof answer === "number") return new Response("refused", { status: answer })
    return new Response(typeof answer === "string" ? answer : xmlFeed("us", ID, Number(page), answer))
  })
  return asked
}

const read = (rest: Partial<Parameters<typeof readReviews>[1]> = {}) =>
  readReviews(ask, { storefront: "us", id: ID, known: none, ...rest })

/** How often each page was filled, and how the reading ended. */
const told = (pages: readonly ReviewsObservation[]) => ({
  pages: pages.map(({ page, reviews }) => `${page}: ${reviews.length}`),
  ends: pages.flatMap(({ end }) => end ?? []),
})

const full = (page: number, last = 10): Page => ({ reviews: numbered(page * 100, 50), last })
const empty: Page = { reviews: [], last: 10 }
const numbered = (from: number, count: number) => Array.from({ length: count }, (_, i) => 100_000 - from - i)

describe("the App Store's reviews", () => {
  test("are read to the tenth page, each asked for once", async () => {
    const asked = feed(Object.fromEntries(Array.from({ length: 10 }, (_, i) => [i + 1, [full(i + 1)]])))
    const pages = await read()
    expect(asked).toEqual(["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"])
    expect(pages.flatMap(({ reviews }) => reviews)).toHaveLength(500)
    expect(told(pages).ends).toEqual([{ pages: 10, complete: true, empty: false }])
    expect(pages.at(-1)!.end).toBeDefined()
  })

  test("end where the feed says that its last page is", async () => {
    const asked = feed({ 1: [full(1, 2)], 2: [{ reviews: numbered(200, 7), last: 2 }] })
    expect(told(await read())).toEqual({
      pages: ["1: 50", "2: 7"],
      ends: [{ pages: 2, complete: true, empty: false }],
    })
    expect(asked).toEqual(["1", "2"])
  })

  test("are read until a page holds one that is known as it stands: an edited one is not", async () => {
    const asked = feed({ 1: [full(1)], 2: [full(2)], 3: [full(3)] })
    const edited = 100_000 - 120
    const held = 100_000 - 230
    const pages = await read({
      known: ({ id, at }) => (id === String(edited) ? at.getTime() === 0 : id === String(held)),
    })
    expect(asked).toEqual(["1", "2"])
    expect(told(pages)).toEqual({ pages: ["1: 50", "2: 50"], ends: [{ pages: 2, complete: true, empty: false }] })
  })

  test("of a page that is empty once are read when it is asked for again", async () => {
    const asked = feed({ 1: [empty, full(1, 2)], 2: [empty, { reviews: [7, 6], last: 2 }] })
    expect(told(await read())).toEqual({
      pages: ["1: 50", "2: 2"],
      ends: [{ pages: 2, complete: true, empty: false }],
    })
    expect(asked).toEqual(["1", "1", "2", "2"])
  })

  test("go on after a page that stays empty, and then the reading is not complete", async () => {
    const asked = feed({ 1: [full(1, 4)], 2: [empty], 3: [full(3, 4)], 4: [full(4, 4)] })
    expect(told(await read())).toEqual({
      pages: ["1: 50", "3: 50", "4: 50"],
      ends: [{ pages: 3, complete: false, empty: false }],
    })
    expect(asked).toEqual(["1", "2", "2", "3", "4"])
    feed({ 1: [empty], 2: [full(2, 2)] })
    expect(told(await read()).ends).toEqual([{ pages: 1, complete: false, empty: false }])
  })

  test("that are known below an empty page leave the reading incomplete too", async () => {
    feed({ 1: [full(1)], 2: [empty], 3: [full(3)] })
    const pages = await read({ known: ({ id }) => id === String(100_000 - 310) })
    expect(told(pages)).toEqual({ pages: ["1: 50", "3: 50"], ends: [{ pages: 2, complete: false, empty: false }] })
  })

  test("are not asked for any more after three pages that stay empty", async () => {
    const asked = feed({ 1: [full(1)], 2: [empty], 3: [empty], 4: [empty], 5: [full(5)] })
    expect(told(await read()).ends).toEqual([{ pages: 1, complete: false, empty: false }])
    expect(asked).toEqual(["1", "2", "2", "3", "3", "4", "4"])
  })

  test("end before an empty page that says itself that it lies behind the last", async () => {
    const behind: Page = { reviews: [], last: 1 }
    const asked = feed({ 1: [{ reviews: [5, 4], last: null }], 2: [behind] })
    expect(told(await read()).ends).toEqual([{ pages: 1, complete: true, empty: false }])
    expect(asked).toEqual(["1", "2", "2"])
    // unless the page before has said otherwise
    feed({ 1: [full(1, 3)], 2: [behind], 3: [full(3, 3)] })
    expect(told(await read()).ends).toEqual([{ pages: 2, complete: false, empty: false }])
  })

  test("are none only where the first page says so twice", async () => {
    const last: Page = { reviews: [], last: 1 }
    const asked = feed({ 1: [last] })
    const pages = await read()
    expect(pages).toHaveLength(1)
    expect(pages[0]).toMatchObject({ page: 1, reviews: [], end: { pages: 1, complete: true, empty: true } })
    expect(asked).toEqual(["1", "1"])
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

  test("are none too where an empty page says nothing, but nobody has rated the app", async () => {
    const unsaid: Page = { reviews: [], last: null }
    feed({ 1: [unsaid] })
    expect(told(await read({ ratings: 0 })).ends).toEqual([{ pages: 1, complete: true, empty: true }])
    for (const ratings of [1, null]) expect(await read({ ratings }).catch((error) => error.outcome)).toBe("failed")
    feed({ 1: [empty] })
    expect(await read({ ratings: 0 }).catch((error) => error.outcome)).toBe("failed")
    feed({ 1: [{ reviews: [9], last: 1 }] })
    expect(told(await read({ ratings: 0 })).ends).toEqual([{ pages: 1, complete: true, empty: false }])
  })

  test("are read from JSON where the XML is not understood; that the JSON is empty says nothing", async () => {
    const asked = feed({
      1: [
        "<feed>",
        fixture("apple-reviews-fr.json")
          .replaceAll("/fr/", "/us/")
          .replaceAll("1600000205", ID)
          .replaceAll("page=10/", "page=1/"),
      ],
    })
    expect(told(await read())).toEqual({ pages: ["1: 3"], ends: [{ pages: 1, complete: true, empty: false }] })
    expect(asked).toEqual(["1", "1 in JSON"])
    const bare = `{"feed":{"id":{"label":"https://itunes.apple.com/us/rss/customerreviews/page=1/id=${ID}/json"}}}`
    feed({ 1: ["<feed>", bare] })
    expect(await read().catch((error) => error.outcome)).toBe("changed")
  })

  test("whose first page fails are not read", async () => {
    for (const [status, outcome] of [
      [403, "blocked"],
      [429, "rate_limited"],
      [502, "failed"],
      [404, "not_found"],
    ] as const) {
      const asked = feed({ 1: [status] })
      expect(await read().catch((error) => error.outcome)).toBe(outcome)
      expect(asked).toEqual(["1"])
    }
  })

  test("whose later page fails end there, and the reading is not complete", async () => {
    for (const status of [403, 429, 502]) {
      const asked = feed({ 1: [full(1)], 2: [full(2)], 3: [status] })
      expect(told(await read())).toEqual({
        pages: ["1: 50", "2: 50"],
        ends: [{ pages: 2, complete: false, empty: false }],
      })
      expect(asked).toEqual(["1", "2", "3"])
    }
  })

  test("of which a page fails by no fault of the store's are not read", async () => {
    feed({ 1: [full(1)], 2: [full(2)] })
    let calls = 0
    const stopped = readReviews(
      (source, asked) => (++calls > 1 ? Promise.reject(new Error("no turn")) : ask(source, asked)),
      { storefront: "us", id: ID, known: none },
    )
    expect(await stopped.catch((error) => error.message)).toBe("no turn")
  })
})

describe("Google Play's reviews", () => {
  const APP = "com.example.tide"
  const play = (rest: Partial<Parameters<typeof readPlayReviews>[1]> = {}) =>
    readPlayReviews(ask, { storefront: "us", language: "en", id: APP, known: none, ...rest })

  /** Answers by the token that is asked with, each time with the next; returns the tokens. */
  function store(answers: Record<string, (ReturnType<typeof playAnswer> | number)[]>): string[] {
    const asked: string[] = []
    server.on("play.google.com", "/_/PlayStoreUi", ({ body }) => {
      const [[[, call]]] = JSON.parse(new URLSearchParams(body).get("f.req")!)
      const token = JSON.parse(call)[2][2][2] ?? "first"
      asked.push(token)
      const all = answers[token] ?? [500]
      const answer = all[Math.min(asked.filter((one) => one === token).length, all.length) - 1]!
      return typeof answer === "number" ? new Response("", { status: answer }) : new Response(answer)
    })
    return asked
  }
  const ids = (from: number, count = 150) => Array.from({ length: count }, (_, i) => from - i)

  test("are read by their tokens until there is none", async () => {
    const asked = store({ first: [playAnswer(ids(900), "b")], b: [playAnswer(ids(700, 20), null)] })
    const pages = await play()
    expect(asked).toEqual(["first", "b"])
    expect(pages.map(({ token, reviews }) => [token, reviews.length])).toEqual([
      [undefined, 150],
      ["b", 20],
    ])
    expect(told(pages).ends).toEqual([{ pages: 2, complete: true, empty: false }])
  })

  test("are read until one is known, or as many as are wanted", async () => {
    const pages = { first: [playAnswer(ids(900), "b")], b: [playAnswer(ids(750), "c")], c: [playAnswer(ids(600), "d")] }
    const asked = store(pages)
    expect(told(await play({ known: ({ id }) => id === "r-700" })).ends).toEqual([
      { pages: 2, complete: true, empty: false },
    ])
    expect(asked).toEqual(["first", "b"])
    expect(told(await play({ most: 450 })).ends).toEqual([{ pages: 3, complete: true, empty: false }])
  })

  test("end at an empty page without a token, which is asked for twice", async () => {
    const asked = store({ first: [playAnswer(ids(900), "b")], b: [playAnswer([], null)] })
    expect(told(await play()).ends).toEqual([{ pages: 1, complete: true, empty: false }])
    expect(asked).toEqual(["first", "b", "b"])
  })

  test("are not complete past an empty page, a token that comes again, or a failure", async () => {
    store({ first: [playAnswer(ids(900), "b")], b: [playAnswer([], "c")], c: [playAnswer(ids(500, 3), null)] })
    expect(told(await play()).ends).toEqual([{ pages: 2, complete: false, empty: false }])
    store({ first: [playAnswer(ids(900), "b")], b: [playAnswer(ids(750), "b")] })
    expect(told(await play()).ends).toEqual([{ pages: 2, complete: false, empty: false }])
    store({ first: [playAnswer(ids(900), "b")], b: [429] })
    expect(told(await play()).ends).toEqual([{ pages: 1, complete: false, empty: false }])
    store({ first: [playAnswer(ids(900), "b")], b: [playAnswer(null, null)] })
    expect(told(await play()).ends).toEqual([{ pages: 1, complete: false, empty: false }])
  })

  test("are none only where the store says so twice, or says nothing and nobody has rated the app", async () => {
    store({ first: [playAnswer([], null)] })
    expect(told(await play()).ends).toEqual([{ pages: 1, complete: true, empty: true }])
    store({ first: [playAnswer(null, null)] })
    expect(await play().catch((error) => error.outcome)).toBe("failed")
    expect(told(await play({ ratings: 0 })).ends).toEqual([{ pages: 1, complete: true, empty: true }])
    store({ first: [playAnswer([], null), playAnswer(ids(9, 2), null)] })
    expect(told(await play()).ends).toEqual([{ pages: 1, complete: true, empty: false }])
  })
})
