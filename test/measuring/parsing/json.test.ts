import { describe, expect, test } from "bun:test"
import { withoutUndefined } from "../../../src/lib/objects.ts"
import { appsOf, at, count, list, parseJson, stars, text } from "../../../src/measuring/parsing/json.ts"
import { ReadFailure } from "../../../src/measuring/source.ts"

const ANYTHING = [undefined, null, true, 0, -1, 1.5, Number.NaN, Infinity, "", "x", [], [1], {}, { a: 1 }]

describe("a value of unknown shape", () => {
  test("a path into a value of unknown shape follows only keys of objects and indexes of arrays", () => {
    const value = { a: [{ b: "c" }], 1: "one", list: ["x"] }
    expect(at(value, "a", 0, "b")).toBe("c")
    expect(at(value)).toBe(value)
    for (const path of [["a", 1], ["a", "0"], ["a", "length"], [1], ["list", 0, 0], ["b"], ["a", 0, "b", "length"]]) {
      expect(at(value, ...path)).toBeUndefined()
    }
  })

  test("a value of unknown shape returns no inherited properties", () => {
    for (const value of ANYTHING) {
      for (const name of ["constructor", "toString", "__proto__", "length", "at", 0]) {
        if (Array.isArray(value) && name === 0) continue
        expect(at(value, name)).toBeUndefined()
      }
    }
  })
})

describe("values in a body", () => {
  test("a value is read as text only if it is not blank and can be stored", () => {
    expect(text(" Lull ")).toBe(" Lull ")
    for (const value of [...ANYTHING.filter((item) => item !== "x"), " \n", "a\0b", "\ud83d"]) {
      expect(text(value)).toBeUndefined()
    }
  })

  test("a count must be a whole number from 0, and a star rating must be above 0 and at most 5", () => {
    expect([0, 12, 2 ** 53 - 1].map(count)).toEqual([0, 12, 2 ** 53 - 1])
    for (const value of [-1, 1.5, 2 ** 53, Number.NaN, "12", null, [3], true]) expect(count(value)).toBeUndefined()
    expect([0.5, 4.8, 5].map(stars)).toEqual([0.5, 4.8, 5])
    for (const value of [0, 5.1, -1, Number.NaN, "4.8", null]) expect(stars(value)).toBeUndefined()
  })

  test("only an array is read as a list", () => {
    expect(list([1, 2])).toEqual([1, 2])
    for (const value of ["ab", { length: 2 }, null, undefined, 3]) expect(list(value)).toEqual([])
  })

  test("a body that is not JSON fails as changed, however deeply nested", () => {
    expect(parseJson(" [1] ", "it")).toEqual([1])
    for (const body of ["", "{", "undefined", '"', '["\\"]', "[".repeat(150)]) {
      expect(() => parseJson(body, "it")).toThrow(new ReadFailure("changed", "it is no JSON"))
    }
  })

  test("a body with too many values or too deep nesting is not parsed; string contents do not count", () => {
    const why = new ReadFailure("changed", "it has more values, or is nested more deeply, than any known one")
    const hostile = ["[".repeat(1_000_000), `${"[".repeat(300)}${"]".repeat(300)}`, `[${"{},".repeat(400_000)}0]`]
    for (const body of hostile) expect(() => parseJson(body, "it")).toThrow(why)
    const texts = ["[".repeat(1_000), ",".repeat(1_000_000), '\\"[[['.repeat(1_000), "\\"]
    expect(parseJson(JSON.stringify(texts), "it")).toEqual(texts)
  })
})

test("each app is listed once, at its first position, up to the given depth", () => {
  const apps = [{ id: "b", name: "first" }, { id: "a" }, { id: "b", name: "again" }, { id: "c" }]
  expect(appsOf(apps, 10)).toEqual([{ id: "b", name: "first" }, { id: "a" }, { id: "c" }])
  expect(appsOf(apps, 2).map(({ id }) => id)).toEqual(["b", "a"])
  expect(appsOf([], 5)).toEqual([])
})

test("undefined facts are left out, and zeros are not", () => {
  expect(Object.entries(withoutUndefined({ id: "a", name: undefined, ratings: 0 }))).toEqual([
    ["id", "a"],
    ["ratings", 0],
  ])
})
