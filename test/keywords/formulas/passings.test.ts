import { describe, expect, test } from "bun:test"
import { passingsOf } from "../../../src/keywords/formulas/passings.ts"

const [OWN, A, B, C] = [1, 2, 3, 4] as const
const on = (day: number, appIds: number[], source = "web") => ({ day: `2026-10-0${day}`, source, appIds })

describe("who passed whom", () => {
  test("an app that was below and is above has passed, and one that was above and is below was passed", () => {
    const [passing, ...more] = passingsOf([on(1, [A, OWN, B, C]), on(2, [B, OWN, A, C])], OWN)
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

  test("an absent app stands below every place that was read", () => {
    const [entered] = passingsOf([on(1, [A, B]), on(2, [OWN, A, B])], OWN)
    expect([entered?.was, entered?.passed.map(({ app }) => app), entered?.passedBy]).toEqual([null, [A, B], []])
    const [dropped] = passingsOf([on(1, [OWN, A]), on(2, [A, B])], OWN)
    expect([dropped?.rank, dropped?.passedBy.map(({ app }) => app)]).toEqual([null, [A, B]])
    expect(dropped?.passedBy[1]).toEqual({ app: B, was: null, rank: 2 })
  })

  test("nobody passes an app that is absent on both days, and nothing is compared across sources", () => {
    expect(passingsOf([on(1, [A, B]), on(2, [B, A])], OWN)).toEqual([])
    expect(passingsOf([on(1, [A, OWN]), on(2, [OWN, A], "play")], OWN)).toEqual([])
  })

  test("the newest day comes first, and days without a passing are left out", () => {
    const days = [on(1, [A, OWN]), on(2, [OWN, A]), on(3, [OWN, A, B]), on(5, [A, OWN])]
    expect(passingsOf(days, OWN).map(({ day, before }) => [day, before])).toEqual([
      ["2026-10-05", "2026-10-03"],
      ["2026-10-02", "2026-10-01"],
    ])
  })
})
