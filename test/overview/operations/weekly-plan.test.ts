import { beforeEach, expect, test } from "bun:test"
import type { Sql } from "../../../src/database/types.ts"
import type { Observation } from "../../../src/kinds.ts"
import { getWeeklyPlan } from "../../../src/overview/operations/weekly-plan.ts"
import { addTerms } from "../../../src/tracking/terms.ts"
import { freshDatabase } from "../../database.ts"
import { slow } from "../../long.ts"
import { listed } from "../../measuring/record/listed.ts"
import {
  appsReading,
  ask,
  contextOf,
  newWorkspace,
  popularityReading,
  reading,
} from "../../measuring/record/measured.ts"
import { record } from "../../record.ts"
import { openService, type Service } from "../../service.ts"
import { trackOwn } from "../../world/tracked.ts"

const NOW = new Date("2025-11-20T12:00:00Z")
const OWN_APP = "10001"
const PEERS = ["20001", "20002", "20003"]

let sql: Sql
let workspaceId: number

beforeEach(async () => {
  sql = await freshDatabase()
  workspaceId = await newWorkspace(sql)
})

const track = (rest: object = {}) => trackOwn(sql, { workspaceId, iosId: OWN_APP, keywords: ["tea timer"], ...rest })
const store = (...readings: Observation[]) => record(sql, readings, () => NOW)
const plan = (appId: string, input: object = {}, now = NOW) =>
  ask(getWeeklyPlan, contextOf(sql, workspaceId, now), { appId, ...input })

const page = (at: string, subtitle: string | undefined, storefront = "us", name = "Leafy") =>
  listed(at, { name, ...(subtitle === undefined ? {} : { subtitle }) }, { id: OWN_APP, storefront })

/**
 * Stores the keyword's results, with three small apps named after it at ranks 3, 4 and 5, and everything else a task
 * needs.
 */
async function measured(storefront = "us", at = "2025-11-19T10:00:00Z", popularity = 40): Promise<void> {
  const apps = [
    { id: OWN_APP, name: "Leafy", ratings: 500 },
    ...PEERS.map((id, place) => ({ id, name: `Tea Timer ${place}`, ratings: 90 })),
  ]
  await store(
    reading("tea timer", at, ["30001", "30002", ...PEERS, "30003", OWN_APP], { storefront }),
    appsReading(at, apps, { storefront }),
    popularityReading("tea timer", "2025-10-01", popularity, { storefront }),
    page(at, "Steep it right", storefront),
  )
}

test("a task is proposed from the measured data and stored as proposed", async () => {
  const appId = await track()
  await measured()
  const { tasks, storefronts, ...rest } = await plan(appId)
  expect(rest).toEqual({ platform: "ios", goal: null, record: [], storefrontsLeftOut: 0 })
  expect(storefronts).toEqual([
    { country: "us", state: "tasks", settledAt: null, pageReadAt: "2025-11-19T10:00:00.000Z", keywords: 1 },
  ])
  expect(tasks).toEqual([
    {
      taskId: expect.stringMatching(/^task_/),
      platform: "ios",
      country: "us",
      field: "subtitle",
      sentence: 'Put "tea" and "timer" into the subtitle in us: "Steep it right, tea timer".',
      current: "Steep it right",
      proposed: "Steep it right, tea timer",
      added: ["tea", "timer"],
      removed: [],
      reasons: [
        '"tea timer" has popularity 40, and the app ranks 7.',
        "3 apps with at most as many ratings have its words in their name; their median rank is 4.",
      ],
      tradeOff: "Uses free space; no word is removed.",
      confidence: "low",
      expectedValue: Math.round(40 * (1 / 4 - 1 / 7) * 100) / 100,
      gains: [
        {
          term: "tea timer",
          day: "2025-11-19",
          rank: 7,
          expectedRank: 4,
          weight: 40,
          popularity: 40,
          popularityLow: null,
          popularityHigh: null,
          popularitySource: "apple-ads-report",
          popularityAt: expect.stringMatching(/^2025-.*Z$/),
        },
      ],
    },
  ])
  const stored = await sql`select task_id, current_text, proposed_text, keywords, page_seen_at, goal from plan_task`
  expect([...stored]).toEqual([
    {
      task_id: tasks[0].taskId,
      current_text: "Steep it right",
      proposed_text: "Steep it right, tea timer",
      keywords: tasks[0].gains,
      page_seen_at: new Date("2025-11-19T10:00:00Z"),
      goal: null,
    },
  ])
})

