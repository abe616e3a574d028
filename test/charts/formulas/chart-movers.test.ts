import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { moversBetween } from "../../../src/charts/formulas/chart-movers.ts"

const reading = (apps: string, rest: object = {}) => ({
  source: "import",
  depth: apps.length,
  apps: [...apps],
  ...rest,
})
const describeMoves = (movers: ReturnType<typeof moversBetween<string>>) =>
  movers && {
    climbed: movers.climbed.map(({ app, rank, was }) => `${app} ${was}>${rank}`),
    fell: movers.fell.map(({ app, rank, was }) => `${app} ${was}>${rank}`),
    entered: movers.entered.map(({ app, rank }) => `${app} ${rank}`),
    left: movers.left.map(({ app, was }) => `${app} ${was}`),
  }

describe("movers between two days", () => {
  test("movers are sorted by the size of the move, and equal moves by the better rank", () => {
    expect(describeMoves(moversBetween(reading("abcdefgh"), reading("badhxefy")))).toEqual({
      climbed: ["h 8>4", "b 2>1", "d 4>3"],
      fell: ["a 1>2", "e 5>6", "f 6>7"],
      entered: ["x 5", "y 8"],
      left: ["c 3", "g 7"],
    })
  })

  test("the option places leaves out smaller moves, and the option limit shortens each list", () => {
    expect(describeMoves(moversBetween(reading("abcdefgh"), reading("badhxefy"), { places: 3, limit: 1 }))).toEqual({
      climbed: ["h 8>4"],
      fell: [],
      entered: ["x 5"],
      left: ["c 3"],
    })
  })

  test("the movers are empty if no rank changed, and null if the source changed", () => {
    const unmoved = { climbed: [], fell: [], entered: [], left: [] }
    expect(moversBetween(reading("abc"), reading("abc"))).toEqual(unmoved)
    expect(moversBetween(reading("abc"), reading("abc"), { places: 0 })).toEqual(unmoved)
    expect(moversBetween(reading("abc"), reading("abc", { source: "apple-charts" }))).toBeNull()
  })
})

describe("apps below the depth of a reading", () => {
  test("an app has left only if its last rank is within the depth of the later reading", () => {
    expect(describeMoves(moversBetween(reading("abcd"), reading("axb")))?.left).toEqual(["c 3"])
    expect(describeMoves(moversBetween(reading("abcd"), reading("axb", { depth: 4 })))?.left).toEqual(["c 3", "d 4"])
    expect(describeMoves(moversBetween(reading("abcd"), reading("")))?.left).toEqual([])
  })

  test("an app has entered only if its rank is within the depth of the earlier reading", () => {
    expect(describeMoves(moversBetween(reading("ab"), reading("xaby")))?.entered).toEqual(["x 1"])
    expect(describeMoves(moversBetween(reading("ab", { depth: 4 }), reading("xaby")))?.entered).toEqual(["x 1", "y 4"])
    expect(describeMoves(moversBetween(reading(""), reading("ab")))?.entered).toEqual([])
  })
})

test("swapping the two days reverses every move, and no app is in two lists of movers", () => {
  const any = fc
    .tuple(fc.uniqueArray(fc.integer({ min: 1, max: 30 }), { maxLength: 20 }), fc.nat(5))
    .map(([apps, deeper]) => ({ source: "import", depth: apps.length + deeper, apps }))
  const fates = fc.property(any, any, (first, second) => {
    const forward = moversBetween(first, second)!
    const backward = moversBetween(second, first)!
    const reverse = (moved: { app: number; rank: number; was: number }[]) =>
      moved.map(({ app, rank, was }) => ({ app, rank: was, was: rank })).sort((a, b) => a.app - b.app)
    const byApp = <Row extends { app: number }>(rows: Row[]) => rows.toSorted((a, b) => a.app - b.app)
    expect(byApp(forward.climbed)).toEqual(reverse(backward.fell))
    expect(byApp(forward.fell)).toEqual(reverse(backward.climbed))
    expect(forward.entered.map(({ app, rank }) => [app, rank])).toEqual(backward.left.map(({ app, was }) => [app, was]))
    const apps = Object.values(forward).flatMap((rows) => rows.map(({ app }: { app: number }) => app))
    expect(new Set(apps).size).toBe(apps.length)
  })
  fc.assert(fates, { seed: 20250831, numRuns: 2_000 })
})
