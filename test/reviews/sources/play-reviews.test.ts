import { afterAll, describe, expect, test } from "bun:test"
import { type ReadFailure, readOnce } from "../../../src/measuring/source.ts"
import { playReviews } from "../../../src/reviews/sources/play-reviews.ts"
import { checkObservation } from "../../record.ts"
import { fixture } from "../../stores/parsing/parsed.ts"
import { about } from "../../stores/parsing/play-pages.ts"
import { reachOf, replayServer } from "../../stores/parsing/replay.ts"

const pages = [fixture("play-reviews-translate-1.txt"), fixture("play-reviews-translate-2.txt")] as const
const subject = { storefront: "us", language: "en", storeId: "com.google.android.apps.translate" }
const server = replayServer()
afterAll(() => server.stop())

const read = (body: string) => playReviews.parse(body, subject, about)
const reviews = (body: string) => read(body).reviews

describe("recorded pages of Google Play", () => {
  test("each recorded page has 150 reviews, newest first, and the first page's token leads to the second", () => {
    const [first, second] = pages.map(read)
    expect([first!.reviews.length, second!.reviews.length]).toEqual([150, 150])
    const all = [...first!.reviews, ...second!.reviews]
    expect(new Set(all.map(({ id }) => id)).size).toBe(300)
    const times = all.map(({ at }) => at.getTime())
    expect(times).toEqual(times.toSorted((a, b) => b - a))
    expect([first!.more, second!.more]).toEqual([true, true])
    expect([first!.next!.length, second!.next!.length]).toEqual([292, 296])
    for (const [place, { next }] of [first!, second!].entries()) expect(pages[place]).toContain(`\\"${next}\\"`)
    for (const reading of [first, second]) checkObservation(reading!, about.seenAt)
  })

  test("stars, dates to the millisecond, versions and the only title are read correctly", () => {
    const stars = pages.map((page) =>
      [1, 2, 3, 4, 5].map((n) => reviews(page).filter((review) => review.stars === n).length),
    )
    expect(stars).toEqual([
      [34, 15, 16, 8, 77],
      [35, 7, 7, 11, 90],
    ])
    const unsaid = pages.map((page) => reviews(page).filter(({ version }) => version === undefined).length)
    expect(unsaid).toEqual([33, 36])
    expect(reviews(pages[0])[0]).toEqual({
      id: "017452fc-0d4b-471d-b406-bcf0f52387a7",
      stars: 5,
      text: "niec",
      at: new Date("2026-07-06T13:55:24.077Z"),
    })
    expect(reviews(pages[0])[4]).toEqual({
      id: "5219798f-004e-4171-8477-de05baae134d",
      stars: 1,
      text: "what is wrong with this update? I can no longer manually select lines in the scanning tool",
      version: "10.24.48.939568180.6-release",
      at: new Date("2026-07-06T07:02:46.957Z"),
    })
    const titled = pages.flatMap(reviews).filter(({ title }) => title !== undefined)
    expect(titled.map(({ id, title }) => [id, title])).toEqual([["42205e59-bf88-40c5-9348-4171620ec28c", "Laughable."]])
    expect(reviews(pages[1]).at(-1)).toMatchObject({ id: "c997a19e-98cf-4ecb-9560-83fc8b75eb75", text: "O((mm????" })
  })

  test("a page has its app, its language and the token that requested it", () => {
    expect(playReviews.parse(pages[1], { ...subject, token: "that" }, { ...about, egress: "de" })).toMatchObject({
      ...subject,
      token: "that",
      kind: "reviews",
      source: "play-reviews",
      platform: "android",
      egress: "de",
    })
    expect(read(pages[0])).not.toHaveProperty("token")
  })
})

test("the author of a review is not read, even where the developer's reply names the author", () => {
  const row = rowOf({
    1: ["Ann Example", [null, 2]],
    7: ["A maker", "Hi Ann Example!", [1783387213, 0]],
    9: ["1104", "Ann Example"],
  })
  const reading = read(answer([[row], [null, "token"]]))
  expect(reading.reviews).toEqual([
    { id: "r-1", stars: 4, text: "fine", version: "1.2", at: new Date("2026-07-06T13:55:24.077Z") },
  ])
  expect(JSON.stringify(reading)).not.toContain("Ann")
})

test("a review without words and version is accepted, and characters that cannot be stored are removed", () => {
  expect(reviews(answer([[rowOf({ 4: null, 10: null })]]))[0]).toEqual({
    id: "r-1",
    stars: 4,
    text: "",
    at: new Date("2026-07-06T13:55:24.077Z"),
  })
  expect(reviews(answer([[rowOf({ 3: " ", 4: "a\0b \ud83d", 5: [1783346124] })]]))[0]).toMatchObject({
    text: "ab \ufffd",
    at: new Date("2026-07-06T13:55:24Z"),
  })
  expect(reviews(answer([[rowOf({}), rowOf({ 4: "again" })]])).map(({ text }) => text)).toEqual(["fine"])
})

