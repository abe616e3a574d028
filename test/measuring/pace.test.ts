import { describe, expect, test } from "bun:test"
import { createLog } from "../../src/lib/log.ts"
import type { Kind } from "../../src/measuring/due-kind.ts"
import { type Lane, NoTurn, noteAnswer, noteRefusal, openLane, takeTurn } from "../../src/measuring/pace.ts"
import type { MeasuringOptions } from "../../src/measuring/worker.ts"
import { errorOf } from "../error-of.ts"
import { slow } from "../long.ts"
import { APPS, gaps, ITUNES, prepareScene } from "./scene.ts"
import { CAPTCHA, lookUps, otherRanks, requestedTerms, searches } from "./stand-in.ts"

const scene = prepareScene()
const signal = new AbortController().signal
const bulk = { withinMs: 10_000, live: false, signal }
const live = { withinMs: 10_000, live: true, signal }

interface PaceRow {
  gap_ms: number
  base_gap_ms: number
  refusals: number
  answers: number
  freeMs: number
}

async function pace({ upstream, egress }: Lane = APPS): Promise<PaceRow> {
  const [row] = await scene.sql<PaceRow[]>`
    select *, extract(epoch from next_at - now())::float8 * 1000 as "freeMs"
    from pace
    where upstream = ${upstream} and egress = ${egress}`
  return row!
}

const free = () => scene.sql`update pace set next_at = now()`
const refuse = (rest: Partial<Parameters<typeof noteRefusal>[2]> = {}, lane = APPS) =>
  noteRefusal(scene.sql, lane, { sinceTurnMs: 0, retryAfterMs: undefined, random: 0, ...rest })

/** Returns how long each of several concurrent turns waited. */
async function turns(count: number, lane = APPS, hurry = bulk): Promise<number[]> {
  const began = performance.now()
  const times = Array.from({ length: count }, async () => {
    await takeTurn(scene.sql, lane, hurry)
    return performance.now() - began
  })
  return (await Promise.all(times)).sort((a, b) => a - b)
}

describe("request slots of an upstream", () => {
  slow("concurrent requests get slots that are one gap apart", async () => {
    await openLane(scene.sql, APPS, 60)
    const waits = await turns(8)
    for (const [place, ms] of waits.entries()) expect(ms).toBeGreaterThanOrEqual(place * 60 - 15)
    expect((await pace()).freeMs).toBeLessThanOrEqual(60)
  })

  test("request slots are counted per upstream and per egress address", async () => {
    const otherEgress = { ...APPS, egress: "elsewhere" }
    for (const lane of [APPS, ITUNES, otherEgress]) await openLane(scene.sql, lane, 60_000)
    for (const lane of [APPS, ITUNES, otherEgress]) await takeTurn(scene.sql, lane, { ...bulk, withinMs: 100 })
    await refuse({ random: 1 })
    expect(await pace(ITUNES)).toMatchObject({ gap_ms: 60_000, refusals: 0 })
    expect(await pace(otherEgress)).toMatchObject({ gap_ms: 60_000, refusals: 0 })
  })

  slow("request slots are booked ahead only for waiting callers", async () => {
    await openLane(scene.sql, APPS, 2_000)
    const ahead = Array.from({ length: 4 }, () => takeTurn(scene.sql, APPS, live).catch(() => {}))
    await Bun.sleep(100)
    expect((await pace()).freeMs).toBeWithin(7_000, 8_001)
    const stopped = new AbortController()
    const waiting = errorOf(takeTurn(scene.sql, APPS, { ...bulk, signal: stopped.signal }))
    await Bun.sleep(100)
    expect((await pace()).freeMs).toBeLessThan(8_000)
    stopped.abort(new Error("stopped"))
    expect(String(await waiting)).toContain("stopped")
    await free()
    await Promise.all(ahead.slice(0, 1))
  })

  test("a request slot that is too far ahead is refused with the milliseconds to wait", async () => {
    await openLane(scene.sql, APPS, 20_000)
    await takeTurn(scene.sql, APPS, live)
    for (const hurry of [bulk, live]) {
      const refusal = await errorOf(takeTurn(scene.sql, APPS, hurry))
      expect(refusal).toBeInstanceOf(NoTurn)
      expect((refusal as NoTurn).waitMs).toBeWithin(15_000, 20_001)
    }
    expect((await pace()).freeMs).toBeLessThanOrEqual(20_000)
  })

  slow("a booked request slot is lost if the upstream refuses a request in the meantime", async () => {
    await openLane(scene.sql, APPS, 300)
    await takeTurn(scene.sql, APPS, bulk)
    const waiting = errorOf(takeTurn(scene.sql, APPS, { ...bulk, withinMs: 2_000 }))
    await Bun.sleep(50)
    await refuse({ retryAfterMs: 30_000 })
    expect(await waiting).toBeInstanceOf(NoTurn)
  })

  test("a new base gap replaces the old one, but does not shorten a gap that refusals have lengthened", async () => {
    await openLane(scene.sql, APPS, 100)
    await openLane(scene.sql, APPS, 50)
    expect(await pace()).toMatchObject({ gap_ms: 50, base_gap_ms: 50 })
    await refuse()
    await openLane(scene.sql, APPS, 60)
    expect(await pace()).toMatchObject({ gap_ms: 80, base_gap_ms: 60 })
    await openLane(scene.sql, APPS, 1_000)
    expect(await pace()).toMatchObject({ gap_ms: 1_000, base_gap_ms: 1_000 })
  })
})

