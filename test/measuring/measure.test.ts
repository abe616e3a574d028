import { afterEach, describe, expect, test } from "bun:test"
import type { LiveSubject, Measure } from "../../src/lib/live-read.ts"
import { createMeasure, type LiveParts } from "../../src/measuring/measure.ts"
import type { MeasuringWorker } from "../../src/measuring/worker.ts"
import { until } from "../jobs/platform.ts"
import { slow } from "../long.ts"
import { record } from "../record.ts"
import { reading } from "./record/measured.ts"
import { APPS, EGRESS, gaps, prepareScene, stored } from "./scene.ts"
import { answersSearches, CAPTCHA, requestedTerms, searches } from "./stand-in.ts"

const scene = prepareScene()
const HOUR_MS = 3_600_000
const working: MeasuringWorker[] = []
afterEach(async () => {
  for (const worker of working.splice(0)) await worker.stop()
})

const subjectOf = (subject: string, rest: Partial<LiveSubject> = {}): LiveSubject => ({
  kind: "search",
  platform: "ios",
  storefront: "us",
  subject,
  ...rest,
})

/** Returns the measure function of a process that also reads. */
function inProcess(gapMs = 0): Measure {
  const measuring = scene.measuring({ gapsMs: gaps(gapMs), pollMs: 50 })
  working.push(measuring)
  measuring.start()
  const { nudge, onEnded } = measuring
  return asking({ nudge, onEnded })
}

/** Returns the measure function of a process that does not read. */
function asking(parts: Partial<LiveParts> = {}): Measure {
  const now = () => new Date()
  return createMeasure({
    sql: scene.sql,
    kinds: [searches],
    egress: EGRESS,
    now,
    isReading: () => true,
    nudge() {},
    onEnded() {},
    pollMs: 50,
    ...parts,
  })
}

