import { beforeAll, describe, expect, test } from "bun:test"
import { memoryLimiter } from "../../src/access/limits/limiter.ts"
import { openLimits } from "../../src/access/limits/open.ts"
import { type AppParts, createApp } from "../../src/app.ts"
import type { Sql } from "../../src/database/types.ts"
import { silentLog } from "../../src/lib/log.ts"
import { freshDatabase } from "../database.ts"
import { sandboxAt } from "../sandbox.ts"
import { PUBLIC_URL } from "../service.ts"

let sql: Sql
beforeAll(async () => {
  sql = await freshDatabase()
})

const SHORT = { upstream: "apps.apple.com", asked: 100_000, can: 86_400, short: 13_600 }
const COVERED = { upstream: "itunes.apple.com", asked: 10, can: 20_000, short: 0 }

/** Requests /readyz of an app with this budget. `tick` advances the time. */
function readiness(budget?: AppParts["budget"]) {
  let nowMs = Date.parse("2026-03-01T12:00:00Z")
  const now = () => new Date(nowMs)
  const app = createApp({
    sql,
    limits: { ...openLimits({ sql, log: silentLog, now }), rate: memoryLimiter(now) },
    sandbox: sandboxAt(PUBLIC_URL),
    settings: {
      publicUrl: PUBLIC_URL,
      trustedProxies: [],
      sandboxPerSecond: 1,
      requestDeadlineMs: 4_500,
      maxWaiting: 500,
    },
    log: silentLog,
    now,
    ...(budget && { budget }),
  })
  const ask = async () => {
    const answer = await app.fetch(new Request(`${PUBLIC_URL}/readyz`), null)
    return [answer.status, await answer.json()]
  }
  const tick = (ms: number) => {
    nowMs += ms
  }
  return { app, ask, tick }
}

const READY = [200, { status: "ready" }]

describe("/readyz", () => {
  test("/readyz has no shortfall if nothing is measured or every upstream has capacity", async () => {
    expect(await readiness().ask()).toEqual(READY)
    expect(await readiness(async () => [COVERED]).ask()).toEqual(READY)
  })

  test("/readyz reports the shortfall of each upstream and stays ready", async () => {
    // further fields of a budget are internal
    const budget = async () => [COVERED, { ...SHORT, paying: 7, free: 3 }]
    expect(await readiness(budget).ask()).toEqual([200, { status: "ready", measuring: [SHORT] }])
  })

  test("/readyz returns 503 before a stop without computing the budget", async () => {
    let checks = 0
    const { app, ask } = readiness(async () => [{ ...SHORT, asked: ++checks }])
    app.setReady(false)
    expect([await ask(), checks]).toEqual([[503, { status: "not ready", reason: "stopping" }], 0])
  })

  test("/readyz computes the budget at most once in ten seconds, however many requests arrive", async () => {
    let checks = 0
    const { ask, tick } = readiness(async () => [{ ...SHORT, asked: ++checks }])
    await Promise.all(Array.from({ length: 20 }, ask))
    tick(9_999)
    expect([await ask(), checks]).toEqual([[200, { status: "ready", measuring: [{ ...SHORT, asked: 1 }] }], 1])
    tick(1)
    expect([await ask(), checks]).toEqual([[200, { status: "ready", measuring: [{ ...SHORT, asked: 2 }] }], 2])
  })

  test("a failed budget counts as unknown, and the next one is still computed", async () => {
    let fails = true
    const { ask, tick } = readiness(async () => {
      if (fails) throw new Error("no such table")
      return [SHORT]
    })
    expect(await ask()).toEqual(READY)
    fails = false
    tick(10_000)
    expect(await ask()).toEqual([200, { status: "ready", measuring: [SHORT] }])
  })

  test("a budget that never settles delays no request and is not computed a second time", async () => {
    let checks = 0
    const { ask, tick } = readiness(() => {
      checks++
      return new Promise(() => {})
    })
    const startedAt = performance.now()
    expect(await ask()).toEqual(READY)
    tick(60_000)
    expect([await ask(), checks]).toEqual([READY, 1])
    expect(performance.now() - startedAt).toBeLessThan(900)
  })

  test("a late budget is used by the next request", async () => {
    const { promise, resolve } = Promise.withResolvers<(typeof SHORT)[]>()
    const { ask } = readiness(() => promise)
    expect(await ask()).toEqual(READY)
    resolve([SHORT])
    await promise
    await Bun.sleep(0)
    expect(await ask()).toEqual([200, { status: "ready", measuring: [SHORT] }])
  })
})
