import { describe, expect, test } from "bun:test"
import { Fault } from "../../src/lib/faults.ts"
import { createLog } from "../../src/lib/log.ts"
import { bidJob, enqueued, jobRow } from "./enqueued.ts"
import { bidding, gateway, type Platform } from "./platform.ts"
import { kind, scene } from "./scene.ts"

const on = scene()

describe("a queued job", () => {
  test("is read again, sent once under its own id, and done with the platform's answer", async () => {
    const job = bidJob(on.by)
    const id = await enqueued(on.sql, job)
    expect(await on.worker().runOnce()).toBe(1)
    expect(on.platform.requests).toEqual([
      { method: "GET", target: job.target, idempotencyKey: id },
      { method: "PUT", target: job.target, idempotencyKey: id },
    ])
    const row = await jobRow(on.sql, id)
    expect(row).toMatchObject({ status: "done", attempts: 1, result: { bid: 2 }, error: null, lease: null })
    expect(row.started_at!.getTime()).toBeLessThanOrEqual(row.sent_at!.getTime())
    expect(row.sent_at!.getTime()).toBeLessThanOrEqual(row.finished_at!.getTime())
    expect(await on.worker().runOnce()).toBe(0)
  })

  test("whose target changed after the preview fails, and nothing is sent", async () => {
    const job = bidJob(on.by)
    on.platform.bids.set(job.target, 9)
    const id = await enqueued(on.sql, job)
    await on.worker().runOnce()
    expect(await jobRow(on.sql, id)).toMatchObject({
      status: "failed",
      error: { error: "changed_since_preview" },
      sent_at: null,
      result: null,
    })
    expect(on.platform.writes()).toEqual([])
    expect(on.platform.bids.get(job.target)).toBe(9)
  })

  test("is compared by what the target says, not by the order in which it says it", async () => {
    const before = { b: [{ y: 1, x: 2.5 }], a: null, gone: undefined }
    const id = await enqueued(on.sql, bidJob(on.by, { before }))
    const read = async () => ({ a: null, b: [{ x: 2.5, y: 1 }] })
    await on.worker({ kinds: kind(async () => ({}), read) }).runOnce()
    expect((await jobRow(on.sql, id)).status).toBe("done")
    const other = await enqueued(on.sql, bidJob(on.by, { before }))
    await on
      .worker({
        kinds: kind(
          async () => ({}),
          async () => ({ a: null, b: [] }),
        ),
      })
      .runOnce()
    expect((await jobRow(on.sql, other)).status).toBe("failed")
  })

  test("of a target that did not exist is sent while it still does not, and not once it does", async () => {
    const ids = [await enqueued(on.sql, bidJob(on.by, { before: null }))]
    await on
      .worker({
        kinds: kind(
          async () => ({}),
          async () => undefined,
        ),
      })
      .runOnce()
    ids.push(await enqueued(on.sql, bidJob(on.by, { before: null })))
    await on
      .worker({
        kinds: kind(
          async () => ({}),
          async () => ({ reply: "hello" }),
        ),
      })
      .runOnce()
    expect(await Promise.all(ids.map(async (id) => (await jobRow(on.sql, id)).status))).toEqual(["done", "failed"])
  })

  test("of an action that this process does not know stays queued and holds nobody up", async () => {
    const unknown = await enqueued(on.sql, bidJob(on.by, { action: "set_moon_phase" }))
    const known = await enqueued(on.sql, bidJob(on.by))
    await on.worker().runOnce()
    expect(await jobRow(on.sql, unknown)).toMatchObject({ status: "queued", attempts: 0 })
    expect((await jobRow(on.sql, known)).status).toBe("done")
  })

  test("that nobody could begin for a day fails, since nobody expects it any more", async () => {
    const [old, young] = [await enqueued(on.sql, bidJob(on.by)), await enqueued(on.sql, bidJob(on.by))]
    await on.sql`update job set created_at = now() - interval '24 hours 1 s' where id = ${old}`
    await on.sql`update job set created_at = now() - interval '23 hours' where id = ${young}`
    await on.worker().runOnce()
    expect(await jobRow(on.sql, old)).toMatchObject({ status: "failed", error: { error: "unavailable" }, attempts: 0 })
    expect((await jobRow(on.sql, young)).status).toBe("done")
    expect(on.platform.writes()).toHaveLength(1)
  })
})

