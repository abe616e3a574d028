import { describe, expect, test } from "bun:test"
import { Fault } from "../../src/lib/faults.ts"
import { createLog } from "../../src/lib/log.ts"
import { bidJob, enqueued, jobRow } from "./enqueued.ts"
import { bidding, gateway, type Platform } from "./platform.ts"
import { kind, prepareScene } from "./scene.ts"

const scene = prepareScene()

describe("a queued job", () => {
  test("a queued job reads its target again, is sent once with its id, and ends with the answer", async () => {
    const job = bidJob(scene.by)
    const id = await enqueued(scene.sql, job)
    expect(await scene.worker().runOnce()).toBe(1)
    expect(scene.platform.requests).toEqual([
      { method: "GET", target: job.target, idempotencyKey: id },
      { method: "PUT", target: job.target, idempotencyKey: id },
    ])
    const row = await jobRow(scene.sql, id)
    expect(row).toMatchObject({ status: "done", attempts: 1, result: { bid: 2 }, error: null, lease: null })
    expect(row.started_at!.getTime()).toBeLessThanOrEqual(row.sent_at!.getTime())
    expect(row.sent_at!.getTime()).toBeLessThanOrEqual(row.finished_at!.getTime())
    expect(await scene.worker().runOnce()).toBe(0)
  })

  test("a queued job whose target changed after the preview fails, and nothing is sent", async () => {
    const job = bidJob(scene.by)
    scene.platform.bids.set(job.target, 9)
    const id = await enqueued(scene.sql, job)
    await scene.worker().runOnce()
    expect(await jobRow(scene.sql, id)).toMatchObject({
      status: "failed",
      error: { error: "changed_since_preview" },
      sent_at: null,
      result: null,
    })
    expect(scene.platform.writes()).toEqual([])
    expect(scene.platform.bids.get(job.target)).toBe(9)
  })

  test("a queued job is sent if its target differs from the preview only in the order of fields", async () => {
    const before = { b: [{ y: 1, x: 2.5 }], a: null, gone: undefined }
    const id = await enqueued(scene.sql, bidJob(scene.by, { before }))
    const read = async () => ({ a: null, b: [{ x: 2.5, y: 1 }] })
    await scene.worker({ kinds: kind(async () => ({}), read) }).runOnce()
    expect((await jobRow(scene.sql, id)).status).toBe("done")
    const other = await enqueued(scene.sql, bidJob(scene.by, { before }))
    await scene
      .worker({
        kinds: kind(
          async () => ({}),
          async () => ({ a: null, b: [] }),
        ),
      })
      .runOnce()
    expect((await jobRow(scene.sql, other)).status).toBe("failed")
  })

  test("a queued job for a missing target is sent if the target is still missing, and fails if it exists", async () => {
    const ids = [await enqueued(scene.sql, bidJob(scene.by, { before: null }))]
    await scene
      .worker({
        kinds: kind(
          async () => ({}),
          async () => undefined,
        ),
      })
      .runOnce()
    ids.push(await enqueued(scene.sql, bidJob(scene.by, { before: null })))
    await scene
      .worker({
        kinds: kind(
          async () => ({}),
          async () => ({ reply: "hello" }),
        ),
      })
      .runOnce()
    expect(await Promise.all(ids.map(async (id) => (await jobRow(scene.sql, id)).status))).toEqual(["done", "failed"])
  })

  test("a queued job with an action unknown to this process stays queued and blocks nothing", async () => {
    const unknown = await enqueued(scene.sql, bidJob(scene.by, { action: "set_moon_phase" }))
    const knownId = await enqueued(scene.sql, bidJob(scene.by))
    await scene.worker().runOnce()
    expect(await jobRow(scene.sql, unknown)).toMatchObject({ status: "queued", attempts: 0 })
    expect((await jobRow(scene.sql, knownId)).status).toBe("done")
  })

  test("a queued job that could not start for a day fails", async () => {
    const [old, young] = [await enqueued(scene.sql, bidJob(scene.by)), await enqueued(scene.sql, bidJob(scene.by))]
    await scene.sql`update job set created_at = now() - interval '24 hours 1 s' where id = ${old}`
    await scene.sql`update job set created_at = now() - interval '23 hours' where id = ${young}`
    await scene.worker().runOnce()
    expect(await jobRow(scene.sql, old)).toMatchObject({
      status: "failed",
      error: { error: "unavailable" },
      attempts: 0,
    })
    expect((await jobRow(scene.sql, young)).status).toBe("done")
    expect(scene.platform.writes()).toHaveLength(1)
  })
})