test("a page without reviews is empty, and its token shows whether it is the last page", () => {
  const resultOf = (payload: unknown) => {
    const { reviews, more, next } = read(answer(payload))
    return [reviews.length, more, next]
  }
  expect(resultOf([])).toEqual([0, false, undefined])
  expect(resultOf([null, [null, null]])).toEqual([0, false, undefined])
  expect(resultOf([[], [null, ""]])).toEqual([0, false, undefined])
  expect(resultOf([[rowOf({})]])).toEqual([1, false, undefined])
  expect(resultOf([[], [null, "on"]])).toEqual([0, true, "on"])
  expect(resultOf(null)).toEqual([0, undefined, undefined])
  expect(resultOf([null, null, "something new"])).toEqual([0, undefined, undefined])
})

test.each([
  ["an object", {}],
  ["rows that are none", ["x"]],
  ["a row that is none", [[null]]],
  ["another id", [[rowOf({ 0: 7 })]]],
  ["an id with white space", [[rowOf({ 0: "a b" })]]],
  ["no stars", [[rowOf({ 2: 0 })]]],
  ["stars as a text", [[rowOf({ 2: "4" })]]],
  ["six stars", [[rowOf({ 2: 6 })]]],
  ["a text that is none", [[rowOf({ 4: ["fine"] })]]],
  ["a version that is none", [[rowOf({ 10: 12 })]]],
  ["no date", [[rowOf({ 5: null })]]],
  ["a date in milliseconds", [[rowOf({ 5: [1783346124077] })]]],
  ["a date with more than a second's billionths", [[rowOf({ 5: [1783346124, 1e9] })]]],
  ["a token that is none", [[rowOf({})], [null, 5]]],
  ["a token with white space", [[rowOf({})], [null, "a b"]]],
  ["another way on", [[rowOf({})], "token"]],
])("a page with an unexpected format fails as changed: %s", (_what, payload) => {
  expect(outcome(answer(payload))).toBe("changed")
})

test("an invalid page fails as changed, and a CAPTCHA page as blocked", () => {
  expect(outcome(pages[0].replace("UsvDTd", "renamed"))).toBe("changed")
  expect(outcome(pages[0].slice(0, 300))).toBe("changed")
  expect(outcome("<html><title>unusual traffic</title></html>")).toBe("blocked")
  const refused = [["wrb.fr", "UsvDTd", null, null, null, [8, null, []], "generic"]]
  expect(outcome(`)]}'\n\n${JSON.stringify(refused)}`)).toBe("rate_limited")
})

test("150 reviews in the language are requested per page, and each page with the previous page's token", async () => {
  server.on("play.google.com", "/_/PlayStoreUi", ({ body }) => new Response(pages[body.includes("CtgB") ? 1 : 0]))
  const reach = reachOf(server, { now: () => about.seenAt })
  const german = { ...subject, storefront: "at", language: "de" }
  const { seen: first } = await readOnce(playReviews, german, reach)
  const { seen: second } = await readOnce(playReviews, { ...german, token: first.next! }, reach)
  expect([first.reviews[0]!.id, second.reviews[0]!.id]).toEqual([
    "017452fc-0d4b-471d-b406-bcf0f52387a7",
    "631c8899-005f-47b7-9480-0b480748eebf",
  ])
  const calls = server.requests.map(({ method, url, headers, body }) => {
    expect([method, url.pathname]).toEqual(["POST", "/_/PlayStoreUi/data/batchexecute"])
    expect(Object.fromEntries(url.searchParams)).toMatchObject({ rpcids: "UsvDTd", hl: "de", gl: "AT" })
    expect(headers.get("accept-language")).toBe("de,en;q=0.5")
    expect(headers.get("content-type")).toBe("application/x-www-form-urlencoded;charset=UTF-8")
    const [[[rpc, call, ...rest]]] = JSON.parse(new URLSearchParams(body).get("f.req")!)
    expect([rpc, ...rest]).toEqual(["UsvDTd", null, "generic"])
    return JSON.parse(call)
  })
  const id = [subject.storeId, 7]
  expect(calls).toEqual([
    [null, null, [2, 2, [150, null, null], null, []], id],
    [null, null, [2, 2, [150, null, first.next], null, []], id],
  ])
})

/** Returns a row in the recorded form, with other values at some indices. */
function rowOf(fields: Record<number, unknown>): unknown[] {
  const row = [
    "r-1",
    null,
    4,
    null,
    "fine",
    [1783346124, 77000000],
    0,
    null,
    null,
    null,
    "1.2",
    null,
    null,
    null,
    null,
    null,
    1,
  ]
  return row.map((value, place) => (place in fields ? fields[place] : value))
}

function answer(payload: unknown): string {
  const frame = ["wrb.fr", "UsvDTd", payload === null ? null : JSON.stringify(payload), null, null, null, "generic"]
  return `)]}'\n\n${JSON.stringify([frame, ["di", 62]])}`
}

function outcome(body: string): string {
  try {
    return `read ${reviews(body).length}`
  } catch (error) {
    return (error as ReadFailure).outcome ?? String(error)
  }
}