describe("before anything is sent", () => {
  test("an unreachable target is tried five times, ever later, then fails with the platform's fault", async () => {
    on.platform.on("GET", () => new Response("down", { status: 503 }))
    const id = await enqueued(on.sql, bidJob(on.by))
    const waits: number[] = []
    for (let attempt = 1; attempt <= 5; attempt++) {
      expect(await on.worker({ random: () => 1 }).runOnce()).toBe(1)
      const [row] = await on.sql<{ wait: number; status: string; attempts: number }[]>`
        select extract(epoch from next_at - now())::float8 as wait, status, attempts
        from job
        where id = ${id}`
      expect(row).toMatchObject({ attempts: attempt, status: attempt < 5 ? "queued" : "failed" })
      // not before its time
      expect(await on.worker().runOnce()).toBe(0)
      if (attempt < 5) waits.push(Math.ceil(row!.wait))
      await on.sql`update job set next_at = now() where id = ${id}`
    }
    expect(waits).toEqual([2, 4, 8, 16])
    expect(await jobRow(on.sql, id)).toMatchObject({ error: { error: "asc_unavailable" }, sent_at: null })
    expect(on.platform.writes()).toEqual([])
  })

  test("a target that comes back is written, once", async () => {
    on.platform.on("GET", () => new Response("down", { status: 503 }))
    const id = await enqueued(on.sql, bidJob(on.by))
    await on.worker().runOnce()
    on.platform.on("GET")
    await on.worker().runOnce()
    expect(await jobRow(on.sql, id)).toMatchObject({ status: "done", attempts: 2 })
    expect(on.platform.writes()).toHaveLength(1)
  })

  test("a refusal that no later attempt can change fails at once", async () => {
    on.platform.on("GET", () => new Response("no such account", { status: 404 }))
    const id = await enqueued(on.sql, bidJob(on.by))
    await on.worker().runOnce()
    expect(await jobRow(on.sql, id)).toMatchObject({ status: "failed", attempts: 1, error: { error: "not_connected" } })
  })

  test("a target that never answers is given up on and tried again, whatever the kind does with its signal", async () => {
    const id = await enqueued(on.sql, bidJob(on.by))
    await on
      .worker({
        readMs: 30,
        kinds: kind(
          async () => ({}),
          () => new Promise(() => {}),
        ),
      })
      .runOnce()
    expect(await jobRow(on.sql, id)).toMatchObject({ status: "queued", attempts: 1 })
    await on.sql`update job set attempts = 4 where id = ${id}`
    on.platform.on("GET", () => new Promise(() => {}))
    await on.worker({ readMs: 30 }).runOnce()
    expect(await jobRow(on.sql, id)).toMatchObject({ status: "failed", sent_at: null })
    expect(on.platform.writes()).toEqual([])
  })

  test("a job that always breaks fails after five attempts, says nothing of why, and harms no other", async () => {
    const broken = async () => {
      throw new TypeError("canary: cannot read properties of undefined")
    }
    const kinds = new Map([...bidding(on.platform.url), ["poison", { read: broken, send: broken }]])
    const poison = await enqueued(on.sql, bidJob(on.by, { action: "poison" }))
    const others = await Promise.all(Array.from({ length: 8 }, () => enqueued(on.sql, bidJob(on.by))))
    const logged: string[] = []
    const log = createLog((line) => void logged.push(line))
    for (let round = 0; round < 8; round++) await on.worker({ kinds, log }).runOnce()
    expect(await jobRow(on.sql, poison)).toMatchObject({
      status: "failed",
      attempts: 5,
      error: { error: "internal_error" },
      result: null,
    })
    for (const id of others) expect((await jobRow(on.sql, id)).status).toBe("done")
    expect(JSON.stringify(await on.sql`select * from job`)).not.toContain("canary")
    expect(logged.filter((line) => line.includes("canary"))).toHaveLength(5)
  })
})

