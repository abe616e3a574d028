import { afterEach, describe, expect, test } from "bun:test"
import type { LiveReadState, LiveSubject, Measure } from "../../src/lib/live-read.ts"
import { takeShare } from "../../src/measuring/live-asks.ts"
import { createMeasure } from "../../src/measuring/measure.ts"
import type { MeasuringWorker } from "../../src/measuring/worker.ts"
import { until } from "../jobs/platform.ts"
import { long, slow } from "../long.ts"
import { slowness } from "../unit.ts"
import { APPS, EGRESS, gaps, prepareScene } from "./scene.ts"
import { requestedTerms, searches } from "./stand-in.ts"

const scene = prepareScene()
const working: MeasuringWorker[] = []
afterEach(async () => {
  for (const worker of working.splice(0)) await worker.stop()
  await scene.sql`delete from live_share`
})

const subjectOf = (subject: string): LiveSubject => ({ kind: "search", platform: "ios", storefront: "us", subject })
const WHILE = { maxAgeMs: 3_600_000, onlyWhileWaiting: true } as const

/** Starts a process that reads with this gap between two requests. */
function reading(gapMs: number): Measure {
  const measuring = scene.measuring({ gapsMs: gaps(gapMs), pollMs: 50 })
  working.push(measuring)
  measuring.start()
  return asking(measuring)
}

function asking({ isReading, nudge, onEnded }: Pick<MeasuringWorker, "isReading" | "nudge" | "onEnded">): Measure {
  const now = () => new Date()
  return createMeasure({
    sql: scene.sql,
    kinds: [searches],
    egress: EGRESS,
    now,
    isReading,
    nudge,
    onEnded,
    pollMs: 50,
  })
}

/** Creates a process that requests live reads and assumes that another process reads. */
const onlyAsking = (isReading = true) => asking({ isReading: () => isReading, nudge() {}, onEnded() {} })

async function pace(gapMs: number): Promise<void> {
  await scene.sql`
    insert into pace (upstream, egress, base_gap_ms, gap_ms)
    values (${APPS.upstream}, ${EGRESS}, ${gapMs}, ${gapMs})`
}

const count = async () => (await scene.sql<{ n: number }[]>`select count(*)::int as n from due`)[0]!.n

describe("live reads of a workspace", () => {
  test("a request that exceeds the common share does not use up the workspace's own share", async () => {
    await pace(1_000)
    const take = (workspaceId: number) => takeShare(scene.sql, searches, EGRESS, { workspaceId })
    const results: boolean[] = []
    // six turns each, twenty turns together
    for (const workspaceId of [11, 12, 13, 14]) for (let i = 0; i < 6; i++) results.push(await take(workspaceId))
    expect(results.filter(Boolean).length).toBe(20)
    await scene.sql`delete from live_share where workspace_id = 0`
    expect([await take(14), await take(14), await take(14), await take(14), await take(14)]).toEqual([
      ...[true, true, true, true, false],
    ])
  })

  long(
    "a workspace that floods live reads delays neither due readings nor another workspace's live reads",
    async () => {
      // long compared with a turn, even on a busy machine
      const gapMs = Math.round(200 * Math.min(5, await slowness()))
      await scene.track(Array.from({ length: 400 }, (_, i) => `due ${i}`))
      const measure = reading(gapMs)
      await until(() => requestedTerms(scene.stores).length > 0)
      const floodReads: Promise<LiveReadState>[] = []
      // sends five requests per turn
      const flood = setInterval(() => {
        const subject = `flood ${floodReads.length}`
        floodReads.push(measure(subjectOf(subject), { ...WHILE, waitMs: 5 * gapMs }, { workspaceId: 1 }))
      }, gapMs / 5)
      const otherStates: LiveReadState[] = []
      for (let i = 0; i < 6; i++) {
        otherStates.push(await measure(subjectOf(`other ${i}`), { ...WHILE, waitMs: 50 * gapMs }, { workspaceId: 2 }))
        await Bun.sleep(5 * gapMs)
      }
      clearInterval(flood)
      await Promise.all(floodReads)
      const turns = requestedTerms(scene.stores).map((term) => term.split(" ")[0])
      const of = (who: string) => turns.filter((turn) => turn === who).length
      expect(otherStates.map(({ state }) => state)).toEqual(Array(6).fill("fresh"))
      expect(of("other")).toBe(6)
      expect(of("flood")).toBeGreaterThan(0)
      // a quarter of the turns, plus six turns that may come at once
      expect(of("flood")).toBeLessThan(turns.length / 3 + 6)
      expect(of("due")).toBeGreaterThan(of("flood"))
      // the other workspace is read within a few turns, not after everything that the first one sent
      const firstOther = turns.indexOf("other")
      expect(firstOther).toBeLessThan(20)
    },
    120_000,
  )

  long("a live read beyond the workspace's share is performed if nothing else is due", async () => {
    const measure = reading(20)
    const all = Array.from({ length: 12 }, (_, i) =>
      measure(subjectOf(`tea ${i}`), { ...WHILE, waitMs: 10_000 }, { workspaceId: 1 }),
    )
    expect((await Promise.all(all)).map(({ state }) => state)).toEqual(Array(12).fill("fresh"))
    expect(await scene.sql`select 1 from due where priority = 4`).toHaveLength(0)
  })

  slow("a live read beyond the workspace's share is refused as busy if a minute of work is due before it", async () => {
    await pace(1_000)
    await scene.track(Array.from({ length: 70 }, (_, i) => `due ${i}`))
    const measure = onlyAsking()
    const ends = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        measure(subjectOf(`tea ${i}`), { ...WHILE, waitMs: 50 }, { workspaceId: 1 }),
      ),
    )
    expect(ends.filter(({ state }) => state === "pending")).toHaveLength(6)
    expect(ends.filter((state) => state.state === "failed" && state.why === "busy")).toHaveLength(4)
    // the other workspace has its own share
    expect((await measure(subjectOf("milk"), { ...WHILE, waitMs: 50 }, { workspaceId: 2 })).state).toBe("pending")
    await until(async () => (await count()) === 70)
  })

  slow("a workspace can have at most 20 pending live reads, independently of other workspaces", async () => {
    const measure = onlyAsking()
    const ask = (subject: string, workspaceId: number) =>
      measure(subjectOf(subject), { ...WHILE, waitMs: 300 }, { workspaceId })
    const ends = Promise.all(Array.from({ length: 60 }, (_, i) => ask(`tea ${i}`, 1)))
    const other = ask("milk", 2)
    expect((await ends).filter(({ state }) => state === "pending")).toHaveLength(20)
    expect((await other).state).toBe("pending")
    await until(async () => (await count()) === 0)
  })

  slow("the limit of a workspace's pending live reads holds across processes", async () => {
    const [firstCaller, secondCaller] = [onlyAsking(), onlyAsking()]
    const patience = { maxAgeMs: 3_600_000, waitMs: 1 }
    for (let i = 0; i < 20; i++) await firstCaller(subjectOf(`tea ${i}`), patience, { workspaceId: 1 })
    expect(await secondCaller(subjectOf("milk"), patience, { workspaceId: 1 })).toEqual({
      state: "failed",
      why: "busy",
    })
    expect((await secondCaller(subjectOf("milk"), patience, { workspaceId: 2 })).state).toBe("pending")
  })

  slow("a live read that joins another workspace's pending live read does not use up a share", async () => {
    await pace(1_000)
    const measure = onlyAsking()
    const ask = (workspaceId: number) => measure(subjectOf("tea"), { ...WHILE, waitMs: 300 }, { workspaceId })
    const first = ask(1)
    await until(async () => (await count()) === 1)
    await Promise.all([first, ...[2, 3, 4].map(ask)])
    expect((await scene.sql`select workspace_id as id from live_share order by 1`).map(({ id }) => id)).toEqual([0, 1])
  })
})