test("a task that is proposed again is stored once, and a task marked as done is not proposed again", async () => {
  const appId = await track()
  await measured()
  const [task] = (await plan(appId, { goal: "rank" })).tasks
  expect((await plan(appId)).tasks[0].taskId).toBe(task.taskId)
  const rows = await sql`select goal, last_told_at >= first_told_at as later from plan_task`
  expect([...rows]).toEqual([{ goal: null, later: true }])
  await sql`update tracked_app set tasks_done = ${[task.taskId]}`
  expect((await plan(appId)).tasks).toEqual([])
})

test("a task that starts from another text keeps its id and is stored with that text and its keywords", async () => {
  const appId = await track()
  await measured()
  const [task] = (await plan(appId)).tasks
  await store(page("2025-11-20T11:00:00Z", "Steep it right,"))
  await sql`delete from listing_change`
  const [repeated, ...rest] = (await plan(appId)).tasks
  expect([repeated.taskId, repeated.current, rest]).toEqual([task.taskId, "Steep it right,", []])
  const updated =
    await sql`select task_id, current_text, proposed_text, keywords, expected_value::float8 from plan_task`
  expect([...updated]).toEqual([
    {
      task_id: repeated.taskId,
      current_text: repeated.current,
      proposed_text: repeated.proposed,
      keywords: repeated.gains,
      expected_value: expect.closeTo(repeated.expectedValue, 2),
    },
  ])
})

test("no task is proposed for exactly 14 days after a change of name or subtitle", async () => {
  const appId = await track()
  await store(page("2025-11-05T12:00:00Z", "Old words"), page("2025-11-06T12:00:00Z", "Steep it right"))
  await measured()
  const state = async (now: Date) => {
    const { tasks, storefronts } = await plan(appId, {}, now)
    return [storefronts[0].state, storefronts[0].settledAt, tasks.length]
  }
  expect(await state(new Date("2025-11-20T11:59:59.999Z"))).toEqual(["settling", "2025-11-20T12:00:00.000Z", 0])
  expect(await state(new Date("2025-11-20T12:00:00Z"))).toEqual(["tasks", null, 1])
})

test("without this week's page, ratings and results no task is proposed, and the state is not_measured", async () => {
  const appId = await track()
  const state = async (now = NOW) => (await plan(appId, {}, now)).storefronts[0].state
  expect(await state()).toBe("not_measured")
  await store(page("2025-11-19T10:00:00Z", "Steep it right"))
  expect(await state()).toBe("not_measured")
  await measured()
  expect(await state()).toBe("tasks")
  expect(await state(new Date("2025-11-26T12:00:00Z"))).toBe("tasks")
  expect(await state(new Date("2025-11-27T12:00:00Z"))).toBe("not_measured")
  expect((await plan(appId, { platform: "android" })).storefronts[0].state).toBe("not_measured")
  expect([...(await sql`select 1 from plan_task where storefront <> 'us'`)]).toEqual([])
})

test("tasks of all storefronts are merged by value up to the limit, and one storefront can be requested", async () => {
  const appId = await track({ countries: ["us", "gb", "ca"] })
  await measured("us")
  await measured("gb", undefined, 80)
  const { tasks, storefronts } = await plan(appId)
  expect(tasks.map(({ country }: { country: string }) => country)).toEqual(["gb", "us"])
  expect(tasks[0].expectedValue).toBeGreaterThan(tasks[1].expectedValue)
  expect(storefronts.map(({ country, state }: Record<string, string>) => [country, state])).toEqual([
    ["us", "tasks"],
    ["gb", "tasks"],
    ["ca", "not_measured"],
  ])
  expect((await plan(appId, { limit: 1 })).tasks).toEqual([tasks[0]])
  const usPlan = await plan(appId, { country: "us" })
  expect([usPlan.tasks[0].country, usPlan.storefronts.length]).toEqual(["us", 1])
})

slow("a plan returns five of eleven tasks by default and at most ten, and stores only returned tasks", async () => {
  const countries = ["us", "gb", "ca", "au", "nz", "ie", "za", "in", "sg", "ph", "ng"]
  const appId = await track({ countries })
  for (const storefront of countries) await measured(storefront)
  const countTasks = async () => (await sql`select from plan_task`).length
  expect((await plan(appId)).tasks).toHaveLength(5)
  expect(await countTasks()).toBe(5)
  const { tasks } = await plan(appId, { limit: 10 })
  expect(tasks).toHaveLength(10)
  expect(new Set(tasks.map(({ taskId }: { taskId: string }) => taskId)).size).toBe(10)
  expect(await countTasks()).toBe(10)
})

