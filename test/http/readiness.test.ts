import { beforeAll, describe, expect, test } from "bun:test"
import { memoryLimiter } from "../../src/access/limits/limiter.ts"
import { openLimits } from "../../src/access/limits/open.ts"
import { type AppParts, createApp } from "../../src/app.ts"
import type { Sql } from "../../src/database/types.ts"
import { silentLog } from "../../src/lib/log.ts"
import { freshDatabase } from "../database.ts"
import { PUBLIC_URL } from "../house.ts"
import { sandboxAt } from "../sandbox.ts"

let sql: Sql
beforeAll(async () => {
  sql = await freshDatabase()
})

const SHORT = { upstream: "apps.apple.com", asked: 100_000, can: 86_400, short: 13_600 }
const COVERED = { upstream: "itunes.apple.com", asked: 10, can: 20_000, short: 0 }

/** /readyz of an app with this budget; `tick` lets time pass. */
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
  test("says nothing of measuring where nothing is measured, or nothing is short", async () => {
    expect(await readiness().ask()).toEqual(READY)
    expect(await readiness(async () => [COVERED]).ask()).toEqual(READY)
  })

  test("says of each upstream that is short by how much, and stays ready", async () => {
    // what a budget knows beyond it is nobody's business
    const budget = async () => [COVERED, { ...SHORT, paying: 7, free: 3 }]
    expect(await readiness(budget).ask()).toEqual([200, { status: "ready", measuring: [SHORT] }])
  })

  test("before a stop it is 503, and no budget is asked for", async () => {
    let asked = 0
    const { app, ask } = readiness(async () => [{ ...SHORT, asked: ++asked }])
    app.setReady(false)
    expect([await ask(), asked]).toEqual([[503, { status: "not ready", reason: "stopping" }], 0])
  })

  test("asks for the budget once in ten seconds, however many ask it", async () => {
    let asked = 0
    const { ask, tick } = readiness(async () => [{ ...SHORT, asked: ++asked }])
    await Promise.all(Array.from({ length: 20 }, ask))
    tick(9_999)
    expect([await ask(), asked]).toEqual([[200, { status: "ready", measuring: [{ ...SHORT, asked: 1 }] }], 1])
    tick(1)
    expect([await ask(), asked]).toEqual([[200, { status: "ready", measuring: [{ ...SHORT, asked: 2 }] }], 2])
  })

  test("a budget that fails is not known, and the next one is asked for all the same", async () => {
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

  test("a budget that never comes keeps nobody waiting, and is not asked for again beside itself", async () => {
    let asked = 0
    const { ask, tick } = readiness(() => {
      asked++
      return new Promise(() => {})
    })
    const startedAt = performance.now()
    expect(await ask()).toEqual(READY)
    tick(60_000)
    expect([await ask(), asked]).toEqual([READY, 1])
    expect(performance.now() - startedAt).toBeLessThan(900)
  })

  test("a budget that comes late is told to whoever asks next", async () => {
    const { promise, resolve } = Promise.withResolvers<(typeof SHORT)[]>()
    const { ask } = readiness(() => promise)
    expect(await ask()).toEqual(READY)
    resolve([SHORT])
    await promise
    await Bun.sleep(0)
    expect(await ask()).toEqual([200, { status: "ready", measuring: [SHORT] }])
  })
})
