import { afterAll, expect, test } from "bun:test"
import type { StoreApp } from "../../../src/core/observation/line-parts.ts"
import { type ReadFailure, readOnce } from "../../../src/measuring/source.ts"
import type { AppsObservation } from "../../../src/stores/kinds/apps-shape.ts"
import { playDetails } from "../../../src/stores/play/details.ts"
import { fixture, wholeBody } from "../parsing/parsed.ts"
import { about, blockData, inCountry, renumbered, reversed, withData } from "../parsing/play-pages.ts"
import { reachOf, replayServer } from "../parsing/replay.ts"

const TRANSLATE = "com.google.android.apps.translate"
const MINECRAFT = "com.mojang.minecraftpe"
const translate = fixture("play-details-translate.html")
const minecraft = fixture("play-details-minecraft.html")
const server = replayServer()
afterAll(() => server.stop())

test("the recorded page of a free app whose version varies by device is parsed", () => {
  expect(read(translate, TRANSLATE)).toEqual({
    ...about,
    kind: "apps",
    source: "play-details",
    platform: "android",
    storefront: "us",
    asked: [TRANSLATE],
    apps: [
      {
        id: TRANSLATE,
        name: "Google Translate",
        icon:
          "https://play-lh.googleusercontent.com/" +
          "muIZuJn9awFB9XWa4g0aiqFxHbgAFVVfHVQrEmos46v29NfyZX5z1n1ZYBjH3Zvg80Dm90TI2ZdQZMr2cLMcCg",
        developer: "Google LLC",
        ratings: 9_039_805,
        rating: 4.26508,
        ratingsByStar: [6_403_317, 878_696, 479_693, 306_894, 971_173],
        price: 0,
        currency: "USD",
        genre: "TOOLS",
        developerId: "5700313618786177705",
        developerSite: "http://support.google.com/translate",
        updatedAt: new Date("2026-07-06T16:26:30Z"),
        market: { installs: 1_619_908_402, hasInAppPurchases: false },
        listing: expect.any(Object),
      },
    ],
    parser: playDetails.parser,
    origin: "own",
  })
})

test("the recorded page of a paid app is parsed", () => {
  expect(app(minecraft, MINECRAFT)).toEqual({
    id: MINECRAFT,
    name: "Minecraft: Dream it, Build it!",
    icon:
      "https://play-lh.googleusercontent.com/" +
      "tI4StRSPVhpGJH5R013naszLUawOjao1ya8FvyaNO7XY_cJFHFqo1EFaEJv_7zz3rRJ5lEpLiw14ZqQLCOYc",
    developer: "Mojang",
    ratings: 5_715_302,
    rating: 4.315863,
    ratingsByStar: [4_194_160, 491_363, 264_728, 170_943, 594_092],
    version: "1.26.32.2",
    price: 6.99,
    currency: "USD",
    genre: "GAME_ARCADE",
    developerId: "4772240228547998649",
    developerSite: "http://help.mojang.com",
    releasedAt: new Date("2011-08-16T06:17:21Z"),
    updatedAt: new Date("2026-06-24T22:04:44Z"),
    market: { installs: 91_130_079, hasInAppPurchases: true, inAppLeast: 0.99, inAppMost: 49.99, inAppCurrency: "USD" },
    listing: expect.any(Object),
  })
})

test("renumbered or reordered blocks of a page do not change the parsed app", () => {
  for (const [page, id] of [
    [translate, TRANSLATE],
    [minecraft, MINECRAFT],
  ] as const) {
    const other = renumbered(page, (old) => (old * 5 + 2) % 13)
    expect(other).not.toContain("'ds:5' : {id:'Ws7gDc'")
    for (const moved of [other, reversed(page), reversed(other)]) expect(read(moved, id)).toEqual(read(page, id))
    expect(read(page.replaceAll("Ws7gDc", "unknown"), id)).toEqual(read(page, id))
  }
})

test("an app without ratings has neither a rating nor a count", () => {
  for (const none of [null, [], [[], null, null], [null, null, null], [["0", 0]]]) {
    const { rating, ratings } = app(edited(minecraft, { 51: none }), MINECRAFT)
    expect([rating, ratings]).toEqual([undefined, undefined])
  }
})

test("a version that varies with the device is left out", () => {
  expect(app(edited(minecraft, { 140: [[["Varies with device"]]] }), MINECRAFT).version).toBeUndefined()
})

test("the average of the rating counts by star, five stars first, equals the rating", () => {
  for (const [page, id] of [
    [translate, TRANSLATE],
    [minecraft, MINECRAFT],
  ] as const) {
    const { rating, ratingsByStar } = app(page, id)
    const all = ratingsByStar!.reduce((sum, count) => sum + count, 0)
    const mean = ratingsByStar!.reduce((sum, count, place) => sum + (5 - place) * count, 0) / all
    expect(mean).toBeCloseTo(rating!, 4)
  }
})

test("a field with a high number is also read from the trailing object", () => {
  const data = blockData(minecraft, "ds:5") as unknown[][][]
  const listing = data[1]![2]!
  const moved = [
    ...listing.slice(0, 140).concat(Array(14).fill(null)),
    { "141": listing[140], "145": listing[144], "146": listing[145] },
  ]
  data[1]![2] = moved
  expect(app(withData(minecraft, "ds:5", data), MINECRAFT)).toEqual(app(minecraft, MINECRAFT))
})

