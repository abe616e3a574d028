import { describe, expect, test } from "bun:test"
import type { SearchObservation, SearchQuestion } from "../../../src/keywords/kinds/search-shape.ts"
import { appleStoreSearch } from "../../../src/keywords/sources/apple-store-search.ts"
import { ReadFailure, type Source } from "../../../src/measuring/source.ts"
import { slow } from "../../long.ts"
import { expectTypedOrFaithful, mutations } from "./mutations.ts"
import { fixture } from "./parsed.ts"

const SUBJECT = { storefront: "us", term: "sleep sounds" }
const BODY = fixture("apple-store-search-us.json")

/** Runs the checks on a parser that is wrong in one way. */
function verdictOn(wrong: (reading: SearchObservation, body: string) => SearchObservation): unknown {
  const source: Source<SearchQuestion, SearchObservation> = {
    ...appleStoreSearch,
    parse: (body, subject, about) => wrong(appleStoreSearch.parse(body, subject, about), body),
  }
  try {
    return expectTypedOrFaithful(source, SUBJECT, BODY, { as: "json", count: 300 })
  } catch (error) {
    return (error as Error).message
  }
}

describe("mutations of a body", () => {
  const bodies = (seed: number, name = "apple-web-search-us.html") => [
    ...mutations(fixture(name), { seed, count: 300, as: name.endsWith("html") ? "html-json" : "json" }),
  ]

  test("mutations are the same for the same seed and differ for different seeds", () => {
    expect(bodies(5)).toEqual(bodies(5))
    expect(bodies(6)).not.toEqual(bodies(5))
  })

  test("mutations differ from the body and from each other, and most are still valid JSON", () => {
    const mutated = bodies(5).map(({ body }) => body)
    expect(new Set(mutated).size).toBeGreaterThan(240)
    const json = bodies(5, "apple-store-search-us.json").filter(({ body }) => {
      try {
        return JSON.parse(body) !== undefined
      } catch {
        return false
      }
    })
    expect(json.length).toBeGreaterThan(230)
    expect(json.length).toBeLessThan(300)
  })

  test("mutations change JSON in texts, data in callbacks, and XML", () => {
    const mutatedBodies = (body: string, as: "json" | "html-json" | "xml") =>
      [...mutations(body, { seed: 1, count: 400, as })].map((mutation) => mutation.body)
    const nested = `)]}'\n\n60\n[["wrb.fr","IJ4APc","[[[\\"panda\\",1]]]"]]\n`
    expect(
      mutatedBodies(nested, "json").filter((body) => body.startsWith(")]}'") && !body.includes("panda")).length,
    ).toBeGreaterThan(40)
    const called =
      "<script>AF_initDataCallback({key: 'ds:4', hash: '1', data:[[\"panda\"],2], sideChannel: {}});</script>"
    const intact = mutatedBodies(called, "html-json").filter((body) => body.includes("ds:4") && !body.includes("panda"))
    expect(intact.length).toBeGreaterThan(40)
    const plist = mutatedBodies("<plist><dict><key>term</key><string>tide</string></dict></plist>", "xml")
    expect(plist.filter((body) => body.includes("<string>tide</string>")).length).toBeLessThan(350)
    expect(plist.some((body) => body.includes("CDATA"))).toBe(true)
  })
})

describe("check of a parser", () => {
  slow("a correct parser passes", () => {
    expect(verdictOn((reading) => reading)).toMatchObject({ read: expect.any(Number), changed: expect.any(Number) })
  })

  test("a parser that throws on an unexpected shape is caught", () => {
    const caught = verdictOn((reading, body) => ({
      ...reading,
      depth: reading.depth + JSON.parse(body).bubbles[0].results[3].id.length * 0,
    }))
    expect(caught).toMatch(/^apple-store-search, seed 5, mutation \d+ \(.*\): threw \w*Error/s)
  })

  test("a parser that throws an untyped error is caught", () => {
    const caught = verdictOn(() => {
      throw new Error("no such thing")
    })
    expect(caught).toMatch(/threw Error: no such thing/)
    expect(new ReadFailure("changed", "x")).toBeInstanceOf(Error)
  })

  test("a parser that invents a name, id, number, icon or developer is caught", () => {
    const first = (reading: SearchObservation, changes: object) => ({
      ...reading,
      results: reading.results.map((app, place) => (place === 0 ? { ...app, ...changes } : app)),
    })
    for (const changes of [
      { name: "Unknown" },
      { id: "1234567890" },
      { ratings: 77 },
      { rating: 3.3 },
      { developer: "?!" },
    ]) {
      expect(verdictOn((reading) => first(reading, changes))).toMatch(/does not stand in the body/)
    }
    const icon = "https://example.net/elsewhere/512x512bb.jpg"
    expect(verdictOn((reading) => first(reading, { icon }))).toMatch(/icon .* does not stand in the body/)
  })

  test("a parser that returns part of a number is caught", () => {
    const cut = (reading: SearchObservation) => ({
      ...reading,
      results: [{ id: reading.results[0]?.id.slice(0, 8) ?? "12345678" }],
    })
    expect(verdictOn(cut)).toMatch(/does not stand in the body/)
  })

  test("a parser that answers for another storefront, term or reader is caught", () => {
    expect(verdictOn((reading) => ({ ...reading, storefront: "gb" }))).toMatch(/its storefront is not what was asked/)
    expect(verdictOn((reading) => ({ ...reading, term: "sleep" }))).toMatch(/its term is not what was asked/)
    expect(verdictOn((reading) => ({ ...reading, origin: "demo" }))).toMatch(/its origin is not what was asked/)
    expect(verdictOn((reading) => ({ ...reading, sha256: new Uint8Array(32) }))).toMatch(
      /its sha256 is not what was asked/,
    )
  })

  test("a parser that returns values that cannot be stored is caught", () => {
    expect(verdictOn((reading) => ({ ...reading, depth: 0 }))).toMatch(/may not be stored/)
    expect(verdictOn((reading) => ({ ...reading, results: [...reading.results, ...reading.results] }))).toMatch(
      /may not be stored/,
    )
  })
})
