import { describe, expect, test } from "bun:test"
import { type ListedApp, landscapeOf } from "../../../src/charts/formulas/landscape.ts"

const NOTHING: ListedApp = {
  name: null,
  publisherId: null,
  publisher: null,
  ratings: null,
  rating: null,
  releasedAt: null,
  updatedAt: null,
  languages: null,
  sizeBytes: null,
}
const DAY = "2026-03-31"
const landscape = (...apps: Partial<ListedApp>[]) =>
  landscapeOf(
    apps.map((app) => ({ ...NOTHING, ...app })),
    DAY,
  )
const at = (text: string) => new Date(text)

test("the ratings wall is the minimum and the median rating count of the first ten apps", () => {
  const counts = [900, 5, 300, 7_000, 40, 60, 80, 0, 1_000_000, 20, 1, 2, 3]
  expect(landscape(...counts.map((ratings) => ({ ratings }))).wall).toEqual({ least: 0, median: 70, n: 10, of: 10 })
})

test("unknown values are left out, and a figure is null if less than half of the values are known", () => {
  const half = [{ ratings: 4, languages: 2 }, { ratings: 6 }, {}, {}]
  expect(landscape(...half).wall).toEqual({ least: 4, median: 5, n: 2, of: 4 })
  expect(landscape(...half).languages).toEqual({ median: null, n: 1, of: 4 })
  expect(landscape(...half).released).toEqual({ share: null, n: 0, of: 4 })
  expect(landscape(...half).publishers).toEqual({ count: null, apps: null, n: 0, of: 4 })
  expect(landscape(...half, {}).wall).toEqual({ least: null, median: null, n: 2, of: 5 })
})

test("an empty chart has null figures", () => {
  const empty = landscape()
  expect(empty.wall).toEqual({ least: null, median: null, n: 0, of: 0 })
  expect(empty.updated).toEqual({ share: null, n: 0, of: 0 })
})

test("the length of a name is counted in characters, not code units", () => {
  expect(landscape({ name: "👩‍🚀🍵" }, { name: "お茶" }).nameLength).toEqual({ median: 3, n: 2, of: 2 })
})

describe("release and update dates", () => {
  test("an app released at most a year ago counts as new, and an app released a day earlier does not", () => {
    const dates = ["2025-03-31T00:00:00Z", "2025-03-30T23:59:59Z", "2026-05-01T00:00:00Z"]
    expect(landscape(...dates.map((date) => ({ releasedAt: at(date) }))).released).toEqual({
      share: 0.667,
      n: 3,
      of: 3,
    })
  })

  test("an app updated ninety days ago counts as updated, and an app updated a day earlier does not", () => {
    const dates = ["2025-12-31T00:00:00Z", "2025-12-30T23:59:59Z"]
    expect(landscape(...dates.map((date) => ({ updatedAt: at(date) }))).updated).toEqual({ share: 0.5, n: 2, of: 2 })
  })
})

test("a publisher with two apps is counted, even if the readings have its name but no id", () => {
  const apps = [
    { publisherId: "1", publisher: "Leaf" },
    { publisher: "Leaf" },
    { publisherId: "2", publisher: "Root" },
    { publisher: "Stem" },
    { publisher: "Stem" },
    { publisher: "Bud" },
    {},
  ]
  expect(landscape(...apps).publishers).toEqual({ count: 2, apps: 4, n: 6, of: 7 })
})
