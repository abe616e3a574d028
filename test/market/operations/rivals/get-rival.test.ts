import { beforeAll, beforeEach, describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Sql } from "../../../../src/database/types.ts"
import type { trackApp } from "../../../../src/tracking/apps.ts"
import { freshDatabase } from "../../../database.ts"
import { slow } from "../../../long.ts"
import { listed } from "../../../measuring/record/listed.ts"
import { appsReading, NOW, reading } from "../../../measuring/record/measured.ts"
import { record } from "../../../record.ts"
import { type Answer, openService, type Service } from "../../../service.ts"
import { trackOwn } from "../../../world/tracked.ts"

const OWN_APP = "10001"
const RIVAL = "10002"
const at = (daysAgo: number, time = "10:00") =>
  `${new Date(NOW.getTime() - daysAgo * 86_400_000).toISOString().slice(0, 10)}T${time}:00Z`
const day = (daysAgo: number) => at(daysAgo).slice(0, 10)

let sql: Sql
let service: Service
let workspaceId: number
let appId: string
let key: string

beforeAll(async () => {
  sql = await freshDatabase()
})

beforeEach(async () => {
  for (const table of [
    "tracked_app",
    "search_results",
    "list_now",
    "keyword_now",
    "list",
    "rating_count",
    "app_storefront",
  ])
    await sql`delete from ${sql(table)}`
  service = openService({ sql, now: () => NOW })
  workspaceId = await service.workspace({ overrides: { spy: 2, ratePerSecond: 100_000 } })
  key = await service.key(workspaceId)
  appId = await track({})
})

const track = (rest: Partial<Parameters<typeof trackApp>[1]>) =>
  trackOwn(sql, {
    workspaceId,
    iosId: OWN_APP,
    countries: ["us", "gb"],
    keywords: ["tea", "mate"],
    origin: "own",
    ...rest,
  })
const stored = (...observations: Parameters<typeof record>[1][number][]) => record(sql, observations, () => NOW)
const ask = (rivalId = RIVAL, query = "", by = key): Promise<Answer> =>
  service.call(`/v1/apps/${appId}/rivals/${encodeURIComponent(rivalId)}${query}`, { key: by })
const spies = async () => {
  const { body } = await service.call("/v1/usage", { key })
  return body.quotas.find((row: { key: string }) => row.key === "spy").used
}

describe("the apps that are rivals", () => {
  const outcome = async (rivalId: string, query = "") => {
    const { status, body } = await ask(rivalId, query)
    return status === 200 ? body.id : [status, body.error, body.field]
  }

  slow("apps in the latest results of any tracked storefront and apps added by hand are rivals", async () => {
    await sql`update tracked_app set manual_rivals = '{ios:19999,android:com.example.rival}'`
    await stored(
      reading("tea", at(0), [10_003, OWN_APP, RIVAL]),
      reading("mate", at(40), [10_004], { storefront: "gb" }),
    )
    for (const id of [RIVAL, "10003", "10004", "19999"]) expect(await outcome(id)).toBe(id)
    expect(await outcome("ios:10003")).toBe("10003")
    expect(await outcome("com.example.rival", "?platform=android")).toBe("com.example.rival")
    expect(await outcome("android:com.example.rival", "?platform=android")).toBe("com.example.rival")
  })

  test("the app itself, apps in results of other apps' keywords and unknown apps are not rivals", async () => {
    await stored(reading("tea", at(0), [OWN_APP]), reading("coffee", at(0), [RIVAL]))
    for (const id of [OWN_APP, RIVAL, "10099"]) expect(await outcome(id)).toEqual([404, "not_found", undefined])
  })

  test("an app last in the results 30 days ago is a rival, and an app last there 31 days ago is not", async () => {
    await stored(
      reading("tea", at(0), [OWN_APP]),
      reading("mate", at(0), [OWN_APP]),
      reading("tea", at(30), [RIVAL]),
      reading("tea", at(31), ["10003"]),
      reading("mate", at(1), ["10004"], { complete: false, depth: 10 }),
    )
    expect(await outcome(RIVAL)).toBe(RIVAL)
    for (const id of ["10003", "10004"]) expect(await outcome(id)).toEqual([404, "not_found", undefined])
  })

  test("the id of a rival must belong to the requested platform", async () => {
    await stored(reading("tea", at(0), [RIVAL]))
    const bad = [
      "x",
      "1234",
      "0123456",
      "1234567890123",
      "ios:",
      "ios:x",
      "mac:10002",
      "android:10002",
      " 10002",
      "com",
    ]
    for (const id of bad) expect([id, await outcome(id)]).toEqual([id, [400, "bad_app_id", "rivalId"]])
    expect(await outcome(RIVAL, "?platform=android")).toEqual([400, "bad_app_id", "rivalId"])
    expect(await outcome("com.example.rival")).toEqual([400, "bad_app_id", "rivalId"])
    for (const id of ["12345", "123456789012"]) expect(await outcome(id)).toEqual([404, "not_found", undefined])
  })
})