describe("a live read", () => {
  slow("200 concurrent live reads of one term make one request and all get its result", async () => {
    answersSearches(scene.stores, () => 100)
    const measure = inProcess()
    const patience = { maxAgeMs: HOUR_MS, waitMs: 10_000 }
    const answers = await Promise.all(Array.from({ length: 200 }, () => measure(subjectOf("tea"), patience)))
    expect(requestedTerms(scene.stores)).toEqual(["tea"])
    expect(answers.every((answer) => answer.state === "fresh")).toBeTrue()
    expect(await stored(scene.sql, "tea")).toBe(1)
  })

  slow("a live read returns a stored reading if it is recent enough, or else requests a new one", async () => {
    const measure = inProcess()
    const first = await measure(subjectOf("tea"), { maxAgeMs: HOUR_MS, waitMs: 10_000 })
    const repeated = await measure(subjectOf("tea"), { maxAgeMs: HOUR_MS, waitMs: 10_000 })
    expect(repeated).toEqual(first)
    expect(requestedTerms(scene.stores)).toEqual(["tea"])
    const anew = await measure(subjectOf("tea"), { maxAgeMs: 0, waitMs: 10_000 })
    expect(requestedTerms(scene.stores)).toEqual(["tea", "tea"])
    expect(anew.state === "fresh" && first.state === "fresh" && anew.measuredAt > first.measuredAt).toBeTrue()
  })

  slow("a live read does not use the demo's data", async () => {
    const demo = reading("tea", new Date(Date.now() - 1_000).toISOString(), ["10001"], { origin: "demo" })
    await record(scene.sql, [demo])
    const answer = await inProcess()(subjectOf("tea"), { maxAgeMs: HOUR_MS, waitMs: 10_000 })
    expect(requestedTerms(scene.stores)).toEqual(["tea"])
    expect(answer.state === "fresh" && answer.measuredAt > demo.seenAt).toBeTrue()
  })

  slow("a live read that outlasts its caller's wait is pending, and the next caller gets its result", async () => {
    answersSearches(scene.stores, () => 400)
    const measure = inProcess()
    const pending = await measure(subjectOf("tea"), { maxAgeMs: HOUR_MS, waitMs: 50 })
    expect(pending).toEqual({ state: "pending", eta: expect.any(Number) })
    expect(pending.state === "pending" && pending.eta).toBeWithin(1, 60)
    expect((await measure(subjectOf("tea"), { maxAgeMs: HOUR_MS, waitMs: 10_000 })).state).toBe("fresh")
    expect(requestedTerms(scene.stores)).toEqual(["tea"])
  })

  slow("a live read is performed before scheduled readings", async () => {
    const terms = Array.from({ length: 20 }, (_, i) => `bulk ${i}`)
    await scene.track(terms)
    const measure = inProcess(60)
    expect((await measure(subjectOf("tea"), { maxAgeMs: HOUR_MS, waitMs: 10_000 })).state).toBe("fresh")
    expect(requestedTerms(scene.stores).indexOf("tea")).toBeWithin(0, 5)
  })

  slow("a live read of an untracked term leaves no row", async () => {
    const measure = inProcess()
    await measure(subjectOf("tea"), { maxAgeMs: HOUR_MS, waitMs: 10_000 })
    await until(async () => (await scene.due("tea")) === undefined)
    expect(requestedTerms(scene.stores)).toEqual(["tea"])
  })

  slow("a live read that the store blocks fails as blocked and stores nothing", async () => {
    scene.stores.on(APPS.upstream, "/", () => new Response(CAPTCHA))
    const answer = await inProcess()(subjectOf("tea"), { maxAgeMs: HOUR_MS, waitMs: 10_000 })
    expect(answer).toEqual({ state: "failed", why: "blocked" })
    expect(await stored(scene.sql)).toBe(0)
  })

  test("a live read fails as busy if the upstream allows no request for more than a minute", async () => {
    await scene.sql`
      insert into pace (upstream, egress, next_at, base_gap_ms, gap_ms)
      values (${APPS.upstream}, ${EGRESS}, now() + interval '5 minutes', 0, 0)`
    const answer = await asking()(subjectOf("tea"), { maxAgeMs: HOUR_MS, waitMs: 10_000 })
    expect(answer).toEqual({ state: "failed", why: "busy" })
    expect(await scene.due("tea")).toBeUndefined()
  })

  test("a live read of a kind or storefront that no process reads fails as off", async () => {
    const measure = asking({ kinds: [{ ...searches, platform: "android", storefronts: ["de"] }] })
    for (const subject of [subjectOf("tea"), subjectOf("tea", { platform: "android" })])
      expect(await measure(subject, { maxAgeMs: HOUR_MS, waitMs: 10 })).toEqual({ state: "failed", why: "off" })
  })

  slow("a live read returns the result or the failure of another process that performs it", async () => {
    inProcess()
    const measure = asking()
    expect((await measure(subjectOf("tea"), { maxAgeMs: HOUR_MS, waitMs: 10_000 })).state).toBe("fresh")
    scene.stores.on(APPS.upstream, "/", () => new Response("no", { status: 403 }))
    expect(await measure(subjectOf("coffee"), { maxAgeMs: HOUR_MS, waitMs: 10_000 })).toEqual({
      state: "failed",
      why: "blocked",
    })
  })

  slow("a waiting live read does not block other database statements", async () => {
    answersSearches(scene.stores, () => 1_500)
    const measure = inProcess()
    const waits = Array.from({ length: 50 }, (_, i) =>
      measure(subjectOf(`tea ${i % 6}`), { maxAgeMs: HOUR_MS, waitMs: 10_000 }),
    )
    await until(() => requestedTerms(scene.stores).length > 0)
    const began = performance.now()
    for (let i = 0; i < 20; i++) await scene.sql`select 1`
    expect(performance.now() - began).toBeLessThan(1_000)
    expect((await Promise.all(waits)).every(({ state }) => state === "fresh")).toBeTrue()
  })
})
