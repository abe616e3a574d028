import { describe, expect, test } from "bun:test"
import type { Sql } from "../../src/database/types.ts"
import { createLog } from "../../src/lib/log.ts"
import type { Kind } from "../../src/measuring/due-kind.ts"
import type { RawBody } from "../../src/measuring/source.ts"
import { gateway, until } from "../jobs/platform.ts"
import { slow } from "../long.ts"
import { slowness } from "../unit.ts"
import { letLeaseRunOut, prepareScene, stored } from "./scene.ts"
import { CAPTCHA, lookUps, otherRanks, ranks, requestedTerms, searches } from "./stand-in.ts"

const scene = prepareScene()

/** Returns the database, except that statements with this text fail while `now` returns true. */
function failing(text: string, now: () => boolean): Sql {
  return new Proxy(scene.sql, {
    apply(target, self, args) {
      const statement = String(args[0]?.raw?.join(""))
      if (statement.includes(text) && now()) throw Object.assign(new Error("gone"), { code: "CONNECTION_CLOSED" })
      return Reflect.apply(target, self, args)
    },
  })
}

/** Blocks the first search at the store; its response is computed at once. */
function holdFirst() {
  const [arrival, leave] = [gateway(), gateway()]
  let first = true
  scene.stores.on("apps.apple.com", "/", async () => {
    if (!first) return undefined
    first = false
    arrival.open()
    await leave.opened
    return undefined
  })
  return { arrived: arrival.opened, letGo: leave.open }
}

const reads = (read: Kind["read"]): Kind => ({ ...searches, read })