describe("the rival's own figures", () => {
  beforeEach(async () => {
    await stored(reading("tea", at(0), [RIVAL, OWN_APP]))
  })

  test("the figures of a rival without readings are null, not zero", async () => {
    const { body } = await ask()
    expect(body).toMatchObject({
      id: RIVAL,
      name: RIVAL,
      developer: null,
      icon: null,
      manual: false,
      available: null,
      rating: null,
      ratings: null,
      ratingsDay: null,
      ratingsSource: null,
      history: { from: day(89), to: day(0), points: [] },
    })
  })

  test("a rival's history has a point for each measured day of the last 90, from the preferred source", async () => {
    const count = (daysAgo: number, ratings: number, rest: object = {}, rating = 4.7) =>
      appsReading(
        at(daysAgo),
        [{ id: RIVAL, name: "Rival", developer: "Maker", icon: "https://x.test/i", ratings, rating }],
        rest,
      )
    const inResults = (daysAgo: number, ratings: number) =>
      reading("elsewhere", at(daysAgo, "11:00"), [], { depth: 1, results: [{ id: RIVAL, ratings }] })
    await stored(
      count(90, 1),
      count(89, 100),
      inResults(89, 999),
      inResults(50, 120),
      count(3, 0, {}, 0),
      count(2, 140, { source: "itunes-search" }),
      count(2, 150),
      count(1, 7_000, { storefront: "gb" }),
    )
    const { body } = await ask()
    expect(body).toMatchObject({ name: "Rival", developer: "Maker", icon: "https://x.test/i", available: true })
    expect(body.history.points).toEqual([
      { day: day(89), ratings: 100, rating: 4.7, source: "itunes-lookup" },
      { day: day(50), ratings: 120, rating: null, source: "import" },
      { day: day(3), ratings: 0, rating: 0, source: "itunes-lookup" },
      { day: day(2), ratings: 150, rating: 4.7, source: "itunes-lookup" },
    ])
    expect(body).toMatchObject({ ratings: 150, rating: 4.7, ratingsDay: day(2), ratingsSource: "itunes-lookup" })
    const british = (await ask(RIVAL, "?country=GB")).body
    expect(british).toMatchObject({
      country: "gb",
      ratings: 7_000,
      history: { points: [{ day: day(1), ratings: 7_000 }] },
    })
  })

  test("a rival that is not sold in the storefront is unavailable, and its rating count has its day", async () => {
    await stored(appsReading(at(200), [{ id: RIVAL, ratings: 9 }]), appsReading(at(1), [], { asked: [RIVAL] }))
    const { body } = await ask()
    expect(body).toMatchObject({ available: false, ratings: 9, ratingsDay: day(200), history: { points: [] } })
  })
})