describe("a job that is not sent yet", () => {
  test("a job with an unreachable target fails after five attempts with growing delays", async () => {
    scene.platform.on("GET", () => new Response("down", { status: 503 }))
    const id = await enqueued(scene.sql, bidJob(scene.by))
    const waits: number[] = []
    for (let attempt = 1; attempt <= 5; attempt++) {
      expect(await scene.worker({ random: () => 1 }).runOnce()).toBe(1)
      const [row] = await scene.sql<{ wait: number; status: string; attempts: number }[]>`
        select extract(epoch from next_at - now())::float8 as wait, status, attempts
        from job
        where id = ${id}`
      expect(row).toMatchObject({ attempts: attempt, status: attempt < 5 ? "queued" : "failed" })
      // not before it is due
      expect(await scene.worker().runOnce()).toBe(0)
      if (attempt < 5) waits.push(Math.ceil(row!.wait))
      await scene.sql`update job set next_at = now() where id = ${id}`
    }
    expect(waits).toEqual([2, 4, 8, 16])
    expect(await jobRow(scene.sql, id)).toMatchObject({ error: { error: "asc_unavailable" }, sent_at: null })
    expect(scene.platform.writes()).toEqual([])
  })

  test("a job whose target becomes reachable again is sent once", async () => {
    scene.platform.on("GET", () => new Response("down", { status: 503 }))
    const id = await enqueued(scene.sql, bidJob(scene.by))
    await scene.worker().runOnce()
    scene.platform.on("GET")
    await scene.worker().runOnce()
    expect(await jobRow(scene.sql, id)).toMatchObject({ status: "done", attempts: 2 })
    expect(scene.platform.writes()).toHaveLength(1)
  })

  test("a job with a permanent refusal fails without a retry", async () => {
    scene.platform.on("GET", () => new Response("no such account", { status: 404 }))
    const id = await enqueued(scene.sql, bidJob(scene.by))
    await scene.worker().runOnce()
    expect(await jobRow(scene.sql, id)).toMatchObject({
      status: "failed",
      attempts: 1,
      error: { error: "not_connected" },
    })
  })

  test("a read of the target times out and is retried, even if the read ignores its abort signal", async () => {
    const id = await enqueued(scene.sql, bidJob(scene.by))
    await scene
      .worker({
        readMs: 30,
        kinds: kind(
          async () => ({}),
          () => new Promise(() => {}),
        ),
      })
      .runOnce()
    expect(await jobRow(scene.sql, id)).toMatchObject({ status: "queued", attempts: 1 })
    await scene.sql`update job set attempts = 4 where id = ${id}`
    scene.platform.on("GET", () => new Promise(() => {}))
    await scene.worker({ readMs: 30 }).runOnce()
    expect(await jobRow(scene.sql, id)).toMatchObject({ status: "failed", sent_at: null })
    expect(scene.platform.writes()).toEqual([])
  })

  test("a job that always throws fails after five attempts, and other jobs are not affected", async () => {
    const broken = async () => {
      throw new TypeError("canary: cannot read properties of undefined")
    }
    const kinds = new Map([...bidding(scene.platform.url), ["poison", { read: broken, send: broken }]])
    const poison = await enqueued(scene.sql, bidJob(scene.by, { action: "poison" }))
    const otherIds = await Promise.all(Array.from({ length: 8 }, () => enqueued(scene.sql, bidJob(scene.by))))
    const logged: string[] = []
    const log = createLog((line) => void logged.push(line))
    for (let round = 0; round < 8; round++) await scene.worker({ kinds, log }).runOnce()
    expect(await jobRow(scene.sql, poison)).toMatchObject({
      status: "failed",
      attempts: 5,
      error: { error: "internal_error" },
      result: null,
    })
    for (const id of otherIds) expect((await jobRow(scene.sql, id)).status).toBe("done")
    expect(JSON.stringify(await scene.sql`select * from job`)).not.toContain("canary")
    expect(logged.filter((line) => line.includes("canary"))).toHaveLength(5)
  })
})