describe("a reading", () => {
  test("a reading is stored, its lease is released, and the answer is counted for its source", async () => {
    await scene.track(["tea"])
    expect(await scene.measuring().runOnce()).toBe(1)
    expect(requestedTerms(scene.stores)).toEqual(["tea"])
    expect(await stored(scene.sql, "tea")).toBe(1)
    expect(await scene.due("tea")).toMatchObject({
      priority: 1,
      failures: 0,
      failure: null,
      failed_at: null,
      lease: null,
    })
    expect((await scene.due("tea")).measured_at).toBeInstanceOf(Date)
    expect(await scene.measuring().runOnce()).toBe(0)
    const [hour] = await scene.sql`select answered, failed from source_hour where source = 'apple-web-search'`
    expect(hour).toEqual({ answered: 1, failed: 0 })
  })

  test("a failed reading is logged and counted once and retried later, and its body is stored", async () => {
    await scene.track(["tea"])
    const bodies: RawBody[] = []
    const keep = async (body: RawBody) => void bodies.push(body)
    scene.stores.on("apps.apple.com", "/", () => new Response("not what it was"))
    await scene.measuring({ keep }).runOnce()
    const attempts =
      await scene.sql`select kind, subject, storefront, source, outcome, sha256 is not null as known from attempt`
    const about = { kind: "search", subject: "tea", storefront: "us", source: "apple-web-search" }
    expect([...attempts]).toEqual([{ ...about, outcome: "changed", known: true }])
    expect(await scene.due("tea")).toMatchObject({ failures: 1, failure: "changed", measured_at: null, lease: null })
    const [state] = await scene.sql`select failure, failures, unparsed, answered_at from source_state`
    expect(state).toEqual({ failure: "changed", failures: 1, unparsed: 1, answered_at: null })
    expect(bodies.map(({ text }) => text)).toEqual(["not what it was"])
    expect(await scene.measuring().runOnce()).toBe(0)
    expect(await stored(scene.sql)).toBe(0)
  })

  test("a reading that a second source completes succeeds, and the first source's refusal is logged", async () => {
    await scene.track(["tea"])
    scene.stores.on("apps.apple.com", "/", () => new Response(CAPTCHA))
    const kind = reads(async ([subject], port) => {
      const query = { storefront: "us", term: subject!.subject }
      return [await port.ask(ranks, query).catch(() => port.ask(otherRanks, query))]
    })
    expect(await scene.measuring({ kinds: [kind] }).runOnce()).toBe(1)
    expect(await scene.due("tea")).toMatchObject({ failures: 0, failure: null })
    expect(await stored(scene.sql, "tea")).toBe(1)
    const attempts = await scene.sql`select source, outcome from attempt`
    expect([...attempts]).toEqual([{ source: "apple-web-search", outcome: "blocked" }])
  })

  test("a reading whose observation breaks an invariant fails as changed, and nothing is stored", async () => {
    await scene.track(["tea"])
    scene.stores.on("apps.apple.com", "/", () => Response.json(["10001", "10001"]))
    await scene.measuring().runOnce()
    expect(await scene.due("tea")).toMatchObject({ failures: 1, failure: "changed", measured_at: null })
    expect(await stored(scene.sql)).toBe(0)
  })

  test("a reading and its derived data are stored together or not at all", async () => {
    await scene.track(["tea"])
    const kind: Kind = {
      ...searches,
      async derive(tx) {
        const [row] = await tx`select 1 from search_results`
        expect(row).toBeDefined()
        throw new Error("it does not follow")
      },
    }
    await scene.measuring({ kinds: [kind] }).runOnce()
    expect(await stored(scene.sql)).toBe(0)
    expect(await scene.due("tea")).toMatchObject({ failures: 1, failure: "unstored", measured_at: null })
  })

  test("a reading without observations ends as measured", async () => {
    await scene.track(["tea"])
    await scene.measuring({ kinds: [reads(async () => [])] }).runOnce()
    expect(await scene.due("tea")).toMatchObject({ failures: 0, lease: null })
    expect((await scene.due("tea")).measured_at).toBeInstanceOf(Date)
  })

  test("a reading never uses a source that is switched off", async () => {
    await scene.track(["tea"])
    await scene.measuring({ sourcesOff: ["apple-web-search"] }).runOnce()
    expect(scene.stores.requests).toEqual([])
    expect(await scene.due("tea")).toMatchObject({ failures: 1, failure: "failed" })
  })

  test("a reading ends at its timeout, even if it ignores its abort signal", async () => {
    await scene.track(["tea"])
    await scene.measuring({ kinds: [reads(() => new Promise(() => {}))], readMs: 30 }).runOnce()
    expect(await scene.due("tea")).toMatchObject({ failures: 1, failure: "failed", lease: null })
  })

  test("a failed reading of several subjects is a failure of each, and listeners are notified once", async () => {
    for (const iosId of ["600001", "600002", "600003"]) await scene.track([], { iosId, only: "app" })
    const endings: string[] = []
    const measuring = scene.measuring({ kinds: [lookUps] })
    measuring.onEnded(({ subjects, failure }) => endings.push(`${subjects.map(({ subject }) => subject)} ${failure}`))
    scene.stores.on("itunes.apple.com", "/lookup", () => new Response("", { status: 500 }))
    await measuring.runOnce()
    expect(scene.stores.requests).toHaveLength(1)
    expect(endings).toEqual(["600001,600002,600003 failed"])
    const rows = await scene.sql`select failures, failure from due`
    expect([...rows]).toEqual(Array(3).fill({ failures: 1, failure: "failed" }))
  })
})

describe("a subject whose reading always throws", () => {
  slow("a subject whose reading always throws is retried ever later, and delays no other subject", async () => {
    await scene.track(["poison", ...Array.from({ length: 12 }, (_, i) => `term ${i}`)])
    await scene.sql`update due set next_at = now() - interval '1 hour' where subject = 'poison'`
    const logged: string[] = []
    const kind = reads(async (subjects, port) => {
      if (subjects[0]!.subject === "poison") throw new TypeError("undefined is not a function")
      return await searches.read(subjects, port)
    })
    const log = createLog((line) => void logged.push(line))
    const measuring = scene.measuring({ kinds: [kind], log, atOnce: 3, random: () => 0 })
    while ((await measuring.runOnce()) > 0);
    expect(await stored(scene.sql)).toBe(12)
    const row = await scene.due("poison")
    expect(row).toMatchObject({ failures: 8, failure: "failed" })
    expect(row.next_at.getTime()).toBeGreaterThan(Date.now())
    const lines = logged.map((line) => JSON.parse(line))
    expect(lines.filter(({ event }) => event !== "reading_failed")).toEqual([])
    expect(lines.length).toBeLessThan(9)
    expect(lines[0]).toMatchObject({ operation: "search ios", reason: "undefined is not a function" })
  })
})

