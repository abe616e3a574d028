import { describe, expect, test } from "bun:test"
import {
  findMissing,
  type PlanInputs,
  type PlanKeyword,
  planTasks as planFor,
  type RankedPeer,
} from "../../../src/overview/formulas/plan-tasks.ts"
import { cases } from "../../long.ts"

const named = (name: string, ranks: number[], ratings = 50): RankedPeer[] =>
  ranks.map((rank) => ({ rank, name, ratings }))

const keyword = (term: string, rest: Partial<PlanKeyword> = {}): PlanKeyword => ({
  term,
  day: "2026-11-20",
  rank: null,
  weight: 40,
  popularity: null,
  popularityLow: 5,
  popularityHigh: 9,
  popularitySource: "estimate",
  popularityAt: "2026-11-19T08:00:00.000Z",
  peers: named(`My ${term}`, [8, 10, 12]),
  ...rest,
})

const inputs = (keywords: PlanKeyword[], rest: Partial<PlanInputs> = {}): PlanInputs => ({
  appId: "app_tea",
  platform: "ios",
  storefront: "us",
  locale: "en-US",
  name: "Leafy",
  subtitle: "Steep it right",
  ratings: 100,
  keywords,
  appBackground: { name: "Leafy", developer: "Leaves", rivals: [], tracked: keywords.map(({ term }) => term) },
  ...rest,
})

const planTasks = (planInputs: PlanInputs, limit: number) => planFor(planInputs, findMissing(planInputs), limit)
const proposed = (planInputs: PlanInputs) => planTasks(planInputs, 10).map((task) => task.proposed)

describe("a task", () => {
  test("a task adds the missing words where they fit and expects the median rank of similar apps", () => {
    expect(planTasks(inputs([keyword("tea timer", { rank: 30 })]), 5)).toEqual([
      {
        taskId: expect.stringMatching(/^task_[0-9a-f]{20}$/),
        field: "subtitle",
        current: "Steep it right",
        proposed: "Steep it right, tea timer",
        added: ["tea", "timer"],
        removed: [],
        gains: [
          {
            term: "tea timer",
            day: "2026-11-20",
            rank: 30,
            expectedRank: 10,
            weight: 40,
            popularity: null,
            popularityLow: 5,
            popularityHigh: 9,
            popularitySource: "estimate",
            popularityAt: "2026-11-19T08:00:00.000Z",
          },
        ],
        expectedValue: Math.round(40 * (1 / 10 - 1 / 30) * 100) / 100,
        confidence: "low",
        evidence: 3,
      },
    ])
  })

  test("a task adds only the missing words and counts every keyword that they complete", () => {
    const [task] = planTasks(
      inputs([keyword("tea timer"), keyword("steep timer", { weight: 30 })], { subtitle: "Steep tea right" }),
      5,
    )
    expect(task).toMatchObject({ proposed: "Steep tea right, timer", added: ["timer"], expectedValue: 7 })
    expect(task?.gains.map(({ term }) => term)).toEqual(["tea timer", "steep timer"])
  })

  test("a task without enough room replaces words that no tracked keyword contains, and only those", () => {
    const full = "Steep oolong well every morning"
    expect([...full].length).toBe(31)
    const subtitle = "Steep oolong well each morning"
    const [task] = planTasks(inputs([keyword("tea timer"), keyword("oolong", { weight: 1 })], { subtitle }), 5)
    expect(task).toMatchObject({ proposed: "Steep oolong well, tea timer", removed: ["each", "morning"] })
    const needed = inputs([keyword("tea timer"), keyword("steep oolong well each morning", { weight: 1 })], {
      subtitle,
    })
    expect(proposed(needed)).toEqual([])
  })

  test("a task proposes a new subtitle if the page shows none", () => {
    expect(proposed(inputs([keyword("tea timer")], { subtitle: "" }))).toEqual(["Tea timer"])
  })

  test("a task joins words without spaces in Japanese, where adjacent characters match a keyword", () => {
    const jp = { storefront: "jp", locale: "ja" as const, name: "リーフィー", subtitle: "お茶の時間" }
    expect(proposed(inputs([keyword("紅茶タイマー")], jp))).toEqual(["お茶の時間・紅茶タイマー"])
    expect(proposed(inputs([keyword("お茶の時間")], jp))).toEqual([])
  })

  test("a task keeps its id while its proposal is the same and has another id in another storefront", () => {
    const id = (rest: Partial<PlanInputs>) => planTasks(inputs([keyword("tea timer")], rest), 1)[0]?.taskId
    expect(id({})).toBe(id({ ratings: 200 }) as string)
    expect(id({})).not.toBe(id({ storefront: "gb", locale: "en-GB" }) as string)
  })
})

