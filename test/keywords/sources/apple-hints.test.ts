import { afterAll, expect, test } from "bun:test"
import { appleHints } from "../../../src/keywords/sources/apple-hints.ts"
import { ReadFailure, readOnce } from "../../../src/measuring/source.ts"
import { checkObservation } from "../../record.ts"
import { fixture } from "../../stores/parsing/parsed.ts"
import { reachOf, replayServer } from "../../stores/parsing/replay.ts"

const server = replayServer()
afterAll(server.stop)

let answer: () => Response
server.on("search.itunes.apple.com", "/WebObjects/MZSearchHints.woa/wa/hints", () => answer())

async function hints(body: string, prefix = "tide", storefront = "us") {
  answer = () => new Response(body, { headers: { "content-type": "text/xml; charset=UTF-8" } })
  const { seen: reading } = await readOnce(appleHints, { storefront, prefix }, reachOf(server))
  checkObservation(reading, new Date())
  return reading
}

const plist = (hints: string) => `<plist version="1.0"><dict><key>hints</key>${hints}</dict></plist>`

test.each([
  ["us", "143441,29"],
  ["gb", "143444,29"],
  ["jp", "143462,29"],
  ["xk", "143624,29"],
])("the header names the storefront %s", async (storefront, header) => {
  const reading = await hints(fixture("apple-hints-empty-us.plist"), "tide", storefront)
  const { method, url, headers } = server.requests.at(-1)!
  expect(headers.get("x-apple-store-front")).toBe(header)
  expect(`${method} ${url.pathname}${url.search}`).toBe(
    "GET /WebObjects/MZSearchHints.woa/wa/hints?clientApplication=Software&term=tide",
  )
  expect(reading.storefront).toBe(storefront)
})

test("an unknown storefront is never requested as a different storefront", () => {
  expect(() => appleHints.request({ storefront: "qq", prefix: "tide" })).toThrow(RangeError)
})

test("a prefix is sent unchanged, and its reading contains the prefix", async () => {
  const beginnings = [
    "q&a + more",
    "c++",
    "100% free?",
    'the "best" app\'s',
    "🌊 tide",
    "日本語 学習",
    "a#b/c;d=e",
    "né",
  ]
  for (const prefix of beginnings) {
    const reading = await hints(fixture("apple-hints-empty-us.plist"), prefix)
    const { url } = server.requests.at(-1)!
    expect([...url.searchParams]).toEqual([
      ["clientApplication", "Software"],
      ["term", prefix],
    ])
    expect(url.search).not.toContain("+")
    expect(reading.prefix).toBe(prefix)
  }
})

test("suggestions keep their order, are normalised like terms, and occur once", async () => {
  const reading = await hints(fixture("apple-hints-tide-us.plist"))
  expect(reading).toMatchObject({
    kind: "hints",
    source: "apple-hints",
    platform: "ios",
    storefront: "us",
    prefix: "tide",
  })
  expect(reading.terms).toEqual([
    "tide times",
    "tide chart near me",
    "tide & surf forecast",
    "tides app free",
    "tide <3 fishing",
    "high tide low tide",
    "tide clock widget",
    "tidepool",
    "tide 🌊 alarm",
  ])
})

test("bare strings are suggestions too", async () => {
  const { terms } = await hints(fixture("apple-hints-strings-jp.plist"), "潮", "jp")
  expect(terms).toEqual(["潮汐", "潮汐表 無料", "潮見表", "しおさい", "ｱﾌﾟﾘ 潮"])
})

test("an empty list of suggestions is a valid reading", async () => {
  expect((await hints(fixture("apple-hints-empty-us.plist"))).terms).toEqual([])
  expect((await hints(plist("<array>\n</array>"))).terms).toEqual([])
})

test("at most 25 suggestions are kept, and none over 150 characters", async () => {
  const long = `<string>${"🌊".repeat(151)}</string><string>${"🌊".repeat(150)}</string>`
  const many = Array.from({ length: 40 }, (_, n) => `<string>tide ${n}</string>`).join("")
  const { terms } = await hints(plist(`<array>${long}${many}</array>`))
  expect(terms).toEqual(["🌊".repeat(150), ...Array.from({ length: 24 }, (_, n) => `tide ${n}`)])
})

test.each([
  ["no hints", '<plist version="1.0"><dict><key>title</key><string>Suggestions</string></dict></plist>'],
  ["hints by name", plist("<dict></dict>")],
  ["a hint without a term", plist("<array><dict><key>url</key><string>a</string></dict></array>")],
  ["a hint of white space", plist("<array><string> </string></array>")],
  ["a number for a term", plist("<array><dict><key>term</key><integer>5</integer></dict></array>")],
  ["a bare list", '<plist version="1.0"><array/></plist>'],
  ["a list that broke off", fixture("apple-hints-tide-us.plist").replace("tidepool", "captcha").slice(0, -30)],
  ["JSON", '{"hints":[{"term":"tide"}]}'],
  ["nothing", ""],
  ["a page", "<!DOCTYPE html><html><body>The page is being moved</body></html>"],
])("a response with %s fails as changed", async (_what, body) => {
  const failed = await hints(body).catch((error) => error)
  expect(failed).toBeInstanceOf(ReadFailure)
  expect(failed.outcome).toBe("changed")
})

test.each([
  [200, "<!DOCTYPE html><html><body>Please complete the CAPTCHA</body></html>", "blocked"],
  [200, '<?xml version="1.0"?><!DOCTYPE html><html>unusual traffic from your network</html>', "blocked"],
  [403, "", "blocked"],
  [429, "", "rate_limited"],
  [503, "<html>Service Unavailable</html>", "rate_limited"],
  [502, "", "failed"],
])("a response with status %d and body %p fails as %s", async (status, body, outcome) => {
  answer = () => new Response(body, { status })
  const failed = await readOnce(appleHints, { storefront: "us", prefix: "tide" }, reachOf(server)).catch((e) => e)
  expect(failed).toBeInstanceOf(ReadFailure)
  expect(failed.outcome).toBe(outcome)
})

test("the hints request contains no language, so that the store uses the storefront's language", async () => {
  const cases = await Bun.file(new URL("../../cases/stores/hints-request.json", import.meta.url)).json()
  for (const { storefront, header } of cases) {
    const { headers } = appleHints.request({ storefront, prefix: "tide" })
    expect(new Headers(headers).get(header ?? "x-apple-store-front")).toMatch(/^143\d{3},29$/)
  }
})
