import { expect, test } from "bun:test"
import { type GroupableAlert, groupAlerts } from "../../src/lib/alert-groups.ts"

const row = (rest: Partial<GroupableAlert>): GroupableAlert => {
  return {
    type: "rank_drop",
    appId: "app_tea",
    platform: "ios",
    country: "us",
    day: "2026-11-26",
    read: false,
    sentence: "a sentence",
    term: null,
    rivalId: null,
    rivalName: null,
    change: null,
    before: null,
    after: null,
    ...rest,
  }
}
const passedBy = (n: number, rest: Partial<GroupableAlert> = {}) =>
  row({
    type: "rival_passed",
    term: "moon phase",
    rivalId: `${n}`,
    rivalName: `Filler ${n}`,
    before: 8,
    after: 17,
    ...rest,
  })
const shown = (rows: GroupableAlert[]) =>
  groupAlerts(rows).map(({ move, line, rows: alike }) => [move, line, alike.length])

test("a fall that eight rivals used is one event, with the move and the first three names", () => {
  const fall = row({ term: "moon phase", before: 8, after: 17 })
  const flood = [0, 1, 2, 3, 4, 5, 6, 7].map((n) => passedBy(n))
  const line = '"moon phase" in the US App Store, passed by Filler 0, Filler 1, Filler 2 and 5 more'
  expect(shown([...flood, fall])).toEqual([["▼ 8→17", line, 9]])
  expect(groupAlerts([...flood, fall])[0]!.lead).toBe(fall)
  // the passings show the fall, although it has no alert of its own
  expect(shown(flood)).toEqual([["▼ 8→17", line, 8]])
})

test("events of other apps, keywords, storefronts, stores and days stay separate", () => {
  const others = [
    { appId: "app_mate" },
    { term: "tide" },
    { country: "gb" },
    { platform: "android" as const },
    { day: "2026-11-25" },
  ]
  const rows = [passedBy(0), passedBy(1), ...others.map((rest) => passedBy(0, rest))]
  expect(groupAlerts(rows).map(({ rows: alike }) => alike.length)).toEqual([2, 1, 1, 1, 1, 1])
})

test("changes of one rival on a day are one event, for all apps and storefronts", () => {
  const changed = (rest: Partial<GroupableAlert>) =>
    row({ type: "rival_event", rivalId: "7", rivalName: "Moodleaf", change: "icon", before: "a", after: "b", ...rest })
  const version = { change: "version", before: "4.0", after: "4.1" }
  expect(shown([changed(version), changed({}), changed({ ...version, appId: "app_mate" })])).toEqual([
    [null, "Moodleaf changed version 4.0→4.1, icon in the US App Store", 3],
  ])
  expect(shown([changed(version), changed({ ...version, country: "de" })])).toEqual([
    [null, "Moodleaf changed version 4.0→4.1 in 2 storefronts", 2],
  ])
  expect(groupAlerts([changed({}), changed({ rivalId: "8" })])).toHaveLength(2)
})

test("a keyword that entered and passed rivals names them, and a single alert keeps its sentence", () => {
  const entered = row({ type: "entered", term: "tide", after: 4 })
  const beaten = passedBy(1, { type: "rival_beaten", term: "tide", before: null, after: 4 })
  expect(shown([entered, beaten])).toEqual([["▲ –→4", '"tide" in the US App Store, you passed Filler 1', 2]])
  expect(shown([row({ type: "dropped_out", term: "tide", before: 4, platform: "android" })])).toEqual([
    ["▼ 4→–", '"tide" on Google Play in the US', 1],
  ])
  expect(shown([passedBy(1)])).toEqual([[null, "a sentence", 1]])
  expect(shown([row({ type: "chart_drop", before: 4, after: 30 })])).toEqual([[null, "a sentence", 1]])
})

test("an event is read once all of its alerts are", () => {
  const read = (...all: boolean[]) => groupAlerts(all.map((one, n) => passedBy(n, { read: one })))[0]!.isRead
  expect([read(true, true), read(true, false)]).toEqual([true, false])
})
