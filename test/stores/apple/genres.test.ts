import { afterAll, expect, test } from "bun:test"
import { ReadFailure, readOnce } from "../../../src/measuring/source.ts"
import { appleGenres } from "../../../src/stores/apple/genres.ts"
import { checkObservation } from "../../record.ts"
import { COUNT, expectTypedOrFaithful } from "../parsing/mutations.ts"
import { fixture } from "../parsing/parsed.ts"
import { reachOf, replayServer } from "../parsing/replay.ts"

const server = replayServer()
afterAll(() => server.stop())

const ABOUT = { seenAt: new Date("2026-08-12T14:00:00Z"), sha256: new Uint8Array(32) }

function parse(body: string, storefront = "us") {
  const reading = appleGenres.parse(body, { storefront }, ABOUT)
  checkObservation(reading, new Date("2026-08-13"))
  return reading.genres
}

function outcomeOf(tree: unknown): string {
  try {
    parse(typeof tree === "string" ? tree : JSON.stringify(tree))
  } catch (error) {
    expect(error).toBeInstanceOf(ReadFailure)
    return (error as ReadFailure).outcome
  }
  return "read"
}

const node = (id: string, name: string, ...below: { id: string }[]) => ({
  id,
  name,
  ...(below.length > 0 && { subgenres: Object.fromEntries(below.map((genre) => [genre.id, genre])) }),
})

test("appleGenres requests the tree of the storefront", async () => {
  server.on("itunes.apple.com", "/WebObjects/", () => new Response(fixture("apple-genres-us.json")))
  const { seen: reading } = await readOnce(appleGenres, { storefront: "us" }, reachOf(server))
  const { method, url } = server.requests.at(-1)!
  expect(`${method} ${url.pathname}${url.search}`).toBe("GET /WebObjects/MZStoreServices.woa/ws/genres?id=36&cc=us")
  expect(reading).toMatchObject({ kind: "genres", source: "apple-genres", platform: "ios", storefront: "us" })
  expect(() => appleGenres.request({ storefront: "zz" })).toThrow(RangeError)
})

test("every genre is returned once, with its name and after its parent", () => {
  expect(parse(fixture("apple-genres-us.json"))).toEqual([
    { id: "36", name: "App Store" },
    { id: "6000", name: "Business", parent: "36" },
    { id: "6001", name: "Weather", parent: "36" },
    { id: "6002", name: "Utilities", parent: "36" },
    { id: "6007", name: "Productivity", parent: "36" },
    { id: "6014", name: "Games", parent: "36" },
    { id: "7001", name: "Action", parent: "6014" },
    { id: "7004", name: "Board", parent: "6014" },
    { id: "7012", name: "Puzzle", parent: "6014" },
    { id: "6015", name: "Finance", parent: "36" },
    { id: "6021", name: "Magazines & Newspapers", parent: "36" },
    { id: "13007", name: "Health, Mind & Body", parent: "6021" },
  ])
})

test("a body that is not a genre tree fails as changed, and a CAPTCHA page as blocked", () => {
  const games = node("6014", "Games")
  expect(outcomeOf({ 36: node("36", "App Store", games) })).toBe("read")
  for (const tree of [
    {},
    [],
    null,
    { 34: node("34", "Music", games) },
    { 36: node("36", "App Store") },
    { 36: node("6014", "Games", games) },
    { 36: { ...node("36", "App Store"), subgenres: [games] } },
    { 36: { ...node("36", "App Store"), subgenres: { 6015: games } } },
    { 36: node("36", "App Store", node("6014", "")) },
    { 36: node("36", "App Store", games, node("6015", "Finance", games)) },
  ])
    expect([tree, outcomeOf(tree)]).toEqual([tree, "changed"])
  const british = { ...games, url: "https://itunes.apple.com/gb/genre/ios-games/id6014" } as never
  expect(outcomeOf({ 36: node("36", "App Store", british) })).toBe("mismatched")
  const endless = Array.from({ length: 9 }, (_, n) => String(7_000 + n)).reduce(
    (below, id) => node(id, "More", below),
    games,
  )
  expect(outcomeOf({ 36: node("36", "App Store", endless) })).toBe("changed")
  expect(outcomeOf(fixture("apple-web-captcha.html"))).toBe("blocked")
})

test(`a genre tree mutated in ${COUNT} ways gives a typed failure or values of the body`, () => {
  const tally = expectTypedOrFaithful(appleGenres, { storefront: "us" }, fixture("apple-genres-us.json"), {
    as: "json",
  })
  expect(tally.read).toBeGreaterThan(COUNT / 5)
  expect(tally.changed).toBeGreaterThan(COUNT / 5)
})