describe("the allowance of spies, which open the keywords of a rival", () => {
  beforeEach(async () => {
    await sql`update tracked_app set manual_rivals = '{ios:19999,ios:19998}'`
    await stored(
      reading("tea", at(0), [RIVAL, "10003", OWN_APP]),
      reading("secret word", at(0), [RIVAL, "10003", "10004"]),
      reading("mate", at(0), ["10004", RIVAL], { storefront: "gb" }),
      appsReading(at(0), [{ id: "19999", ratings: 5 }]),
    )
  })

  test("the first call for a rival in a storefront uses one spy, and a repeated call uses none", async () => {
    const first = await ask()
    expect(first.body).toMatchObject({ locked: false, spies: { used: 1, limit: 2 }, total: 2 })
    expect(Date.parse(first.body.openUntil) - Date.now()).toBeWithin(29.9 * 86_400_000, 30.1 * 86_400_000)
    const repeated = await ask()
    expect(repeated.body).toEqual(first.body)
    expect(await spies()).toBe(1)
    expect((await ask(RIVAL, "?country=gb")).body).toMatchObject({ locked: false, spies: { used: 2 }, total: 1 })
    expect(await spies()).toBe(2)
  })

  slow("100 concurrent first calls for a rival use one spy, and each returns all keywords", async () => {
    const answers = await Promise.all(Array.from({ length: 100 }, () => ask()))
    for (const { status, body } of answers) expect([status, body]).toEqual([200, answers[0]!.body])
    expect(answers[0]!.body).toMatchObject({ locked: false, spies: { used: 1 }, total: 2 })
    expect(await spies()).toBe(1)
  })

  test("without a spy left, a new rival is locked and has no keywords, and opened rivals stay open", async () => {
    await stored(appsReading(at(0), [{ id: "10004", name: "Fourth", ratings: 44 }]))
    for (const id of [RIVAL, "10003"]) expect((await ask(id)).body.locked).toBe(false)
    const { status, body, text, credits } = await ask("10004")
    expect(status).toBe(200)
    expect(body).toMatchObject({ id: "10004", name: "Fourth", ratings: 44, locked: true, openUntil: null })
    expect(body).toMatchObject({ spies: { used: 2, limit: 2, resetsAt: expect.stringMatching(/-01T00:00:00.000Z$/) } })
    expect(body.history.points).toHaveLength(1)
    for (const field of ["keywords", "total", "searched", "complete"]) expect(body).not.toHaveProperty(field)
    for (const word of ["secret", "word", "tea", "mate"]) expect(text).not.toContain(word)
    expect(credits.used).toBe(3)
    expect((await ask()).body).toMatchObject({ locked: false, total: 2 })
    expect(await spies()).toBe(2)
  })

  test("a rival without keywords uses no spy, even if no reading has ever shown the rival", async () => {
    for (const id of ["19999", "19998"])
      expect((await ask(id)).body).toMatchObject({
        id,
        locked: false,
        openUntil: null,
        spies: null,
        total: 0,
        searched: 2,
        complete: true,
        keywords: [],
        ...(id === "19998" && { searched: 0 }),
      })
    expect(await spies()).toBe(0)
    await sql`update workspace set overrides = overrides || '{"spy": 0}' where id = ${workspaceId}`
    const poor = await service.key(workspaceId)
    expect((await ask("19999", "", poor)).body).toMatchObject({ locked: false, keywords: [] })
    expect((await ask(RIVAL, "", poor)).body).toMatchObject({ locked: true, spies: { used: 0, limit: 0 } })
  })

  test("a rival uses a second spy after 30 days, measured by the database's clock", async () => {
    await ask()
    const moved = (by: string) => sql`
      update allowance_unit
      set opened_at = opened_at - ${by}::interval, open_until = open_until - ${by}::interval`
    await moved("29 days 23:59:50")
    expect((await ask()).body.spies.used).toBe(1)
    await moved("10 seconds")
    expect((await ask()).body.spies.used).toBe(2)
  })

  test("if one credit is left for two concurrent calls, the refused call returns its spy", async () => {
    const poor = await service.workspace({ overrides: { credits: 1, spy: 9, ratePerSecond: 100_000 } })
    const poorKey = await service.key(poor)
    appId = await track({ workspaceId: poor })
    const answers = await Promise.all([ask(RIVAL, "", poorKey), ask("10003", "", poorKey)])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 402])
    const refused = answers.find(({ status }) => status === 402) as Answer
    expect(refused.body).not.toHaveProperty("keywords")
    const rows = await sql<{ used: number; units: number }[]>`
      select used, (select count(*) from allowance_unit where workspace_id = ${poor}) as units
      from allowance_used
      where workspace_id = ${poor}`
    expect([...rows]).toEqual([{ used: 1, units: 1 }])
  })

  test("a spy opens a rival only for the workspace that used the spy", async () => {
    await ask()
    const other = await service.workspace({ overrides: { spy: 0, ratePerSecond: 100_000 } })
    const otherApp = await track({ workspaceId: other, countries: ["us"] })
    const { body } = await service.call(`/v1/apps/${otherApp}/rivals/${RIVAL}`, { key: await service.key(other) })
    expect(body).toMatchObject({ locked: true, spies: { used: 0, limit: 0 } })
  })
})

describe("access to a rival", () => {
  beforeEach(async () => {
    await stored(reading("tea", at(0), [RIVAL, OWN_APP]))
  })

  test("a rival is readable with apps:read, and by tool on the Free plan, for one credit", async () => {
    expect((await ask()).credits.used).toBe(1)
    expect((await ask(RIVAL, "", await service.key(workspaceId, { scopes: ["hive:read"] }))).body.error).toBe(
      "scope_required",
    )
    const free = await service.workspace({ plan: "free" })
    appId = await track({ workspaceId: free })
    const answer = await service.tool("get_rival", { appId, rivalId: RIVAL }, { key: await service.key(free) })
    expect(answer.body).toMatchObject({ id: RIVAL, locked: false, spies: { used: 1, limit: 3 } })
  })

  test("a key limited to other apps is refused and uses no spy", async () => {
    const limited = await service.key(workspaceId, { appList: [await track({ iosId: "20001", keywords: ["tea"] })] })
    expect((await ask(RIVAL, "", limited)).body.error).toBe("app_not_allowed")
    expect(await spies()).toBe(0)
  })

  test("a test key gets the sandbox's answer and uses no spy", async () => {
    const testKey = await service.key(workspaceId, { kind: "test" })
    const { body } = await service.call("/v1/apps/app_lumenjournal/rivals/9990000102", { key: testKey })
    expect(body).toMatchObject({ name: "Daybook Garden", locked: false })
    expect(await spies()).toBe(0)
  })
})