test("the goal does not change the tasks or their order, and is stored with them", async () => {
  const appId = await track()
  await measured()
  const { tasks } = await plan(appId)
  for (const goal of ["downloads", "rank", "revenue"]) {
    expect(await plan(appId, { goal })).toMatchObject({ goal, tasks })
    expect([...(await sql`select goal from plan_task`)]).toEqual([{ goal }])
  }
})

test("the plan has the state nothing_to_do if the page already has the words of every keyword", async () => {
  const appId = await track()
  await measured()
  await store(page("2025-11-01T10:00:00Z", "The tea timer"), page("2025-11-19T11:00:00Z", "The tea timer"))
  await sql`delete from listing_change`
  expect(await plan(appId)).toMatchObject({ tasks: [], storefronts: [{ state: "nothing_to_do", keywords: 1 }] })
  await sql.begin((tx) => addTerms(tx, appId, "all", ["never measured"]))
  expect((await plan(appId)).storefronts[0].keywords).toBe(1)
})

test("over HTTP the plan requires Pro, costs 1 credit and refuses invalid parameters", async () => {
  const service: Service = openService({ sql, now: () => NOW })
  const [pro, free] = [await service.workspace({ plan: "pro" }), await service.workspace({ plan: "free", pack: 1_000 })]
  const app = await trackOwn(sql, { workspaceId: pro, iosId: OWN_APP, keywords: ["tea"] })
  const key = await service.key(pro)
  const get = async (query: string) => {
    const { status, body, headers } = await service.call(`/v1/apps/${app}/weekly-plan?${query}`, { key })
    return [status, body.error ?? headers.get("x-credits-used")]
  }
  expect(await get("limit=1")).toEqual([200, "1"])
  expect(await get("limit=10&goal=downloads")).toEqual([200, "2"])
  expect(await get("limit=0")).toEqual([400, "invalid_arguments"])
  expect(await get("limit=11")).toEqual([400, "invalid_arguments"])
  expect(await get("limit=2.5")).toEqual([400, "invalid_arguments"])
  expect(await get("goal=fame")).toEqual([400, "bad_goal"])
  expect(await get("country=zz")).toEqual([400, "bad_country"])
  const other = await service.key(free)
  expect((await service.call(`/v1/apps/${app}/weekly-plan`, { key: other })).body.error).toBe("plan_required")
})

slow("a task is graded by its keywords' ranks only after its text has appeared on the page", async () => {
  const appId = await track()
  await measured()
  const [task] = (await plan(appId)).tasks
  const later = new Date("2026-01-10T12:00:00Z")
  // as if proposed on 20 November of the test's clock, because the database's clock shows another year
  await sql`update plan_task set first_told_at = '2025-11-20T12:00:00Z'`
  expect((await plan(appId, {}, later)).record).toEqual([])
  const rank = (day: string, place: number) =>
    reading("tea timer", `${day}T10:00:00Z`, [...Array(place - 1).keys()].map((n) => `${40_000 + n}`).concat(OWN_APP))
  await record(
    sql,
    [
      page("2025-11-21T10:00:00Z", "Steep it right"),
      page("2025-11-25T10:00:00Z", task.proposed),
      // ranks before the first week is over, within the days that count, and after them
      ...[
        rank("2025-11-27", 1),
        rank("2025-12-02", 6),
        rank("2025-12-10", 4),
        rank("2025-12-23", 3),
        rank("2025-12-24", 90),
      ],
    ],
    () => later,
  )
  const taskFields = { taskId: task.taskId, country: "us", field: "subtitle", proposed: task.proposed }
  const { record: graded } = await plan(appId, {}, later)
  expect(graded).toEqual([
    {
      ...taskFields,
      toldAt: "2025-11-20T12:00:00.000Z",
      adoptedAt: "2025-11-25T10:00:00.000Z",
      from: "2025-12-02",
      to: "2025-12-23",
      final: true,
      keywords: [{ term: "tea timer", before: 7, expectedRank: 4, rank: 4, days: 3, verdict: "reached" }],
    },
  ])
  expect((await plan(appId, {}, new Date("2025-12-20T00:00:00Z"))).record[0].final).toBe(false)
})