describe("from the moment it is sent", () => {
  test("the database knows it before the platform does", async () => {
    const id = await enqueued(on.sql, bidJob(on.by))
    let seen: unknown
    on.platform.on("PUT", async (_, answer) => {
      seen = await jobRow(on.sql, id)
      return answer()
    })
    await on.worker().runOnce()
    expect(seen).toMatchObject({ status: "running", sent_at: expect.any(Date), lease: expect.any(String) })
  })

  test("no transaction is open while the platform is awaited", async () => {
    const id = await enqueued(on.sql, bidJob(on.by))
    const others: string[] = []
    const beside = async (_: string, answer: () => Response) => {
      // the row itself is free too
      await on.sql.begin(async (tx) => {
        await tx`select 1 from job where id = ${id} for update nowait`
        others.push(id)
      })
      return answer()
    }
    on.platform.on("GET", beside)
    on.platform.on("PUT", beside)
    await on.worker().runOnce()
    expect(others).toHaveLength(2)
    expect((await jobRow(on.sql, id)).status).toBe("done")
  })

  test("a refusal of the platform fails with its fault and fields, and is not tried again", async () => {
    on.platform.on("PUT", () => new Response("too low", { status: 422 }))
    const id = await enqueued(on.sql, bidJob(on.by))
    await on.worker().runOnce()
    await on.worker().runOnce()
    expect(await jobRow(on.sql, id)).toMatchObject({
      status: "failed",
      error: { error: "asc_rejected", detail: "The bid is too low." },
      result: null,
    })
    expect(on.platform.writes()).toHaveLength(1)
  })

  const interruptions: [string, Parameters<Platform["on"]>[1]][] = [
    ["answers with a 502", () => new Response("bad gateway", { status: 502 })],
    ["answers with half a body", () => new Response('{"bid":', { headers: { "content-type": "application/json" } })],
    ["applies it and never answers", (_, answer) => new Promise(() => void answer())],
  ]
  for (const [what, act] of interruptions) {
    test(`a platform that ${what} leaves it unknown, and it is never sent again`, async () => {
      on.platform.on("PUT", act)
      const id = await enqueued(on.sql, bidJob(on.by))
      await on.worker({ sendMs: 100 }).runOnce()
      expect(await jobRow(on.sql, id)).toMatchObject({ status: "unknown", error: null, result: null, lease: null })
      on.platform.on("PUT")
      for (let round = 0; round < 3; round++) expect(await on.worker().runOnce()).toBe(0)
      expect((await jobRow(on.sql, id)).status).toBe("unknown")
      expect(on.platform.writes()).toHaveLength(1)
    })
  }

  test("a connection that breaks leaves it unknown, and it is never sent again", async () => {
    const id = await enqueued(on.sql, bidJob(on.by))
    const { open, opened } = gateway()
    on.platform.on("PUT", async (_, answer) => {
      open()
      await Bun.sleep(1_000)
      return answer()
    })
    const running = on.worker().runOnce()
    await opened
    await on.platform.stop()
    await running
    expect((await jobRow(on.sql, id)).status).toBe("unknown")
    expect(await on.worker().runOnce()).toBe(0)
    expect(on.platform.writes()).toHaveLength(1)
  })

  test("a refusal thrown after the time was up is no refusal: it is unknown", async () => {
    const id = await enqueued(on.sql, bidJob(on.by))
    const send = async () => {
      await Bun.sleep(100)
      throw new Fault("asc_rejected")
    }
    await on.worker({ sendMs: 20, kinds: kind(send) }).runOnce()
    await Bun.sleep(150)
    expect(await jobRow(on.sql, id)).toMatchObject({ status: "unknown", error: null })
  })

  test("an answer that cannot be stored as it is leaves the job done all the same", async () => {
    const circle: Record<string, unknown> = {}
    circle.self = circle
    const odd = await enqueued(on.sql, bidJob(on.by))
    await on.worker({ kinds: kind(async () => ({ name: "a\u0000b\ud800" })) }).runOnce()
    expect(await jobRow(on.sql, odd)).toMatchObject({ status: "done", result: { name: "a\ufffdb\ufffd" } })
    const round = await enqueued(on.sql, bidJob(on.by))
    await on.worker({ kinds: kind(async () => circle) }).runOnce()
    expect(await jobRow(on.sql, round)).toMatchObject({ status: "done", result: null })
  })
})
