import { afterAll, expect, test } from "bun:test"
import { RANK_SOURCES } from "../../../src/lib/upstreams.ts"
import { ReadFailure, readOnce } from "../../../src/measuring/source.ts"
import { itunesSearch } from "../../../src/stores/apple/itunes-search.ts"
import { checkObservation } from "../../record.ts"
import { fixture } from "../parsing/parsed.ts"
import { reachOf, replayServer } from "../parsing/replay.ts"

const server = replayServer()
afterAll(server.stop)

let answer: () => Response
server.on("itunes.apple.com", "/search", () => answer())

async function search(body: string, term = "vpn", storefront = "us") {
  answer = () => new Response(body)
  const { seen: reading } = await readOnce(itunesSearch, { storefront, term }, reachOf(server))
  checkObservation(reading, new Date())
  return reading
}

test("a search term is sent exactly, whatever characters it has", async () => {
  const terms = [
    "vpn",
    "q&a + more",
    "c++",
    "100% free?",
    'the "best" app\'s',
    "🌊 tide",
    "日本語 学習",
    "a#b/c;d=e",
    "né",
  ]
  for (const term of terms) {
    await search(fixture("itunes-search-empty-us.json"), term, "jp")
    const { method, url } = server.requests.at(-1)!
    expect([method, url.pathname, url.searchParams.get("term")]).toEqual(["GET", "/search", term])
    expect(url.search).not.toContain("+")
    expect([...url.searchParams].slice(1).join("&")).toBe("country,jp&media,software&entity,software&limit,200")
  }
})

test("a search lists exactly the apps that it found in `asked`", async () => {
  const reading = await search(fixture("itunes-search-vpn-us-2026-03-20.json"))
  const { apps, ...rest } = reading
  expect(rest).toMatchObject({
    kind: "apps",
    source: "itunes-search",
    platform: "ios",
    storefront: "us",
    origin: "own",
  })
  expect(apps).toHaveLength(10)
  expect(rest.asked).toEqual(apps.map(({ id }) => id))
  expect(apps[0]).toEqual({
    id: "1370293473",
    name: "VPN - Super Unlimited Proxy",
    icon:
      "https://is1-ssl.mzstatic.com/image/thumb/Purple211/v4/92/0d/16/920d167b-976c-a407-4ab3-2ade4bd1a165/" +
      "AppIcon-0-0-1x_U007epad-0-1-0-sRGB-85-220.png/512x512bb.jpg",
    developer: "Mobile Jump Pte Ltd",
    bundleId: "mobi.mobilejump.freevpn",
    ratings: 2_021_776,
    rating: 4.62802,
    version: "2.34.0",
    price: 0,
    currency: "USD",
    genre: "6007",
    genres: ["6007", "6002"],
    developerId: "1484585154",
    developerSite: "https://www.vpnsuper.com/",
    releasedAt: new Date("2018-05-15T11:50:11Z"),
    updatedAt: new Date("2026-03-16T07:35:26Z"),
  })
})

test("a search without results lists no app as absent", async () => {
  expect(await search(fixture("itunes-search-empty-us.json"))).toMatchObject({ asked: [], apps: [] })
})

test("a search does not return Mac apps", async () => {
  const { asked: ids } = await search(fixture("itunes-search-deliveries-us-cut3.json"), "deliveries")
  expect(ids).toEqual(["1520308763", "1507602536"])
})

test("an app that occurs in two rows is returned once", async () => {
  const row = { wrapperType: "software", kind: "software", trackId: 500_000, trackName: "A" }
  const { asked: ids } = await search(JSON.stringify({ resultCount: 2, results: [row, { ...row, trackName: "B" }] }))
  expect(ids).toEqual(["500000"])
})

test("an iTunes search is no source of ranks and returns no rank fields", async () => {
  expect(RANK_SOURCES).not.toContain(itunesSearch.name as never)
  const reading: object = await search(fixture("itunes-search-vpn-us-2026-03-20.json"))
  for (const name of ["results", "term", "depth"]) expect(reading).not.toHaveProperty(name)
})

test.each([
  ["a refused parameter", 200, '{"errorMessage":"Invalid value(s) for key(s): [country]"}', "changed"],
  ["a wrong row count", 200, '{"resultCount":1,"results":[]}', "changed"],
  ["nothing", 200, "", "changed"],
  ["a page", 200, "<html>Service Unavailable</html>", "changed"],
  ["a CAPTCHA page", 200, "<html>Are you a human?</html>", "blocked"],
  ["status 403, empty", 403, "", "blocked"],
  ["status 429", 429, "", "rate_limited"],
  ["status 503", 503, "<html></html>", "rate_limited"],
])("a search fails with the outcome of its response: %s", async (_what, status, body, outcome) => {
  answer = () => new Response(body, { status })
  const failed = await readOnce(itunesSearch, { storefront: "us", term: "vpn" }, reachOf(server)).catch((e) => e)
  expect(failed).toBeInstanceOf(ReadFailure)
  expect(failed.outcome).toBe(outcome)
})