describe("changes on a rival's page", () => {
  const page = (daysAgo: number, listing: object, rest: object = {}) =>
    listed(at(daysAgo), { editorial: [], ...listing }, { id: RIVAL, ...rest })
  const pageChanges = async (by = key) =>
    (await ask(RIVAL, "", by)).body.changes.map(
      ({ kind, day, before, after, title }: Record<string, string | null>) => [kind, day, before, after, title],
    )

  slow("changes of 90 days have the values before and after, and promotional texts need the Pro plan", async () => {
    await sql`update tracked_app set manual_rivals = array['ios:' || ${RIVAL}::text]`
    expect(await pageChanges()).toEqual([])
    await stored(
      page(100, { name: "Cup" }),
      page(95, { name: "Mug" }),
      page(90, { name: "Kettle", subtitle: "Boils" }),
      page(3, { name: "Kettle", subtitle: "Boils water", description: "Other." }),
      page(3, { name: "Elsewhere" }, { storefront: "gb" }),
      page(2, {
        name: "Kettle",
        subtitle: "Boils water",
        description: "Other.",
        promotionalText: "Hot",
        version: "4.2",
      }),
      page(1, { name: "Elsewhere too" }, { storefront: "gb" }),
    )
    expect(await pageChanges()).toEqual([
      ["version", day(2), "4.1", "4.2", null],
      ["promotional_text", day(2), "Now with oolong.", "Hot", null],
      ["subtitle", day(3), "Boils", "Boils water", null],
      ["description", day(3), null, null, null],
    ])
    expect((await ask(RIVAL)).body.changesTruncated).toBe(false)
    await stored(...Array.from({ length: 60 }, (_, i) => page(80 - i, { name: "Kettle", subtitle: `Boils ${i}` })))
    const { body: cut } = await ask(RIVAL)
    expect([cut.changes.length, cut.changesTruncated]).toEqual([50, true])
    await sql`update workspace set plan = 'free' where id = ${workspaceId}`
    // a tool call to another process, which has no cached key; every plan includes tools
    const { body } = await openService({ sql, now: () => NOW }).tool("get_rival", { appId, rivalId: RIVAL }, { key })
    expect(body.changes[1]).toMatchObject({ kind: "promotional_text", before: null, after: null })
  })
})

test("the sandbox samples of a rival agree with those of its app", () => {
  const sample = (id: string) =>
    JSON.parse(readFileSync(join(import.meta.dirname, `../../../../fixtures/sandbox/${id}.json`), "utf8")).answer
  const rival = sample("get_rival")
  const listed = sample("list_rivals").rivals.find(({ id }: { id: string }) => id === rival.id)
  expect([rival.name, rival.ratings, rival.manual]).toEqual([listed.name, listed.ratings, listed.manual])
  const ranks = new Map(
    sample("list_keyword_ranks").keywords.map(({ term, rank }: { term: string; rank: number | null }) => [term, rank]),
  )
  const trackedTerms = rival.keywords.filter(({ tracked }: { tracked: boolean }) => tracked)
  for (const { term, ourRank } of trackedTerms)
    expect([term, ourRank]).toEqual([term, ranks.get(term) as number | null])
  const above = trackedTerms.filter(
    ({ rank, ourRank }: { rank: number; ourRank: number | null }) => rank < (ourRank ?? 999),
  )
  expect(above.map(({ term }: { term: string }) => term).sort()).toEqual(
    listed.terms.map(({ term }: { term: string }) => term).sort(),
  )
  const order = rival.keywords.map(({ rank, term }: { rank: number; term: string }) => [rank, term])
  expect(order).toEqual(
    order.toSorted(([a, b]: [number, string], [c, d]: [number, string]) => a - c || (b < d ? -1 : 1)),
  )
  const { from, to, points } = rival.history
  expect(Date.parse(to) - Date.parse(from)).toBe(89 * 86_400_000)
  expect([points[0].day, points.at(-1)]).toEqual([from, expect.objectContaining({ day: to, ratings: rival.ratings })])
  const spy = sample("get_usage").quotas.find(({ key }: { key: string }) => key === "spy")
  expect(rival.spies).toMatchObject({ used: spy.used, limit: spy.limit })
  const market = sample("get_rival_market")
  const networks = sample("get_rival_ad_networks")
  for (const { id, name } of [market, networks]) expect([id, name]).toEqual([rival.id, rival.name])
  for (const field of ["rating", "ratings", "ratingsDay", "ratingsSource"]) expect(market[field]).toEqual(rival[field])
})