describe("a refusal", () => {
  test("a refusal lengthens the gap by 60 %, up to a minute, and pauses longer each time, up to an hour", async () => {
    await openLane(scene.sql, APPS, 1_000)
    const gapPairs = []
    for (let refusals = 1; refusals <= 10; refusals++) {
      await free()
      expect(await refuse({ random: 1 })).toBe(refusals === 1)
      const { gap_ms, freeMs } = await pace()
      gapPairs.push([gap_ms, Math.round(freeMs / 1_000)])
    }
    expect(gapPairs).toEqual([
      [1_600, 15],
      [2_560, 30],
      [4_096, 60],
      [6_554, 120],
      [10_487, 240],
      [16_780, 480],
      [26_848, 960],
      [42_957, 1_920],
      [60_000, 3_600],
      [60_000, 3_600],
    ])
  })

  test("a refusal pauses the upstream for its Retry-After, but at most a day and at least the new gap", async () => {
    await openLane(scene.sql, APPS, 1_000)
    await refuse({ retryAfterMs: 90_000, random: 1 })
    expect((await pace()).freeMs).toBeWithin(89_000, 90_001)
    await refuse({ retryAfterMs: 9e12 })
    expect((await pace()).freeMs).toBeWithin(86_300_000, 86_400_001)
    await free()
    await refuse()
    expect((await pace()).freeMs).toBeWithin(4_000, 4_097)
  })

  test("several concurrent requests that are refused count as one refusal", async () => {
    await openLane(scene.sql, APPS, 1_000)
    expect(await refuse()).toBe(true)
    for (let i = 0; i < 5; i++) expect(await refuse({ sinceTurnMs: 5_000 })).toBe(false)
    expect(await pace()).toMatchObject({ gap_ms: 1_600, refusals: 1 })
    await noteAnswer(scene.sql, APPS, 5_000)
    expect(await pace()).toMatchObject({ refusals: 1, answers: 0 })
    await refuse({ sinceTurnMs: 5_000, retryAfterMs: 60_000 })
    expect((await pace()).freeMs).toBeWithin(59_000, 60_001)
  })

  test("after a refusal the gap recovers slowly: every 20 answers in a row shorten it by a fifth", async () => {
    await openLane(scene.sql, APPS, 1_000)
    await refuse()
    await refuse()
    expect(await noteAnswer(scene.sql, APPS, 0)).toBe(true)
    const gapSizes = []
    for (let answers = 2; answers <= 120; answers++) {
      expect(await noteAnswer(scene.sql, APPS, 0)).toBe(false)
      if (answers % 20 === 19 || answers % 20 === 0) gapSizes.push((await pace()).gap_ms)
    }
    expect(gapSizes).toEqual([2_560, 2_048, 2_048, 1_638, 1_638, 1_310, 1_310, 1_048, 1_048, 1_000, 1_000, 1_000])
    await refuse()
    expect(await pace()).toMatchObject({ gap_ms: 1_600, answers: 0, refusals: 1 })
  })
})

