import { describe, expect, test } from "bun:test"
import type { Sql } from "../../src/database/types.ts"
import { createLog } from "../../src/lib/log.ts"
import { slow } from "../long.ts"
import { bidJob, enqueued, jobRow } from "./enqueued.ts"
import { gateway, until } from "./platform.ts"
import { prepareScene } from "./scene.ts"

const scene = prepareScene()

describe("a started worker", () => {
  slow("a nudged worker runs all queued jobs, at most four at a time", async () => {
    let most = 0
    let now = 0
    scene.platform.on("GET", async (_, answer) => {
      most = Math.max(most, ++now)
      await Bun.sleep(10)
      now--
      return answer()
    })
    const [busy, idle] = [scene.worker({ pollMs: 60_000 }), scene.worker({ pollMs: 60_000, concurrency: 1 })]
    busy.start()
    idle.start()
    await Bun.sleep(50)
    const ids = await Promise.all(Array.from({ length: 20 }, () => enqueued(scene.sql, bidJob(scene.by))))
    expect(scene.platform.requests).toEqual([])
    busy.nudge()
    await until(async () => (await scene.sql`select 1 from job where status <> 'done'`).length === 0)
    expect(most).toBe(4)
    expect(
      scene.platform
        .writes()
        .map(({ idempotencyKey }) => idempotencyKey)
        .sort(),
    ).toEqual(ids.sort())
    await Promise.all([busy.stop(), idle.stop()])
  })

  test("a started worker finds jobs that another process enqueued", async () => {
    const polling = scene.worker({ pollMs: 20 })
    polling.start()
    await Bun.sleep(50)
    const id = await enqueued(scene.sql, bidJob(scene.by))
    await until(async () => (await jobRow(scene.sql, id)).status === "done")
    await polling.stop()
  })

  test("a started worker without kinds of jobs sends no statement to the database", async () => {
    const never = (() => {
      throw new Error("asked")
    }) as unknown as Sql
    const idle = scene.worker({ sql: never, kinds: new Map(), pollMs: 1, leaseMs: 13_000 })
    idle.start()
    idle.nudge()
    await Bun.sleep(30)
    await idle.stop()
  })

  test("a started worker continues when a lost database is back, and logs the loss once", async () => {
    let isAway = true
    const logged: string[] = []
    const flaky = new Proxy(scene.sql, {
      apply(target, self, args) {
        if (isAway) throw Object.assign(new Error("gone"), { code: "CONNECTION_CLOSED" })
        return Reflect.apply(target, self, args)
      },
    })
    const id = await enqueued(scene.sql, bidJob(scene.by))
    const polling = scene.worker({ sql: flaky, pollMs: 10, log: createLog((line) => void logged.push(line)) })
    polling.start()
    await Bun.sleep(100)
    expect(logged.map((line) => JSON.parse(line).event)).toEqual(["job_worker_failed"])
    isAway = false
    await until(async () => (await jobRow(scene.sql, id)).status === "done")
    await polling.stop()
  })
})

describe("a stop", () => {
  test("a stop waits for running jobs and starts no queued job", async () => {
    const ids = await Promise.all(Array.from({ length: 6 }, () => enqueued(scene.sql, bidJob(scene.by))))
    const { open, opened } = gateway()
    scene.platform.on("PUT", async (_, answer) => {
      await opened
      return answer()
    })
    const stopping = scene.worker({ pollMs: 10 })
    stopping.start()
    await until(() => scene.platform.writes().length === 4)
    const stopped = stopping.stop()
    stopping.nudge()
    await Bun.sleep(50)
    open()
    await stopped
    const states = await Promise.all(ids.map(async (id) => (await jobRow(scene.sql, id)).status))
    expect(states.filter((status) => status === "done")).toHaveLength(4)
    expect(states.filter((status) => status === "queued")).toHaveLength(2)
    expect(scene.platform.writes()).toHaveLength(4)
  })

  test("a stop that exceeds its limit requeues unsent jobs and marks sent ones as unknown", async () => {
    const [reading, sending] = [bidJob(scene.by), bidJob(scene.by)]
    const [read, sent] = [await enqueued(scene.sql, reading), await enqueued(scene.sql, sending)]
    scene.platform.on("GET", (target, answer) => (target === reading.target ? new Promise(() => {}) : answer()))
    scene.platform.on("PUT", () => new Promise(() => {}))
    const stopping = scene.worker({ stopMs: 50 })
    stopping.start()
    await until(() => scene.platform.requests.length === 3)
    await stopping.stop()
    expect(await jobRow(scene.sql, read)).toMatchObject({ status: "queued", attempts: 0, lease: null, sent_at: null })
    expect((await jobRow(scene.sql, sent)).status).toBe("unknown")
    scene.platform.on("GET")
    scene.platform.on("PUT")
    expect(await scene.worker().runOnce()).toBe(1)
    expect((await jobRow(scene.sql, read)).status).toBe("done")
    expect([scene.platform.writes(reading.target).length, scene.platform.writes(sending.target).length]).toEqual([1, 1])
  })

  slow("a stop ends even if the database never answers", async () => {
    const hung = (() => new Promise(() => {})) as unknown as Sql
    const stopping = scene.worker({ sql: Object.assign(hung, { json: scene.sql.json }), stopMs: 20 })
    stopping.start()
    await stopping.stop()
  })
})
