import { afterAll, expect, test } from "bun:test"
import { ReadFailure, readOnce } from "../../../src/measuring/source.ts"
import { itunesDeveloper } from "../../../src/stores/apple/itunes-developer.ts"
import { checkObservation } from "../../record.ts"
import { COUNT, expectTypedOrFaithful } from "../parsing/mutations.ts"
import { fixture } from "../parsing/parsed.ts"
import { reachOf, replayServer } from "../parsing/replay.ts"

const server = replayServer()
afterAll(() => server.stop())

const SUBJECT = { storefront: "us", developerId: "1500000011" }
const ABOUT = { seenAt: new Date("2026-08-12T14:00:00Z"), sha256: new Uint8Array(32) }

function parse(body: string) {
  const reading = itunesDeveloper.parse(body, SUBJECT, ABOUT)
  checkObservation(reading, new Date("2026-08-13"))
  return reading
}

function outcomeOf(...results: object[]): string {
  try {
    parse(JSON.stringify({ resultCount: results.length, results }))
  } catch (error) {
    expect(error).toBeInstanceOf(ReadFailure)
    return (error as ReadFailure).outcome
  }
  return "read"
}

const developer = { wrapperType: "artist", artistId: 1_500_000_011 }
const app = (trackId: number, more = {}) => ({
  wrapperType: "software",
  kind: "software",
  trackId,
  trackName: `App ${trackId}`,
  artistId: 1_500_000_011,
  ...more,
})

test("a developer's apps are read in one request with their facts", async () => {
  server.on("itunes.apple.com", "/lookup", () => new Response(fixture("itunes-developer-us.json")))
  const { seen: reading } = await readOnce(itunesDeveloper, SUBJECT, reachOf(server))
  checkObservation(reading, new Date())
  expect(server.requests.map(({ method, url }) => `${method} ${url.pathname}${url.search}`)).toEqual([
    "GET /lookup?id=1500000011&entity=software&limit=200&country=us",
  ])
  expect(reading).toMatchObject({
    kind: "developer",
    source: "itunes-developer",
    platform: "ios",
    ...SUBJECT,
    complete: true,
  })
  // The Mac app is left out; an app without ratings has no rating.
  expect(reading.apps.map(({ id, name, ratings, rating, price }) => [id, name, ratings, rating, price])).toEqual([
    ["1600000101", "Slumber Harbor: Sleep Sounds", 105_000, 4.8, 0],
    ["1600000301", "Morning Harbor: Alarm", 2_311, 4.6, 0],
    ["1600000302", "Harbor Focus", 0, undefined, 1.99],
  ])
  expect(reading.apps[0]).toMatchObject({
    developer: "Northlight Apps LLC",
    genre: "6013",
    currency: "USD",
    version: "4.2.1",
  })
})

test("a developer without apps in the storefront has an empty list, and an unknown developer is not found", () => {
  expect(parse(JSON.stringify({ resultCount: 1, results: [developer] })).apps).toEqual([])
  expect(outcomeOf()).toBe("not_found")
})

test("a response with the maximum of 200 apps is incomplete", () => {
  const answer = (count: number) => {
    const results = [developer, ...Array.from({ length: count }, (_, n) => app(500_001 + n))]
    return parse(JSON.stringify({ resultCount: results.length, results }))
  }
  expect(answer(199)).toMatchObject({ complete: true, apps: { length: 199 } })
  expect(answer(200)).toMatchObject({ complete: false, apps: { length: 200 } })
})

test("a row that is not the developer's app fails as changed", () => {
  expect(outcomeOf(developer, app(500_001))).toBe("read")
  for (const rows of [
    [app(500_001)],
    [developer, app(500_001, { artistId: 1_500_000_012 })],
    [developer, app(500_001, { artistId: undefined })],
    [developer, developer],
    [developer, app(500_001), app(500_001)],
    [app(500_001), developer],
    [developer, { wrapperType: "track" }],
  ])
    expect(outcomeOf(...rows)).toBe("changed")
  expect(outcomeOf({ ...developer, artistId: 1_500_000_012 }, app(500_001))).toBe("mismatched")
  const british = { artistLinkUrl: "https://apps.apple.com/gb/developer/x/id1500000011" }
  expect(outcomeOf({ ...developer, ...british }, app(500_001))).toBe("mismatched")
})

test(`a developer's answer mutated in ${COUNT} ways gives a typed failure or values of the body`, () => {
  const tally = expectTypedOrFaithful(itunesDeveloper, SUBJECT, fixture("itunes-developer-us.json"), { as: "json" })
  expect(tally.read).toBeGreaterThan(COUNT / 5)
  expect(tally.changed).toBeGreaterThan(COUNT / 5)
})