describe("upstreams", () => {
  const run = (options: Partial<MeasuringOptions> = {}) =>
    scene.measuring({ gapsMs: gaps(1_000), ...options }).runOnce()
  const REFUSALS: [string, () => Response][] = [
    ["answers 403", () => new Response("no", { status: 403 })],
    ["answers 429", () => new Response("slow down", { status: 429 })],
    ["answers 503", () => new Response("busy", { status: 503 })],
    ["serves a page with 200 that asks for a proof", () => new Response(CAPTCHA)],
    ["sends to another host for a consent", () => Response.redirect("https://consent.example.com/", 302)],
  ]
  for (const [what, answer] of REFUSALS) {
    test(`an upstream that ${what} gets slower requests, and nothing is measured`, async () => {
      await scene.track(["tea"])
      scene.stores.on("apps.apple.com", "/", answer)
      expect(await run()).toBe(1)
      expect(await pace()).toMatchObject({ gap_ms: 1_600, refusals: 1, answers: 0 })
      expect(await scene.due("tea")).toMatchObject({ failures: 1, measured_at: null })
      expect(await scene.sql`select 1 from search_results`).toHaveLength(0)
      expect(await scene.sql`select 1 from attempt where subject = 'tea' and kind = 'search'`).toHaveLength(1)
    })
  }

  test("an upstream that sends Retry-After gets no request before that time", async () => {
    await scene.track(["tea", "mate"])
    scene.stores.on("apps.apple.com", "/", () => new Response("", { status: 429, headers: { "retry-after": "120" } }))
    expect([await run(), await run(), await run()]).toEqual([1, 0, 0])
    expect((await pace()).freeMs).toBeWithin(110_000, 120_001)
    expect(requestedTerms(scene.stores)).toHaveLength(1)
  })

  test.each([
    ["breaks", () => new Response("oops", { status: 500 })],
    ["sends an unreadable answer", () => new Response("<html>")],
    ["has no such page", () => new Response("", { status: 404 })],
  ])("an upstream that %s keeps its pace", async (_, answer) => {
    await scene.track(["tea"])
    scene.stores.on("apps.apple.com", "/", answer)
    expect(await run()).toBe(1)
    expect(await pace()).toMatchObject({ gap_ms: 1_000, refusals: 0, answers: 0 })
    expect(await scene.due("tea")).toMatchObject({ failures: 1 })
  })

  test("a refusal slows down only the upstream that sent it", async () => {
    await scene.track(["tea"], { only: null })
    scene.stores.on("apps.apple.com", "/", () => new Response("", { status: 403 }))
    expect(await run({ kinds: [searches, lookUps] })).toBe(2)
    expect(await pace(APPS)).toMatchObject({ refusals: 1 })
    expect(await pace(ITUNES)).toMatchObject({ gap_ms: 1_000, refusals: 0, answers: 1 })
  })

  slow("an upstream that fails is logged at once, and only once until it answers again", async () => {
    await scene.track(["a", "b", "c", "d", "e"])
    const logged: string[] = []
    const log = createLog((line) => void logged.push(line))
    let fails = true
    scene.stores.on("apps.apple.com", "/", () => (fails ? new Response("", { status: 500 }) : undefined))
    for (let i = 0; i < 5; i++) {
      await run({ log, retry: { baseMs: 0, capMs: 0 } })
      await free()
      fails = i !== 1
    }
    const events = logged.map((line) => JSON.parse(line)).filter(({ event }) => event === "source_failed")
    expect(events.map(({ operation, code }) => [operation, code])).toEqual([
      ["apple-web-search", "failed"],
      ["apple-web-search", "failed"],
    ])
  })

  slow("the first refusal of an upstream and its first answer afterwards are logged once each", async () => {
    await scene.track(["a", "b", "c", "d"])
    const logged: string[] = []
    const log = createLog((line) => void logged.push(line))
    let refusing = true
    scene.stores.on("apps.apple.com", "/", () => (refusing ? new Response("", { status: 403 }) : undefined))
    for (let i = 0; i < 4; i++) {
      await run({ log, retry: { baseMs: 0, capMs: 0 } })
      await free()
      if (i === 1) refusing = false
    }
    const events = logged.map((line) => JSON.parse(line)).map(({ event, operation, code }) => [event, operation, code])
    expect(events).toEqual([
      ["source_refused", "apple-web-search", "blocked"],
      ["source_answers", "apple-web-search", undefined],
    ])
  })
})