describe("a lease", () => {
  test("a worker that loses its lease during a reading stores and changes nothing", async () => {
    await scene.track(["tea"])
    const { arrived, letGo } = holdFirst()
    const zombie = scene.measuring().runOnce()
    await arrived
    await letLeaseRunOut(scene.sql, "tea")
    await scene.measuring({ random: () => 0 }).runOnce() // recovers it and reads it
    const heir = await scene.due("tea")
    expect(await stored(scene.sql)).toBe(1)
    letGo()
    await zombie
    expect(await scene.due("tea")).toEqual(heir)
    expect(await stored(scene.sql)).toBe(1)
    expect(await scene.sql`select 1 from attempt`).toHaveLength(0)
  })

  slow("a lease is extended by heartbeats during a long reading, and no other worker takes it", async () => {
    await scene.track(["tea"])
    const { arrived, letGo } = holdFirst()
    const [busy, other] = [1, 2].map(() => scene.measuring({ leaseMs: 900, pollMs: 50 }))
    busy!.start()
    await arrived
    other!.start()
    const { lease } = await scene.due("tea")
    await Bun.sleep(2_000)
    expect((await scene.due("tea")).lease).toBe(lease)
    letGo()
    await until(async () => (await scene.due("tea")).measured_at !== null)
    expect(requestedTerms(scene.stores)).toHaveLength(1)
    await Promise.all([busy!.stop(), other!.stop()])
  })

  slow("a worker whose heartbeats fail gives up its lease before the lease ends", async () => {
    await scene.track(["tea"])
    let isAway = false
    let isStoredAtEnd: unknown
    const kind = reads(async (_, { signal }) => {
      isAway = true
      await new Promise((resolve) => signal.addEventListener("abort", resolve))
      const [row] = await scene.sql`select lease_until > now() as stands from due where subject = 'tea'`
      isStoredAtEnd = row!.stands
      return []
    })
    const lonely = scene.measuring({ sql: failing("", () => isAway), kinds: [kind], leaseMs: 900, pollMs: 50 })
    lonely.start()
    await until(() => isStoredAtEnd !== undefined)
    expect(isStoredAtEnd).toBe(true)
    await lonely.stop()
    expect((await scene.due("tea")).measured_at).toBe(null)
  })
})