test("an app for pre-registration has no price, and an app that is not offered is not found", () => {
  const { price, currency, ...common } = app(minecraft, MINECRAFT)
  const { inAppCurrency, ...market } = common.market!
  const rest = { ...common, market }
  expect(app(edited(minecraft, { 18: [1], 57: null }), MINECRAFT)).toEqual(rest)
  expect(outcome(edited(minecraft, { 18: [0], 57: null }), MINECRAFT)).toBe("not_found")
  expect(outcome(edited(minecraft, { 18: [0] }), MINECRAFT)).toBe("not_found")
  expect(outcome(edited(minecraft, { 18: null, 57: null }), MINECRAFT)).toBe("not_found")
  expect(app(edited(minecraft, { 18: null }), MINECRAFT).price).toBe(6.99)
})

test("a page that lacks a required field fails as changed and never as an unavailable app", () => {
  for (const place of [0, 68, 77, 79, 95]) {
    expect(outcome(edited(minecraft, { [place]: null }), MINECRAFT)).toBe("changed")
    expect(outcome(edited(minecraft, { [place]: null, 18: null, 57: null }), MINECRAFT)).toBe("changed")
  }
})

test("a field of a wrong type fails as changed and is not read as unknown", () => {
  const wrong = [
    { 51: [["4.3", "4.3"]] },
    { 51: [["4.3", 4.3], null, ["9", "9"]] },
    { 79: [[["Arcade", null, "game arcade"]]] },
    { 145: [["", ["yesterday"]]] },
    { 57: [[[[[null, [["6.99", "USD"]]]]]]] },
    { 95: [[null, 2, null, [null, null, "icon.png"]]] },
    { 13: ["5+", 5, "7"] },
    { 19: ["$0.99 - free per item"] },
    { 19: ["$4.99 - $0.99 per item"] },
    { 72: [[null, 4]] },
    { 78: [[[null, 2, null, [null, null, "a.png"]]]] },
    { 144: [null, [null, ["Fixes"]]] },
  ]
  expect(wrong.map((fields) => outcome(edited(minecraft, fields), MINECRAFT))).toEqual(wrong.map(() => "changed"))
})

test("a page of another app or country fails as mismatched", () => {
  const whole = wholeBody("play-details-translate.whole.html.gz")
  expect(app(whole, TRANSLATE)).toEqual(app(translate, TRANSLATE))
  expect(outcome(minecraft, TRANSLATE)).toBe("mismatched")
  expect(outcome(whole, MINECRAFT)).toBe("mismatched")
  for (const page of [translate, whole]) {
    const polish = inCountry(page, "PL")
    expect(outcome(polish, TRANSLATE)).toBe("mismatched")
    expect(playDetails.parse(polish, { storefront: "pl", ids: [TRANSLATE] }, about).apps).toHaveLength(1)
    // An app that is unavailable in another country is not absent here.
    expect(outcome(edited(polish, { 18: [0], 57: null }), TRANSLATE)).toBe("mismatched")
  }
})

test("playDetails requests one app at a time", async () => {
  server.on("play.google.com", "/store/apps/details", () => new Response(inCountry(minecraft, "DE")))
  const subject = { storefront: "de", ids: [MINECRAFT] }
  const { seen: reading } = await readOnce(playDetails, subject, reachOf(server, { egress: "de" }))
  expect(reading).toMatchObject({ storefront: "de", egress: "de", asked: [MINECRAFT] })
  const { method, url } = server.requests.at(-1)!
  expect([method, url.pathname]).toEqual(["GET", "/store/apps/details"])
  expect(Object.fromEntries(url.searchParams)).toEqual({ id: MINECRAFT, hl: "en", gl: "DE" })
  for (const ids of [[], [MINECRAFT, TRANSLATE]]) {
    expect(() => playDetails.request({ storefront: "us", ids })).toThrow(RangeError)
  }
})

test("a missing page fails as not_found, and a consent page as blocked", async () => {
  const subject = { storefront: "us", ids: [MINECRAFT] }
  const answers = [
    [new Response("We're sorry, the requested URL was not found on this server.", { status: 404 }), "not_found"],
    [new Response('<form action="https://consent.google.com/save">Before you continue</form>'), "blocked"],
    [new Response(null, { status: 302, headers: { location: "https://consent.google.com/m?continue=x" } }), "blocked"],
    [new Response("<html><title>Google Play</title></html>"), "changed"],
  ] as const
  for (const [answer, outcome] of answers) {
    server.on("play.google.com", "/store/apps/details", () => answer)
    const failed = await readOnce(playDetails, subject, reachOf(server)).catch((e) => e)
    expect((failed as ReadFailure).outcome).toBe(outcome)
  }
})

/** Returns the page with other fields in the listing. */
function edited(page: string, fields: Record<number, unknown>): string {
  const data = blockData(page, "ds:5") as unknown[][][]
  for (const [place, value] of Object.entries(fields)) data[1]![2]![Number(place)] = value
  return withData(page, "ds:5", data)
}

function read(page: string, id: string): AppsObservation {
  return playDetails.parse(page, { storefront: "us", ids: [id] }, about)
}

function app(page: string, id: string): StoreApp {
  return read(page, id).apps[0]!
}

function outcome(page: string, id: string): string {
  try {
    return `read ${JSON.stringify(app(page, id))}`
  } catch (error) {
    return (error as ReadFailure).outcome ?? String(error)
  }
}