describe("later requests of a reading", () => {
  const twoRequests: Kind = {
    ...searches,
    async read(subjects, port) {
      const query = { storefront: "us", term: subjects[0]!.subject }
      return [...(await searches.read(subjects, port)), await port.ask(otherRanks, query)]
    },
  }

  slow("the second requests of concurrent readings are one gap apart", async () => {
    await scene.track(Array.from({ length: 5 }, (_, i) => `term ${i}`))
    const gapsMs = new Map([...gaps(0), ["itunes.apple.com" as const, 80]])
    expect(await scene.measuring({ kinds: [twoRequests], gapsMs }).runOnce()).toBe(5)
    const at = scene.stores.requests.filter(({ url }) => url.host === "itunes.apple.com").map((request) => request.at)
    expect(at).toHaveLength(5)
    for (const [place, ms] of at.entries()) expect(ms - at[0]!).toBeGreaterThanOrEqual(place * 80 - 30)
  })

  test("a reading whose second request gets no slot in time is postponed without a failure", async () => {
    await scene.track(["tea"])
    await openLane(scene.sql, ITUNES, 60_000)
    await takeTurn(scene.sql, ITUNES, live)
    const gapsMs = new Map([...gaps(0), ["itunes.apple.com" as const, 60_000]])
    await scene.measuring({ kinds: [twoRequests], gapsMs, readMs: 5_000 }).runOnce()
    const row = await scene.due("tea")
    expect(row).toMatchObject({ failures: 0, failure: null, measured_at: null, lease: null })
    expect(row.next_at.getTime() - Date.now()).toBeWithin(40_000, 61_000)
    expect(await scene.sql`select 1 from search_results`).toHaveLength(0)
    expect(await scene.sql`select 1 from attempt`).toHaveLength(0)
  })

  test("a reading that was refused by one source and gets no slot for the next source fails as blocked", async () => {
    await scene.track(["tea"])
    await openLane(scene.sql, ITUNES, 60_000)
    await takeTurn(scene.sql, ITUNES, live)
    scene.stores.on("apps.apple.com", "/", () => new Response(CAPTCHA))
    const helped: Kind = {
      ...searches,
      async read(subjects, port) {
        const query = { storefront: "us", term: subjects[0]!.subject }
        return await searches.read(subjects, port).catch(async () => [await port.ask(otherRanks, query)])
      },
    }
    const gapsMs = new Map([...gaps(0), ["itunes.apple.com" as const, 60_000]])
    await scene.measuring({ kinds: [helped], gapsMs, readMs: 5_000 }).runOnce()
    expect(await scene.due("tea")).toMatchObject({ failures: 1, failure: "blocked", measured_at: null })
    expect(await scene.sql`select 1 from attempt`).toHaveLength(1)
  })
})
