import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import type { Side } from "../../src/core/observation/provenance.ts"
import type { Sql } from "../../src/database/types.ts"
import type { SignOfLife } from "../../src/measuring/sign-of-life.ts"
import { findKeywordsUnderWay, readExpectations } from "../../src/measuring/under-way.ts"
import { freshDatabase } from "../database.ts"
import { AWAY, signOfLife } from "./record/reading-processes.ts"

let sql: Sql
let signs: SignOfLife[]

beforeEach(async () => {
  sql = await freshDatabase()
  signs = []
})

afterEach(async () => {
  for (const sign of signs) await sign.end()
})

const reads = async (readable = {}) => signs.push(await signOfLife(sql, readable))
const due = (kind: string, values: object = {}) =>
  sql`insert into due ${sql({ kind, platform: "ios", storefront: "us", subject: "tea", ...values })}`
const tea = async (side: Partial<Side> = {}) =>
  (await findKeywordsUnderWay(sql, { platform: "ios", storefront: "us", ...side, terms: ["tea"] })).get("tea")!
const flags = async () => {
  const { measuring, popularityMeasuring, difficultyMeasuring } = await tea()
  return [measuring, popularityMeasuring, difficultyMeasuring]
}
const whys = async (side: Partial<Side> = {}) => {
  const { notMeasuring, popularityNotMeasuring, difficultyNotMeasuring } = await tea(side)
  return [notMeasuring, popularityNotMeasuring, difficultyNotMeasuring]
}
const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000)

describe("subjects under way", () => {
  beforeEach(() => reads())

  test("each flag is true exactly while its kinds of measurement are under way", async () => {
    expect(await flags()).toEqual([false, false, false])
    await due("search")
    expect(await flags()).toEqual([true, false, false])
    await due("hints")
    expect(await flags()).toEqual([true, true, false])
    await sql`delete from due`
    await due("difficulty")
    expect(await flags()).toEqual([false, true, true])
  })

  test("each flag that is false has a reason, and each flag that is true has none", async () => {
    await due("search")
    expect(await whys()).toEqual([null, "not_scheduled", "awaits_results"])
    await due("difficulty", { next_at: ago(-60) })
    await due("hints")
    expect(await whys()).toEqual([null, null, "not_due"])
  })

  test("a subject due later, or answered today, is not under way", async () => {
    await due("hints", { next_at: ago(-60) })
    await due("search", { measured_at: new Date() })
    expect(await flags()).toEqual([false, false, false])
    expect(await whys()).toEqual(["not_due", "not_due", "not_due"])
  })

  test("a failed subject is not under way until its retry", async () => {
    await due("search", { next_at: ago(-5), failures: 1, failure: "changed", failed_at: ago(1) })
    expect(await whys()).toEqual(["read_failed", "read_failed", "read_failed"])
  })

  test("a leased subject is under way until the lease ends", async () => {
    const expired = { next_at: ago(-60), lease: crypto.randomUUID() }
    await due("difficulty", { ...expired, lease_until: ago(-1) })
    expect(await flags()).toEqual([false, true, true])
    await sql`update due set lease_until = now() - interval '1 second'`
    expect(await flags()).toEqual([false, false, false])
  })

  test("a subject that has been overdue for a day is not under way", async () => {
    await due("search", { next_at: ago(1_441) })
    expect(await flags()).toEqual([false, false, false])
    expect((await whys())[0]).toBe("overdue")
  })

  test("a row of another storefront, platform or kind does not count as under way", async () => {
    await due("search", { storefront: "gb" })
    await due("hints", { platform: "android" })
    await due("app", {})
    expect(await flags()).toEqual([false, false, false])
    expect(await whys()).toEqual(["not_scheduled", "not_scheduled", "not_scheduled"])
  })
})

describe("subjects that no process reads", () => {
  const everything = async () => {
    for (const platform of ["ios", "android"])
      for (const storefront of ["us", "de"])
        for (const kind of ["search", "hints"]) await due(kind, { platform, storefront })
  }
  beforeEach(everything)

  test("nothing is under way while no process reads", async () => {
    expect(await flags()).toEqual([false, false, false])
    expect(await whys()).toEqual(["no_worker", "no_worker", "no_worker"])
    expect((await whys({ platform: "android" }))[0]).toBe("no_worker")
  })

  test("nothing is under way after the last reading process has ended", async () => {
    await reads()
    await reads()
    await signs.pop()!.end()
    expect((await whys())[0]).toBeNull()
    await signs.pop()!.end()
    expect((await whys())[0]).toBe("no_worker")
  })

  test("nothing is under way once the heartbeat of the only reading process has stopped", async () => {
    await reads()
    await sql`update reader set seen_at = now() - interval '2 minutes'`
    expect((await whys())[0]).toBe("no_worker")
  })

  test("nothing is under way while its source is off", async () => {
    await reads({ sourcesOff: ["apple-web-search", "apple-store-search", "play-suggest"] })
    expect(await whys()).toEqual(["source_off", null, "source_off"])
    expect(await whys({ platform: "android" })).toEqual([null, "source_off", "not_scheduled"])
  })

  test("nothing is under way on Google Play for a storefront other than the egress address's country", async () => {
    await reads({ egressCountry: undefined })
    expect((await whys({ platform: "android" }))[0]).toBe("no_egress_country")
    expect((await whys())[0]).toBeNull()
    await reads({ egressCountry: "us" })
    expect((await whys({ platform: "android", storefront: "de" }))[0]).toBe("other_country")
    expect((await whys({ platform: "android" }))[0]).toBeNull()
  })

  test("nothing is under way while its upstream pauses for long after a refusal", async () => {
    await reads()
    const refused = { upstream: "apps.apple.com", egress: AWAY, base_gap_ms: 0, gap_ms: 0, refusals: 3 }
    const pace = (minutes: number) =>
      sql`
        insert into pace ${sql({ ...refused, next_at: ago(-minutes) })}
        on conflict (upstream, egress) do update
        set next_at = excluded.next_at`
    await pace(5)
    expect((await whys())[0]).toBeNull()
    await pace(30)
    expect(await whys()).toEqual(["source_refuses", null, "source_refuses"])
  })
})

describe("the expected readings of a day", () => {
  const today = new Date().toISOString().slice(0, 10)
  const side = { platform: "ios" as const, storefront: "us", terms: ["tea", "mate", "milk"] }
  const expected = async (day = today) =>
    (await readExpectations(sql, [side, { ...side, platform: "android" }], day))[0]
  const tonight = new Date(`${today}T23:59:59.999Z`)

  test("the expected readings of a day are those due now or later that day", async () => {
    await reads()
    await due("search")
    await due("search", { subject: "mate", next_at: tonight })
    await due("search", { subject: "milk", next_at: new Date(tonight.getTime() + 1) })
    expect(await expected()).toEqual({ expected: 2, notMeasuring: "not_due" })
    await sql`update due set next_at = now() where subject = 'milk'`
    expect(await expected()).toEqual({ expected: 3, notMeasuring: null })
  })

  test("the expected readings of a day are 0 if no process reads or nothing is scheduled", async () => {
    expect(await expected()).toEqual({ expected: 0, notMeasuring: "not_scheduled" })
    for (const subject of side.terms) await due("search", { subject })
    expect(await expected()).toEqual({ expected: 0, notMeasuring: "no_worker" })
    await reads({ sourcesOff: ["apple-web-search", "apple-store-search"] })
    expect(await expected()).toEqual({ expected: 0, notMeasuring: "source_off" })
  })
})
