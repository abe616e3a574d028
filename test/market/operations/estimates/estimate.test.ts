import { expect, test } from "bun:test"
import type { StoreApp } from "../../../../src/core/observation/line-parts.ts"
import { addDays, dayOf } from "../../../../src/lib/days.ts"
import { makeDue } from "../../../../src/market/estimates/estimates.ts"
import type { AppsObservation } from "../../../../src/stores/kinds/apps-shape.ts"
import { slow } from "../../../long.ts"
import { charted } from "../../../measuring/record/charted.ts"
import { appsReading } from "../../../measuring/record/measured.ts"
import { record } from "../../../record.ts"
import { openService } from "../../../service.ts"
import { marketWorld } from "../../../world/market.ts"
import { answersLookUps } from "../../../world/stores.ts"

const IOS = "1600000101"
const ANDROID = "com.example.tea"
const scene = marketWorld({ forget: ["estimates"] })

const ask = (id: string) => scene.get(`/v1/hive/estimate/${id}`)
const dayBefore = (days: number) => addDays(dayOf(new Date()), -days)

/** A look-up of the given number of days ago; today's is a second old, so that it is fresh. */
async function read(days: number, app: Partial<StoreApp> & { id: string }, rest: Partial<AppsObservation> = {}) {
  const at = days === 0 ? new Date(Date.now() - 1_000).toISOString() : `${dayBefore(days)}T09:00:00Z`
  const { refused } = await record(scene.sql, [appsReading(at, [app], rest)], () => new Date())
  expect(refused).toEqual([])
}
const rated = (days: number, ratings: number, storefront = "us") => read(days, { id: IOS, ratings }, { storefront })
const installed = (days: number, installs: number) =>
  read(days, { id: ANDROID, ratings: 5, market: { installs } }, { source: "play-details", platform: "android" })
async function makeEstimates() {
  await scene.sql`update estimate_due set next_at = now() where next_at is not null`
  while ((await makeDue(scene.sql, new Date())) > 0);
}

slow(
  "the first call costs 1 credit and returns an eta; the next call returns an estimate at the full price",
  async () => {
    answersLookUps(scene.stores, { [IOS]: { trackName: "Harbor", userRatingCount: 3_000 } })
    const first = await ask(IOS)
    expect([first.status, first.body.downloads, first.body.madeAt, await scene.creditsUsed()]).toEqual([
      202,
      null,
      null,
      1,
    ])
    expect(first.body.eta).toBeWithin(1, 60)
    for (let tried = 0; tried < 100; tried++) {
      await Bun.sleep(50)
      if ((await scene.sql`select from rating_count`).length > 0) break
    }
    await makeEstimates()
    const { status, body } = await ask(IOS)
    expect([status, await scene.creditsUsed()]).toEqual([200, 501])
    expect(body).toMatchObject({
      id: IOS,
      name: "Harbor",
      basis: "prior",
      markets: 1,
      days: null,
      pairs: 0,
      backTest: null,
    })
    expect(body.downloads.low).toBeLessThan(body.downloads.value)
    expect(body.downloads.high).toBeGreaterThan(body.downloads.value)
    expect(scene.stores.requests.length).toBe(1)
  },
)

slow("ratings gained in two storefronts are added, and a storefront that was not read adds nothing", async () => {
  for (const storefront of ["us", "de"]) await rated(20, 1_000, storefront)
  await rated(0, 1_200)
  await makeEstimates()
  const estimate = (await ask(IOS)).body
  // the storefront de has one count and no known release day
  expect([estimate.markets, estimate.days]).toEqual([1, 20])
  expect(estimate.downloads.value).toBe(Math.round(200 * 1.5 * Math.sqrt(6_000)))
  expect(estimate.backTest).toMatchObject({ n: 26 })
  await rated(0, 1_100, "de")
  await makeEstimates()
  const two = (await ask(IOS)).body
  expect([two.markets, two.downloads.value]).toEqual([2, Math.round(300 * 1.5 * Math.sqrt(6_000))])
  expect([two.revenue, two.growth, two.revenueMarkets]).toEqual([null, null, null])
})

test("an app without a new rating in thirty days has an upper bound of 1,000 and no value", async () => {
  await rated(30, 1_000)
  await rated(0, 1_000)
  await makeEstimates()
  const { body } = await ask(IOS)
  expect(body.downloads).toEqual({ value: null, low: null, high: null, under: 1_000 })
  expect(await scene.creditsUsed()).toBe(500)
})

slow("Google Play installs are measured, and a count that is doubled for three days is ignored", async () => {
  for (const [days, installs] of [
    [29, 1_000],
    [20, 1_200],
    [15, 2_400],
    [13, 2_400],
    [12, 1_300],
    [0, 1_450],
  ] as const)
    await installed(days, installs)
  await makeEstimates()
  const { body } = await ask(ANDROID)
  expect(body).toMatchObject({ platform: "android", basis: "measured", days: 29, markets: 1, backTest: null })
  expect(body.downloads).toEqual({ value: 450, low: 450, high: 450, under: null })
})