describe("a started worker", () => {
  slow("a nudge makes a worker read due subjects immediately, six at a time per upstream", async () => {
    const { open, opened } = gateway()
    const active = { "apps.apple.com": 0, "itunes.apple.com": 0 }
    for (const upstream of ["apps.apple.com", "itunes.apple.com"] as const)
      scene.stores.on(upstream, "/", async () => {
        active[upstream]++
        await opened
        return undefined
      })
    const apps: Kind = { ...lookUps, together: 1 }
    let hasLooked = false
    const looking = failing("", () => {
      hasLooked = true
      return false
    })
    const busy = scene.measuring({ sql: looking, kinds: [searches, apps], pollMs: 60_000 })
    busy.start()
    // the first look for work, which finds nothing, is over
    await until(() => hasLooked)
    await Bun.sleep(200 * (await slowness()))
    for (let i = 0; i < 12; i++) await scene.track([`term ${i}`], { only: null })
    await scene.sql`delete from due where kind not in ('search', 'app')`
    expect(scene.stores.requests).toEqual([])
    busy.nudge()
    await until(() => active["apps.apple.com"] + active["itunes.apple.com"] === 12)
    await Bun.sleep(50)
    expect(active).toEqual({ "apps.apple.com": 6, "itunes.apple.com": 6 })
    open()
    await until(async () => (await scene.sql`select 1 from due where measured_at is null`).length === 0)
    await busy.stop()
    expect(requestedTerms(scene.stores)).toHaveLength(12)
  })

  slow("a started worker reads subjects that another process tracks, one gap apart", async () => {
    const polling = scene.measuring({ pollMs: 20, gapsMs: new Map([["apps.apple.com", 100]]) })
    polling.start()
    await Bun.sleep(50)
    await scene.track(["tea", "mate", "milk"])
    await until(async () => (await stored(scene.sql)) === 3)
    const at = scene.stores.requests.map((request) => request.at)
    expect(at[2]! - at[0]!).toBeGreaterThanOrEqual(170)
    await polling.stop()
  })

  test("a started worker first reads the subjects for which a caller waits", async () => {
    await scene.track(["tea", "mate", "milk"])
    await scene.sql`
      insert into due (kind, platform, storefront, subject, priority, asked_until)
      values ('search', 'ios', 'us', 'live', 0, now() + interval '1 minute')`
    const measuring = scene.measuring({ atOnce: 1 })
    await measuring.runOnce()
    expect(requestedTerms(scene.stores)).toEqual(["live"])
    // the app is not tracked, so it is not read again
    expect(await scene.due("live")).toMatchObject({ priority: 2, lease: null })
  })

  test("a started worker without kinds sends the database no statement", async () => {
    const never = (() => {
      throw new Error("asked")
    }) as unknown as Sql
    const idle = scene.measuring({ sql: never, kinds: [], pollMs: 1, leaseMs: 3 })
    idle.start()
    idle.nudge()
    await Bun.sleep(30)
    await idle.stop()
  })

  slow("a started worker continues when a lost database is back, and logs the loss once", async () => {
    let isAway = true
    const logged: string[] = []
    const log = createLog((line) => void logged.push(line))
    await scene.track(["tea"])
    const polling = scene.measuring({ sql: failing("", () => isAway), pollMs: 10, leaseMs: 300, log })
    polling.start()
    await Bun.sleep(150)
    expect(logged.map((line) => JSON.parse(line).event)).toEqual(["measuring_worker_failed"])
    isAway = false
    await until(async () => (await scene.due("tea")).measured_at !== null)
    await polling.stop()
  })
})

describe("a stop", () => {
  test("a stopping worker waits for readings under way and starts no new ones", async () => {
    await scene.track(["tea", "mate"])
    const { arrived, letGo } = holdFirst()
    const stopping = scene.measuring({ atOnce: 1, pollMs: 10 })
    stopping.start()
    await arrived
    const stopped = stopping.stop()
    stopping.nudge()
    await Bun.sleep(50)
    letGo()
    await stopped
    expect(await stored(scene.sql)).toBe(1)
    expect(scene.stores.requests).toHaveLength(1)
  })

  test("a stop that exceeds its time limit leaves unfinished readings due, without a failure", async () => {
    await scene.track(["tea"])
    const { arrived } = holdFirst()
    const stopping = scene.measuring({ stopMs: 30 })
    stopping.start()
    await arrived
    await stopping.stop()
    expect(await scene.due("tea")).toMatchObject({ failures: 0, failure: null, lease: null, measured_at: null })
    expect(await scene.sql`select 1 from attempt`).toHaveLength(0)
    expect(await scene.sql`select 1 from source_state where failures > 0`).toHaveLength(0)
    expect(await scene.measuring().runOnce()).toBe(1)
    expect(await stored(scene.sql)).toBe(1)
  })

  slow("a stop ends even if the database never answers", async () => {
    const hung = (() => new Promise(() => {})) as unknown as Sql
    const stopping = scene.measuring({ sql: hung, stopMs: 20 })
    stopping.start()
    await stopping.stop()
  })
})