describe("live reads for a waiting caller", () => {
  test("a live read that is not performed in time leaves no row", async () => {
    const answer = await onlyAsking()(subjectOf("tea"), { ...WHILE, waitMs: 50 }, { workspaceId: 1 })
    expect(answer.state).toBe("pending")
    await until(async () => (await count()) === 0)
  })

  test("a live read of a tracked subject leaves the priority of its scheduled reading unchanged", async () => {
    await scene.track(["tea"])
    const before = await scene.due("tea")
    await onlyAsking()(subjectOf("tea"), { ...WHILE, waitMs: 50 }, { workspaceId: 1 })
    await until(async () => (await scene.due("tea")).priority === before.priority)
  })

  test("a live read is not performed after its wait has ended, even if its process was killed", async () => {
    await scene.sql`
      insert into due (kind, platform, storefront, subject, priority, asked_by, asked_until)
      values ('search', 'ios', 'us', 'tea', 0, 1, now() - interval '1 second')`
    await scene.track(["milk"])
    const measuring = scene.measuring()
    await measuring.runOnce()
    expect(requestedTerms(scene.stores)).toEqual(["milk"])
    expect(await scene.due("tea")).toBeUndefined()
  })

  test("a live read leaves no row after it was performed", async () => {
    const answer = await reading(0)(subjectOf("tea"), { ...WHILE, waitMs: 10_000 }, { workspaceId: 1 })
    expect(answer.state).toBe("fresh")
    await until(async () => (await count()) === 0)
  })
})

describe("a live read for which no process runs", () => {
  test("a live read is refused immediately with the reason if no worker process runs", async () => {
    const began = performance.now()
    const answer = await onlyAsking(false)(subjectOf("tea"), { maxAgeMs: 0, waitMs: 10_000 }, { workspaceId: 1 })
    expect(answer).toEqual({
      state: "failed",
      why: "off",
      because: expect.stringMatching(/^no worker process is running/),
    })
    expect(performance.now() - began).toBeLessThan(5_000)
    expect(await count()).toBe(0)
  })

  test("a live read is accepted if the heartbeat of another process shows that it reads the subject", async () => {
    reading(0)
    const measure = onlyAsking(false)
    await until(async () => (await scene.sql`select 1 from reader`).length > 0)
    const answer = await measure(subjectOf("tea"), { maxAgeMs: 0, waitMs: 10_000 }, { workspaceId: 1 })
    expect(answer.state).toBe("fresh")
  })
})
