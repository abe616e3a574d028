import { beforeAll, beforeEach, describe, expect, test } from "bun:test"
import type { Platform } from "../../src/core/observation/provenance.ts"
import type { Sql } from "../../src/database/types.ts"
import type { Upstream } from "../../src/lib/upstreams.ts"
import { type Budget, type BudgetKind, readBudget } from "../../src/measuring/budget.ts"
import type { KindName } from "../../src/measuring/due-kind.ts"
import { freshDatabase } from "../database.ts"
import { long } from "../long.ts"

let sql: Sql
beforeAll(async () => {
  sql = await freshDatabase()
})
beforeEach(async () => {
  await sql`delete from due`
  await sql`delete from pace`
})

const kind = (name: KindName, platform: Platform, upstream: Upstream, rest: Partial<BudgetKind> = {}): BudgetKind => ({
  name,
  platform,
  upstream,
  together: 1,
  requests: 1,
  everyDays: 1,
  ...rest,
})

const SEARCH = kind("search", "ios", "apps.apple.com")
const APPS = kind("app", "ios", "itunes.apple.com", { together: 50 })
const HINTS = kind("hints", "ios", "search.itunes.apple.com", { requests: 4, everyDays: 7 })
const DIFFICULTY = kind("difficulty", "ios", "itunes.apple.com", { together: 5, everyDays: 7 })
const PLAY = kind("search", "android", "play.google.com", { storefronts: ["de"] })

const GAPS = new Map<Upstream, number>([
  ["apps.apple.com", 1_000],
  ["itunes.apple.com", 3_000],
])

async function due(of: BudgetKind, count: number, { storefront = "us", priority: first = 2, next = "0" } = {}) {
  await sql`
    insert into due (kind, platform, storefront, subject, priority, next_at)
    select ${of.name}, ${of.platform}, ${storefront}, ${`${first} `} || i, ${first}, now() + ${next}::interval
    from generate_series(1, ${count}) i`
}

async function paced(upstream: Upstream, egress: string, gapMs: number, { baseGapMs = gapMs, next = "0" } = {}) {
  await sql`
    insert into pace (upstream, egress, base_gap_ms, gap_ms, next_at)
    values (${upstream}, ${egress}, ${baseGapMs}, ${gapMs}, now() + ${next}::interval)`
}

const budgets = (...kinds: BudgetKind[]) => readBudget(sql, { kinds, egress: "main", gapsMs: GAPS })
const only = async (...kinds: BudgetKind[]) => (await budgets(...kinds))[0] as Budget

describe("requests needed", () => {
  test("the budget has one row per upstream of the given kinds, with 0 needed requests if nothing is due", async () => {
    expect(await budgets(SEARCH, APPS, DIFFICULTY)).toEqual([
      { upstream: "apps.apple.com", asked: 0, paying: 0, free: 0, can: 86_400, canAtBase: 86_400, short: 0 },
      { upstream: "itunes.apple.com", asked: 0, paying: 0, free: 0, can: 28_800, canAtBase: 28_800, short: 0 },
    ])
    expect(await budgets()).toEqual([])
  })

  test("the budget counts every scheduled reading, including leased readings and those due tomorrow", async () => {
    await due(SEARCH, 5)
    await due(SEARCH, 3, { storefront: "de", next: "20 hours" })
    await sql`update due set lease = gen_random_uuid(), lease_until = now() where subject = '2 1'`
    expect(await only(SEARCH)).toMatchObject({ asked: 8 })
  })

  test("the budget counts requests for free plans separately from all other requests", async () => {
    await due(SEARCH, 5, { priority: 2 })
    await due(SEARCH, 3, { priority: 1 })
    await due(SEARCH, 2, { priority: 0 })
    expect(await only(SEARCH)).toMatchObject({ asked: 10, paying: 5, free: 5 })
  })

  test("the budget assumes that apps share a request only within one storefront", async () => {
    await due(APPS, 101)
    for (const storefront of ["de", "fr", "jp"]) await due(APPS, 1, { storefront })
    expect(await only(APPS)).toMatchObject({ asked: 3 + 3 })
  })

  test("the budget of a kind is its requests per reading divided by its interval in days", async () => {
    await due(HINTS, 700)
    await due(DIFFICULTY, 70)
    await due(APPS, 1)
    expect(await only(HINTS)).toMatchObject({ asked: 400 })
    expect(await only(APPS, DIFFICULTY)).toMatchObject({ upstream: "itunes.apple.com", asked: 1 + 2 })
  })

  test("the budget includes only platforms, storefronts and kinds that are read", async () => {
    await due(PLAY, 4, { storefront: "de" })
    await due(PLAY, 9, { storefront: "us" })
    await due(HINTS, 9)
    expect(await only(PLAY)).toMatchObject({ asked: 4 })
    expect(await only({ ...PLAY, storefronts: [] })).toMatchObject({ asked: 0 })
    expect(await only(SEARCH)).toMatchObject({ asked: 0 })
  })
})

describe("requests possible", () => {
  test("the possible requests and the shortage of requests follow from the current gap", async () => {
    await due(SEARCH, 500)
    await paced("apps.apple.com", "main", 240_000, { baseGapMs: 60_000 })
    expect(await only(SEARCH)).toMatchObject({ can: 360, canAtBase: 1_440, short: 140 })
    await sql`update pace set gap_ms = base_gap_ms`
    expect(await only(SEARCH)).toMatchObject({ can: 1_440, short: 0 })
  })

  test("a gap of zero counts as a thousand requests a second", async () => {
    await paced("apps.apple.com", "main", 0)
    expect(await only(SEARCH)).toMatchObject({ can: 86_400_000 })
  })

  test("the possible requests include a second active egress address, but not a stopped address", async () => {
    await paced("apps.apple.com", "main", 1_000)
    await paced("apps.apple.com", "second", 4_000, { baseGapMs: 2_000 })
    await paced("apps.apple.com", "stopped", 1_000, { next: "-25 hours" })
    await paced("itunes.apple.com", "second", 1_000)
    expect(await only(SEARCH)).toMatchObject({ can: 86_400 + 21_600, canAtBase: 86_400 + 43_200 })
  })

  test("the possible requests cover one egress address if the answers depend on the address", async () => {
    await paced("play.google.com", "main", 2_000)
    await paced("play.google.com", "second", 2_000)
    expect(await only(PLAY)).toMatchObject({ can: 43_200 })
  })
})

long("the budget of 86,400 due readings is calculated in less than 250 ms", async () => {
  for (const [i, storefront] of ["us", "de", "fr"].entries())
    await due(SEARCH, 28_800, { storefront, priority: 1 + (i % 2) })
  const times: number[] = []
  for (let round = 0; round < 5; round++) {
    const startedAt = performance.now()
    expect(await only(SEARCH)).toMatchObject({ asked: 86_400, paying: 57_600, short: 0 })
    times.push(performance.now() - startedAt)
  }
  // took 25 ms when this test was written
  expect(Math.min(...times)).toBeLessThan(250)
})