describe("no task", () => {
  test("a task is proposed with three similar apps, and no task with two", () => {
    const peers = (ranks: number[]) =>
      proposed(inputs([keyword("tea timer", { peers: named("Tea Timer", ranks) })])).length
    expect([peers([5, 6]), peers([5, 6, 7])]).toEqual([0, 1])
  })

  test("apps with more ratings, unknown ratings, no name or missing words do not count as similar", () => {
    const peers: RankedPeer[] = [
      ...named("Tea Timer", [1, 2, 3], 101),
      { rank: 4, name: "Tea Timer", ratings: null },
      { rank: 5, name: null, ratings: 1 },
      ...named("Tea", [6, 7, 8]),
    ]
    expect(proposed(inputs([keyword("tea timer", { peers })]))).toEqual([])
    expect(proposed(inputs([keyword("tea timer", { peers: named("Tea Timer", [1, 2, 3], 100) })]))).toHaveLength(1)
  })

  test("no task is proposed if similar apps rank no better than the app", () => {
    const at = (rank: number) => proposed(inputs([keyword("tea timer", { rank })])).length
    expect([at(9), at(10), at(11)]).toEqual([0, 0, 1])
  })

  test("a proposal is dropped if the listing checks find a rival's name, a price word or another platform", () => {
    const rivals = [{ name: "Timerly", developer: "Somebody" }]
    const background = { name: "Leafy", developer: "Leaves", rivals, tracked: ["timerly tea"] }
    expect(proposed(inputs([keyword("timerly tea")], { appBackground: background }))).toEqual([])
    expect(proposed(inputs([keyword("free tea")]))).toEqual([])
    expect(proposed(inputs([keyword("android tea")]))).toEqual([])
  })

  test("no task is proposed if every keyword's words are already in the listing in some form", () => {
    expect(proposed(inputs([keyword("tea timers")], { subtitle: "A Timer for Teas" }))).toEqual([])
  })
})

test("tasks are ordered by value, without duplicates and up to the limit", () => {
  const keywords = ["mate", "chai", "oolong", "sencha"].map((term, at) => keyword(term, { weight: 10 * (at + 1) }))
  const tasks = planTasks(inputs(keywords), 3)
  expect(tasks.map(({ added }) => added)).toEqual([["sencha"], ["oolong"], ["chai"]])
  expect(tasks.map(({ expectedValue }) => expectedValue)).toEqual([4, 3, 2])
  expect(new Set(planTasks(inputs(keywords), 10).map(({ taskId }) => taskId)).size).toBe(4)
})

test("every proposal over generated pages fits, contains what it adds and removes only unneeded words", () => {
  const words = ["tea", "timer", "leaf", "oolong", "steep", "green", "cup", "kettle", "brew", "calm", "ritual", "taste"]
  let state = 11
  const random = (below: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  let some = 0
  for (let round = 0; round < cases(80, 500); round++) {
    const subtitle = Array.from({ length: random(6) }, () => words[random(12)])
      .join(random(2) ? " " : ", ")
      .slice(0, 30)
      .trim()
    const terms = new Set(Array.from({ length: 1 + random(4) }, () => `${words[random(12)]} ${words[random(12)]}`))
    const keywords = [...terms].map((term) =>
      keyword(term, { rank: random(3) ? random(60) + 1 : null, weight: 1 + random(90) }),
    )
    const needed = new Set(keywords.flatMap(({ term }) => term.split(" ")))
    for (const task of planTasks(inputs(keywords, { subtitle }), 10)) {
      some++
      expect([...task.proposed].length).toBeLessThanOrEqual(30)
      expect(task.added.every((word) => task.proposed.toLowerCase().includes(word))).toBe(true)
      expect(task.removed.filter((word) => needed.has(word))).toEqual([])
      expect(task.expectedValue).toBeGreaterThan(0)
      expect(task.proposed).not.toMatch(/ {2}|^[ ,]|[ ,]$|, ,/)
    }
  }
  expect(some).toBeGreaterThan(cases(10, 150))
})