describe("a sent job", () => {
  test("the database records that a job is sent before the platform gets the request", async () => {
    const id = await enqueued(scene.sql, bidJob(scene.by))
    let rowDuringSend: unknown
    scene.platform.on("PUT", async (_, answer) => {
      rowDuringSend = await jobRow(scene.sql, id)
      return answer()
    })
    await scene.worker().runOnce()
    expect(rowDuringSend).toMatchObject({ status: "running", sent_at: expect.any(Date), lease: expect.any(String) })
  })

  test("no transaction is open while a request to the platform is pending", async () => {
    const id = await enqueued(scene.sql, bidJob(scene.by))
    const otherIds: string[] = []
    const enqueueMore = async (_: string, answer: () => Response) => {
      // the row itself is not locked either
      await scene.sql.begin(async (tx) => {
        await tx`select 1 from job where id = ${id} for update nowait`
        otherIds.push(id)
      })
      return answer()
    }
    scene.platform.on("GET", enqueueMore)
    scene.platform.on("PUT", enqueueMore)
    await scene.worker().runOnce()
    expect(otherIds).toHaveLength(2)
    expect((await jobRow(scene.sql, id)).status).toBe("done")
  })

  test("a job that the platform refuses fails with the platform's fault and is not retried", async () => {
    scene.platform.on("PUT", () => new Response("too low", { status: 422 }))
    const id = await enqueued(scene.sql, bidJob(scene.by))
    await scene.worker().runOnce()
    await scene.worker().runOnce()
    expect(await jobRow(scene.sql, id)).toMatchObject({
      status: "failed",
      error: { error: "asc_rejected", detail: "The bid is too low." },
      result: null,
    })
    expect(scene.platform.writes()).toHaveLength(1)
  })

  const interruptions: [string, Parameters<Platform["on"]>[1]][] = [
    ["answers with a 502", () => new Response("bad gateway", { status: 502 })],
    ["answers with half a body", () => new Response('{"bid":', { headers: { "content-type": "application/json" } })],
    ["applies it and never answers", (_, answer) => new Promise(() => void answer())],
  ]
  for (const [what, act] of interruptions) {
    test(`a platform that ${what} leaves the job unknown, and it is never sent again`, async () => {
      scene.platform.on("PUT", act)
      const id = await enqueued(scene.sql, bidJob(scene.by))
      await scene.worker({ sendMs: 100 }).runOnce()
      expect(await jobRow(scene.sql, id)).toMatchObject({ status: "unknown", error: null, result: null, lease: null })
      scene.platform.on("PUT")
      for (let round = 0; round < 3; round++) expect(await scene.worker().runOnce()).toBe(0)
      expect((await jobRow(scene.sql, id)).status).toBe("unknown")
      expect(scene.platform.writes()).toHaveLength(1)
    })
  }

  test("a broken connection leaves the job unknown, and it is never sent again", async () => {
    const id = await enqueued(scene.sql, bidJob(scene.by))
    const { open, opened } = gateway()
    scene.platform.on("PUT", async (_, answer) => {
      open()
      await Bun.sleep(1_000)
      return answer()
    })
    const running = scene.worker().runOnce()
    await opened
    await scene.platform.stop()
    await running
    expect((await jobRow(scene.sql, id)).status).toBe("unknown")
    expect(await scene.worker().runOnce()).toBe(0)
    expect(scene.platform.writes()).toHaveLength(1)
  })

  test("a refusal that arrives after the timeout leaves the job unknown", async () => {
    const id = await enqueued(scene.sql, bidJob(scene.by))
    const send = async () => {
      await Bun.sleep(100)
      throw new Fault("asc_rejected")
    }
    await scene.worker({ sendMs: 20, kinds: kind(send) }).runOnce()
    await Bun.sleep(150)
    expect(await jobRow(scene.sql, id)).toMatchObject({ status: "unknown", error: null })
  })

  test("a job is done even if its answer must be changed to be stored, or cannot be stored at all", async () => {
    const circle: Record<string, unknown> = {}
    circle.self = circle
    const odd = await enqueued(scene.sql, bidJob(scene.by))
    await scene.worker({ kinds: kind(async () => ({ name: "a\u0000b\ud800" })) }).runOnce()
    expect(await jobRow(scene.sql, odd)).toMatchObject({ status: "done", result: { name: "a\ufffdb\ufffd" } })
    const round = await enqueued(scene.sql, bidJob(scene.by))
    await scene.worker({ kinds: kind(async () => circle) }).runOnce()
    expect(await jobRow(scene.sql, round)).toMatchObject({ status: "done", result: null })
  })
})
