import { describe, expect, test } from "bun:test"
import { passingsOf } from "../../../src/keywords/formulas/passings.ts"

const [OUR_APP, A, B, C] = [1, 2, 3, 4] as const
const ranking = (day: number, appIds: number[], source = "web") => ({ day: `2026-10-0${day}`, source, appIds })

describe("who passed whom", () => {
  test("another app passes the app by moving above it, and is passed by the app by moving below it", () => {
    const [passing, ...more] = passingsOf([ranking(1, [A, OUR_APP, B, C]), ranking(2, [B, OUR_APP, A, C])], OUR_APP)
    expect(more).toEqual([])
    expect(passing).toEqual({
      day: "2026-10-02",
      before: "2026-10-01",
      was: 2,
      rank: 2,
      passedBy: [{ app: B, was: 3, rank: 1 }],
      passed: [{ app: A, was: 1, rank: 3 }],
    })
  })

  test("an absent app ranks below every listed app", () => {
    const [entered] = passingsOf([ranking(1, [A, B]), ranking(2, [OUR_APP, A, B])], OUR_APP)
    expect([entered?.was, entered?.passed.map(({ app }) => app), entered?.passedBy]).toEqual([null, [A, B], []])
    const [dropped] = passingsOf([ranking(1, [OUR_APP, A]), ranking(2, [A, B])], OUR_APP)
    expect([dropped?.rank, dropped?.passedBy.map(({ app }) => app)]).toEqual([null, [A, B]])
    expect(dropped?.passedBy[1]).toEqual({ app: B, was: null, rank: 2 })
  })

  test("an app that is absent on both days is not passed, and days of different sources are not compared", () => {
    expect(passingsOf([ranking(1, [A, B]), ranking(2, [B, A])], OUR_APP)).toEqual([])
    expect(passingsOf([ranking(1, [A, OUR_APP]), ranking(2, [OUR_APP, A], "play")], OUR_APP)).toEqual([])
  })

  test("the newest day comes first, and days without a passing are left out", () => {
    const days = [
      ranking(1, [A, OUR_APP]),
      ranking(2, [OUR_APP, A]),
      ranking(3, [OUR_APP, A, B]),
      ranking(5, [A, OUR_APP]),
    ]
    expect(passingsOf(days, OUR_APP).map(({ day, before }) => [day, before])).toEqual([
      ["2026-10-05", "2026-10-03"],
      ["2026-10-02", "2026-10-01"],
    ])
  })
})
