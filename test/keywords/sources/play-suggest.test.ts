import { afterAll, expect, test } from "bun:test"
import { playSuggest } from "../../../src/keywords/sources/play-suggest.ts"
import { type ReadFailure, readOnce } from "../../../src/measuring/source.ts"
import { fixture } from "../../stores/parsing/parsed.ts"
import { about } from "../../stores/parsing/play-pages.ts"
import { reachOf, replayServer } from "../../stores/parsing/replay.ts"

const pand = fixture("play-suggest-pand.txt")
const server = replayServer()
afterAll(() => server.stop())

test("the recorded response for the prefix pand gives its suggestions in order", () => {
  expect(playSuggest.parse(pand, { storefront: "us", prefix: "pand" }, about)).toEqual({
    ...about,
    kind: "hints",
    source: "play-suggest",
    platform: "android",
    storefront: "us",
    prefix: "pand",
    terms: ["pandora", "panda express app", "panda", "panda vpn", "panda games"],
    parser: playSuggest.parser,
    origin: "own",
  })
})

test("an empty list, a missing list and a null answer mean that nothing is suggested", () => {
  for (const payload of ["[[[]]]", '[[null,["x"]]]', null]) expect(terms(answer(payload))).toEqual([])
})

test("suggestions are normalised like terms, occur once, and at most five valid ones are kept", () => {
  const suggestions = ["Panda VPN", "panda vpn", "x".repeat(151), " Pok\u00e9mon", "\u718a\u732b", "b", "c", "d"]
  expect(terms(answer(JSON.stringify([[suggestions.map((suggestion) => [suggestion, null])]])))).toEqual([
    "panda vpn",
    "pok\u00e9mon",
    "\u718a\u732b",
    "b",
    "c",
  ])
})

test("a response of another shape fails as changed and is never an empty list", () => {
  const shapes = [
    "[]",
    "[[]]",
    "{}",
    '[["pandora"]]',
    "[[[[]]]]",
    "[[[null]]]",
    '[[[["a"],[7]]]]',
    '[[[[" "]]]]',
    "not JSON",
  ]
  for (const payload of shapes) expect([payload, outcome(answer(payload))]).toEqual([payload, "changed"])
  expect(outcome(pand.replace("IJ4APc", "renamed"))).toBe("changed")
  expect(outcome(pand.slice(0, 300))).toBe("changed")
  expect(outcome("<html><title>unusual traffic</title></html>")).toBe("blocked")
})

test("a prefix is posted exactly, whatever characters it contains", async () => {
  server.on("play.google.com", "/_/PlayStoreUi", () => new Response(pand))
  for (const prefix of ["pand", "a & b=c", "c++ 100%", 'say "hi" it\'s \\', "熊猫 ゲ", "🐼 👩‍💻"]) {
    const { seen: reading } = await readOnce(
      playSuggest,
      { storefront: "fr", prefix },
      reachOf(server, { egress: "fr" }),
    )
    expect(reading).toMatchObject({ prefix, storefront: "fr", egress: "fr" })
    const { method, url, headers, body } = server.requests.at(-1)!
    expect([method, url.pathname]).toEqual(["POST", "/_/PlayStoreUi/data/batchexecute"])
    expect(Object.fromEntries(url.searchParams)).toMatchObject({ rpcids: "IJ4APc", hl: "en", gl: "FR" })
    expect(headers.get("content-type")).toBe("application/x-www-form-urlencoded;charset=UTF-8")
    const form = new URLSearchParams(body)
    expect([...form.keys()]).toEqual(["f.req"])
    const [[[rpc, call]]] = JSON.parse(form.get("f.req")!)
    expect([rpc, JSON.parse(call)]).toEqual(["IJ4APc", [[null, [prefix], [10], [2], 4]]])
  }
})

function answer(payload: string | null): string {
  return `)]}'\n\n${JSON.stringify([
    ["wrb.fr", "IJ4APc", payload, null, null, null, ""],
    ["di", 62],
  ])}`
}

function terms(body: string): string[] {
  return playSuggest.parse(body, { storefront: "us", prefix: "pand" }, about).terms
}

function outcome(body: string): string {
  try {
    return `read ${terms(body)}`
  } catch (error) {
    return (error as ReadFailure).outcome ?? String(error)
  }
}
