import { afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import type { Sql } from "../../../../src/database/types.ts"
import { deriveKeywordMetrics } from "../../../../src/keywords/store/keyword-metrics.ts"
import { freshDatabase } from "../../../database.ts"
import { until } from "../../../jobs/platform.ts"
import { cases, long, slow } from "../../../long.ts"
import { appsReading, hintsReading, popularityReading, reading } from "../../../measuring/record/measured.ts"
import { answerSearches, captchaPage, hintsAnswer, someApps } from "../../../measuring/store-pages.ts"
import { record } from "../../../record.ts"
import { openService, type Service } from "../../../service.ts"
import { forgetSearches } from "../../../world/market.ts"
import { type LiveStores, liveStores } from "../../../world/stores.ts"

setDefaultTimeout(60_000)

const DAY_MS = 86_400_000
const CALLERS = cases(8, 200)
const LIST = { platform: "ios", storefront: "us", term: "tide table" } as const
const APPS = someApps(12)
let sql: Sql
let scene: LiveStores
let key: string
let workspaceId: number

beforeAll(async () => {
  sql = await freshDatabase()
})

beforeEach(async () => {
  scene = await liveStores(sql)
  await forgetSearches(sql)
  await sql`delete from allowance_used where allowance = 'measurements'`
  ;[workspaceId, key] = await caller()
})

afterEach(() => scene[Symbol.asyncDispose]())

async function caller(measurements = 50): Promise<[number, string]> {
  const overrides = { ratePerSecond: 100_000, credits: 100_000, measurements }
  const id = await scene.service.workspace({ explorer: true, plan: "pro", overrides })
  return [id, await scene.service.key(id, { scopes: ["apps:read", "hive:read", "hive:measure"] })]
}

const measure = (body: object = { wait: 20 }, by = key, at: Service = scene.service, term = "tide%20table") =>
  at.call(`/v1/hive/keywords/${term}/metrics/measure`, { key: by, method: "POST", body })
const used = async (by = key) => (await scene.service.call("/v1/account", { key: by })).body.credits.used
const requestPaths = () => scene.stores.requests.map(({ url }) => url.host + url.pathname.replace(/.*\//, "/")).sort()
const units = async (id = workspaceId) => {
  const [row] = await sql<{ n: number }[]>`
    select coalesce(sum(used), 0)::int as n
    from allowance_used
    where workspace_id = ${id} and allowance = 'measurements'`
  return row!.n
}

const answers = (changes: { apps?: typeof APPS; looked?: typeof APPS; suggests?: string[]; holdMs?: number } = {}) =>
  answerSearches(scene.stores, { apps: APPS, suggests: ["tide table", "tide table usa"], ...changes })

/** Stores results, ratings and suggestions of the given number of days ago, with the figures calculated from them. */
async function stored(days: number, ids = APPS.map(({ id }) => id)): Promise<void> {
  const at = new Date(Date.now() - days * DAY_MS).toISOString()
  const apps = ids.map((id, i) => ({ id, name: `Tide Table ${i}`, ratings: 1_000 * (i + 1) }))
  await record(sql, [
    reading(LIST.term, at, ids, { source: "apple-web-search", depth: 200 }),
    ...(apps.length > 0 ? [appsReading(at, apps)] : []),
    ...[LIST.term, "tide tabl"].map((prefix) => hintsReading(prefix, at, [])),
  ])
  await sql.begin((tx) => deriveKeywordMetrics(tx, [LIST], new Date(at)))
}

describe("an unmeasured keyword", () => {
  slow("a measurement uses one daily unit, and the next call returns the stored metrics", async () => {
    answers()
    const { status, body } = await measure()
    expect([status, body.started, body.popularityEnd, body.difficultyEnd]).toEqual([200, true, "measured", "measured"])
    expect(
      [body.popularityStanding.band.low, body.difficulty].every((figure) => figure >= 0 && figure <= 100),
    ).toBeTrue()
    expect(body.popularityStanding).toMatchObject({ state: "measured", stale: false, basis: "estimate" })
    const requests = requestPaths()
    expect(requests).toContain("itunes.apple.com/lookup")
    expect([await units(), await used()]).toEqual([1, 50])
    const repeated = await measure()
    expect(repeated.body).toMatchObject({ started: false, popularityEnd: "stored", difficultyEnd: "stored" })
    expect([requestPaths(), await units(), await used()]).toEqual([requests, 1, 100])
    await until(async () => (await sql`select from due where subject = 'tide table'`).length === 0)
  })

  slow(
    `${CALLERS} concurrent callers of five workspaces share one request of each kind and one daily unit`,
    async () => {
      answers({ suggests: [], holdMs: 300 })
      const callers = await Promise.all(Array.from({ length: 5 }, () => caller()))
      const all = await Promise.all(
        Array.from({ length: CALLERS }, (_, i) => measure({ wait: 20 }, callers[i % 5]![1])),
      )
      expect(all.map(({ status }) => status)).toEqual(all.map(() => 200))
      expect(requestPaths()).toEqual([
        "apps.apple.com/search",
        "itunes.apple.com/lookup",
        "search.itunes.apple.com/hints",
      ])
      expect(all.filter(({ body }) => body.started).length).toBe(1)
      const unitsUsed = await Promise.all(callers.map(([id]) => units(id)))
      expect(unitsUsed.reduce((sum, n) => sum + n)).toBe(1)
    },
  )

  slow("a keyword that is being read is pending for 1 credit, and a second call starts no reading", async () => {
    answers({ holdMs: 600 })
    const first = await measure({})
    expect([first.status, first.body.started, first.body.eta]).toEqual([202, true, undefined])
    expect(first.body).toMatchObject({ popularityEnd: "pending", difficultyEnd: "pending", popularity: null })
    const second = await measure({ metrics: ["difficulty"] })
    expect([second.status, second.body.started, second.body.popularityEnd]).toEqual([202, false, null])
    expect([await units(), await used()]).toEqual([1, 2])
    const metrics = async () => (await scene.service.call("/v1/hive/keywords/tide%20table/metrics", { key })).body
    await until(async () => (await metrics()).difficultyStanding?.state === "measured")
    expect(requestPaths().filter((path) => path.endsWith("/lookup")).length).toBe(1)
  })

  slow("the metrics of a keyword without results end as absent, at the full price", async () => {
    answers({ apps: [], suggests: [] })
    const { status, body } = await measure()
    expect([status, body.popularityEnd, body.difficultyEnd]).toEqual([200, "absent", "absent"])
    expect([body.popularity, body.difficulty, await used()]).toEqual([null, null, 50])
    expect((await measure()).body).toMatchObject({ popularityEnd: "stored", difficultyEnd: "stored" })
  })

  slow("the tool waits up to 15 seconds by default", async () => {
    answers({ holdMs: 400 })
    const { body, isError } = await scene.service.tool("hive_measure_keyword", { term: "tide table" }, { key })
    expect([isError, body.popularityEnd, body.difficultyEnd]).toEqual([false, "measured", "measured"])
  })
})

describe("a stored metric", () => {
  slow("a stored metric is returned without a request if it is absent, published or of this week", async () => {
    await stored(3)
    expect((await measure()).body).toMatchObject({ popularityEnd: "stored", difficultyEnd: "stored", started: false })
    await forgetSearches(sql)
    await stored(3, [])
    const absent = await measure()
    expect(absent.body.difficultyStanding.state).toBe("absent")
    await forgetSearches(sql)
    const month = `${new Date(Date.now() - 32 * DAY_MS).toISOString().slice(0, 7)}-01`
    await record(sql, [popularityReading("tide table", month, 61)])
    const { body } = await measure({ metrics: ["popularity"] })
    expect(body).toMatchObject({ popularity: 61, popularityEnd: "stored", difficultyEnd: null })
    expect([requestPaths(), await units()]).toEqual([[], 0])
  })

  slow("a stored metric older than a week is measured again", async () => {
    answers()
    await stored(8)
    const { body } = await measure({ metrics: ["difficulty"], wait: 20 })
    expect([body.difficultyEnd, body.started, await units()]).toEqual(["measured", true, 1])
    expect(requestPaths().some((path) => path.startsWith("search.itunes"))).toBeFalse()
  })
})

describe("a failed measurement costs nothing and returns its daily unit", () => {
  const refused = async (
    code: string,
    answer: Promise<{ status: number; body: Record<string, unknown> }>,
    by = key,
  ) => {
    const { status, body } = await answer
    expect([status, body.error]).toEqual([503, code])
    expect([await units(), await used(by)]).toEqual([0, 0])
    return body as Record<string, Record<string, unknown>>
  }

  test("a measurement that no process reads fails with hive_measurement_unavailable", async () => {
    await refused("hive_measurement_unavailable", measure({ wait: 5 }, key, openService({ sql })))
  })

  test("a measurement whose row cannot be written fails with hive_measurement_queue_failed", async () => {
    await swallow("raise exception 'no room for it'")
    try {
      await refused("hive_measurement_queue_failed", measure())
      expect(scene.service.logged.join("\n")).toContain("no room for it")
    } finally {
      await swallow(null)
    }
  })

  slow("a measurement whose reading is not queued fails with hive_measurement_not_started", async () => {
    await swallow("return null")
    try {
      await refused("hive_measurement_not_started", measure({ wait: 0 }))
    } finally {
      await swallow(null)
    }
  })

  slow("a broken search source fails with hive_measurement_failed, and the popularity is returned", async () => {
    answers()
    scene.stores.on("apps.apple.com", "/", () => new Response("<html>not what it was</html>"))
    scene.stores.on("itunes.apple.com", "/search", () => new Response("{", { status: 200 }))
    scene.stores.on("search.itunes.apple.com", "/", ({ url }) => hintsAnswer(["tide table", "tide table usa"], url))
    const { metrics } = await refused("hive_measurement_failed", measure())
    expect(metrics).toMatchObject({ popularityEnd: "measured", difficultyEnd: "failed", difficulty: null })
    expect(metrics).toMatchObject({ popularityStanding: { band: { low: 5, high: expect.any(Number) } } })
  })

  test("a measurement that the store defers fails with hive_measurement_deferred", async () => {
    answers()
    scene.stores.on("apps.apple.com", "/", () => captchaPage())
    const { metrics } = await refused("hive_measurement_deferred", measure({ metrics: ["difficulty"], wait: 20 }))
    expect(metrics).toMatchObject({ difficultyEnd: "failed", popularityEnd: null })
  })

  test("a complete reading with too little data for a figure fails with hive_measurement_incomplete", async () => {
    answers({ looked: [], suggests: [] })
    const { metrics } = await refused("hive_measurement_incomplete", measure({ metrics: ["difficulty"], wait: 20 }))
    expect(metrics).toMatchObject({ difficultyEnd: "incomplete", difficulty: null })
  })

  slow("without a daily unit left, a call fails with daily_hive_limit unless it joins a running reading", async () => {
    const [id, poor] = await caller(1)
    answers({ holdMs: 500 })
    const begun = measure({ wait: 20 })
    await until(async () => (await sql`select from due where subject = 'tide table'`).length > 0)
    expect((await measure({ wait: 20 }, poor)).body.started).toBeFalse()
    expect([(await begun).body.started, await units(id)]).toEqual([true, 0])
    await measure({ wait: 20 }, poor, scene.service, "one")
    const over = await measure({ wait: 20 }, poor, scene.service, "two")
    expect([over.status, over.body.error, over.body.limit, over.body.used]).toEqual([429, "daily_hive_limit", 1, 1])
    expect(Date.parse(over.body.resetsAt)).toBeGreaterThan(Date.now())
    expect(requestPaths().filter((path) => path.endsWith("/lookup")).length).toBe(2)
    expect(await units(id)).toBe(1)
  })

  long("of 12 concurrent measurements exactly 4 start if 4 daily units are left", async () => {
    const [id, poor] = await caller(4)
    answers()
    const all = await Promise.all(Array.from({ length: 12 }, (_, i) => measure({}, poor, scene.service, `term${i}`)))
    expect(all.filter(({ status }) => status === 429).length).toBe(8)
    expect(await units(id)).toBe(4)
  })
})

test("measuring needs Explorer and the scope hive:measure, which no key has by default", async () => {
  const usual = await scene.service.key(workspaceId)
  expect((await measure({}, usual)).body).toMatchObject({ error: "scope_required", scope: "hive:measure" })
  const pack = await scene.service.workspace({ plan: "pro", pack: 1_000 })
  const limitedKey = await scene.service.key(pack, { scopes: ["hive:measure"] })
  expect((await measure({}, limitedKey)).body.error).toBe("explorer_required")
})

/** Drops or rejects new rows of the table `due`. Null restores normal behaviour. */
async function swallow(what: string | null): Promise<void> {
  await sql`drop trigger if exists swallowed on due`
  await sql`drop function if exists swallow()`
  if (what === null) return
  await sql.unsafe(`create function swallow() returns trigger language plpgsql as $$ begin ${what}; end $$`)
  await sql.unsafe("create trigger swallowed before insert on due for each row execute function swallow()")
}