test("an app with one Google Play count returns the eta of tomorrow's count for 1 credit", async () => {
  await installed(0, 1_000)
  await makeEstimates()
  const { status, body } = await ask(ANDROID)
  expect([status, body.downloads, await scene.creditsUsed()]).toEqual([202, null, 1])
  expect(body.eta).toBeWithin(86_000, 2 * 86_400 + 1)
})

test("a new count makes the next estimate due in six hours, or immediately if a call waits for it", async () => {
  await rated(10, 1_000)
  await makeEstimates()
  const dueAt = async () => (await scene.sql`select next_at, made_at from estimate_due`)[0]!
  const stored = await dueAt()
  expect(stored.next_at).toBeNull()
  await rated(0, 1_100)
  // the next estimate is at least six hours after the last one, because no call waits for it
  expect((await dueAt()).next_at.getTime() - stored.made_at.getTime()).toBeWithin(6 * 3_600_000 - 1_000, 6 * 3_600_001)
  await scene.sql`update estimate_due set wanted_until = now() + interval '1 minute'`
  await rated(0, 1_101)
  expect((await dueAt()).next_at.getTime()).toBeLessThan(Date.now() + 1_000)
})

slow("an unknown estimate is never zero in storage, in a chart, in the app finder or in a filter", async () => {
  await scene.sql`update account set quota = 1000000000`
  await record(scene.sql, [charted(new Date(Date.now() - 1_000).toISOString(), [IOS], { source: "apple-charts" })])
  const find = async (filter: string) => {
    const { body } = await scene.get(`/v1/hive/find?genre=6015&kind=free&${filter}`)
    return [body.apps[0]?.estimates?.downloads ?? null, body.total, body.noEstimate]
  }
  let state = 7
  const any = (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  const counts = { value: 0, under: 0, unknown: 0 }
  for (let round = 0; round < 14; round++) {
    for (const table of ["rating_count", "market_fact", "app_storefront", "app_estimate", "estimate_due"])
      await scene.sql`delete from ${scene.sql(table)}`
    const days = [29, 15, 3].filter(() => any(2) === 0)
    for (const day of days)
      if (any(4) > 0)
        await read(day, { id: IOS, ratings: any(2) ? 100 : 200 - day }, { storefront: any(2) ? "us" : "de" })
    await read(1, { id: IOS, ...(any(3) > 0 && { ratings: 190 + any(2) }) })
    await makeEstimates()
    const [row] = await scene.sql`select * from app_estimate`
    for (const name of ["downloads", "revenue"])
      expect([round, name, row?.[name] ?? null]).not.toEqual([round, name, 0])
    const kind = row?.downloads != null ? "value" : row?.downloads_under != null ? "under" : "unknown"
    if (days.length === 0) expect([round, kind]).toEqual([round, "unknown"])
    const { body } = await scene.get("/v1/hive/charts?genre=6015&estimates=true")
    const { estimate } = body.apps[0]
    expect([round, kindOf(estimate), body.thresholds]).toEqual([round, kind, null])
    expect(await find("estimates=true")).toEqual([estimate, 1, 0])
    const isValue = kind === "value"
    // an app with only an upper bound may have no download at all
    expect(await find("downloadsMin=1")).toEqual(isValue ? [estimate, 1, 0] : [null, 0, 1])
    const isBelow = kind === "under" || (isValue && estimate.value <= 1e6)
    expect(await find("downloadsMax=1000000")).toEqual(isBelow ? [estimate, 1, 0] : [null, 0, isValue ? 0 : 1])
    counts[kind]++
  }
  for (const [kind, count] of Object.entries(counts)) expect([kind, count > 0]).toEqual([kind, true])
})

function kindOf(estimate: { value: number | null; low: number | null; under: number | null } | null) {
  if (estimate === null) return "unknown"
  if (estimate.value === null) return estimate.low === null && estimate.under! > 0 ? "under" : "wrong"
  return estimate.value > 0 && estimate.under === null ? "value" : "wrong"
}

test("an app without readings fails with not_measured for 1 credit, and a refused call is free", async () => {
  const service = openService({ sql: scene.sql })
  const workspace = await service.workspace({ explorer: true, plan: "pro" })
  const key = await service.key(workspace)
  const { status, body, credits } = await service.call(`/v1/hive/estimate/1699999999`, { key })
  expect([status, body.error, credits.used]).toEqual([404, "not_measured", 1])
  const refused = await service.call("/v1/hive/estimate/no%20id", { key })
  expect([refused.body.error, refused.credits.used]).toEqual(["bad_app_id", 1])
  const reads = await service.key(workspace, { scopes: ["hive:read"] })
  const unscoped = await service.call(`/v1/hive/estimate/${IOS}`, { key: reads })
  expect([unscoped.body.error, unscoped.credits.used]).toEqual(["scope_required", 1])
})
