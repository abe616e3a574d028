import { beforeEach, describe, expect, test } from "bun:test"
import { join } from "node:path"
import type { Sql } from "../../../src/database/types.ts"
import { record } from "../../../src/observations/record.ts"
import { foldSearches } from "../../../src/observations/rows/search-fortnights.ts"
import type { Observation } from "../../../src/observations/types.ts"
import { removeOld } from "../../../src/retention/remove-old.ts"
import { removeDemo } from "../../../src/tracking/remove-demo.ts"
import { addDays } from "../../../src/vocabulary/days.ts"
import { freshDatabase, scratchUrl } from "../../database.ts"
import { errorOf } from "../../error-of.ts"
import { shuffled } from "../../formulas/estimates/play-apps.ts"
import { cases, long, longOnServer } from "../../long.ts"
import { trackOwn } from "../../world/tracked.ts"
import { NOW, newWorkspace, reading } from "../measured.ts"
import { foldAll, readings, searched, TERMS, told } from "../searched.ts"

const FOR_EVER = { ledgerDays: 0, attemptDays: 0, jobDays: 0, auditDays: 0, alertDays: 0 }
const BOUNDS = ["2025-10-01", "2025-10-16", "2025-11-07", "2025-11-20"]
/** How many readings come in one call. */
const AT_ONCE = cases(60, 20)
let sql: Sql
let app: string

beforeEach(fresh)

async function fresh(): Promise<void> {
  sql = await freshDatabase()
  const workspaceId = await newWorkspace(sql)
  const keywords = TERMS
  app = await trackOwn(sql, { workspaceId, iosId: "10001", keywords })
}

async function store(...seen: Observation[]): Promise<number> {
  const { recorded, refused } = await record(sql, seen, () => NOW)
  expect(refused).toEqual([])
  return recorded
}

/** Of fewer days in short: each takes some twenty statements a list. */
const tellAll = () => told(sql, app, cases(6, 16))

const sizes = async () =>
  (
    await sql<{ whole: number; fortnights: number; packed: number }[]>`
      select (select count(*)::int from search_results) as whole, count(*)::int as fortnights,
        coalesce(sum(cardinality(seen_ats)), 0)::int as packed
      from search_fortnight`
  )[0]!

const unpacked = async () =>
  new Map(
    (
      await sql<{ term: string; count: number }[]>`
        select term, count(*)::int as count
        from search_results
        join list on list.id = list_id
        group by term`
    ).map(({ term, count }) => [term, count]),
  )

describe("readings that are packed into fortnights", () => {
  test("say what they said to every reader, whatever comes late, twice and in whatever order, whenever they are packed", async () => {
    const given = searched(17)
    await store(...given)
    const whole = await tellAll()
    expect(whole.readings.length).toBeGreaterThan(270)
    expect(await foldAll(sql, "2025-11-20")).toBeGreaterThan(200)
    expect((await sizes()).packed).toBeGreaterThan(200)
    expect(await tellAll()).toEqual(whole)
    for (let seed = 1; seed <= cases(1, 3); seed++) {
      await fresh()
      const order = shuffled([...given, ...given.slice(0, 80)], seed)
      for (let i = 0; i < order.length; i += AT_ONCE) {
        await store(...order.slice(i, i + AT_ONCE))
        if (i % 60 === 0) await foldAll(sql, BOUNDS[(i / 20 + seed) % BOUNDS.length]!)
      }
      expect(await tellAll()).toEqual(whole)
      expect((await sizes()).packed).toBeGreaterThan(100)
    }
  })

  long(
    "change nothing when they are recorded again, and give way to a better reading of the moment alone",
    async () => {
      const at = "2025-10-05T10:00:00.123Z"
      const held = reading("tea", at, [10001, 10002, 10003], { parser: 2 })
      await store(held, reading("tea", "2025-10-06T10:00:00Z", [10003, 10001], { parser: 2 }))
      expect(await foldAll(sql, "2025-11-20")).toBe(2)
      const before = await readings(sql)
      expect(
        await store(
          held,
          reading("tea", at, [10009], { parser: 1 }),
          reading("tea", at, [10001, 10002, 10003], { origin: "demo", parser: 9 }),
        ),
      ).toBe(0)
      expect(await sizes()).toEqual({ whole: 0, fortnights: 1, packed: 2 })
      expect(await readings(sql)).toEqual(before)
      expect(await store(reading("tea", at, [10002, 10004], { parser: 3 }))).toBe(1)
      expect((await readings(sql)).map(({ ids, parser }) => [ids, parser])).toEqual([
        [["10002", "10004"], 3],
        [["10003", "10001"], 2],
      ])
      expect(await sizes()).toEqual({ whole: 2, fortnights: 0, packed: 0 })
    },
  )

  long(
    "are those that are older than yesterday by up to four days; the demo's stay, and go with the demo",
    async () => {
      const day = (age: number) => new Date(Date.now() - age * 86_400_000).toISOString()
      const ages = [0, 1, 6, 9, 10, 40]
      const seen = ages.map((age) => reading("tea", day(age), [10001, 10002]))
      await record(sql, [...seen, reading("tea", day(41), [10005], { origin: "demo" })], () => new Date())
      expect(await removeOld(sql, FOR_EVER, { pauseMs: 0 })).toMatchObject({ search_results: 4 })
      expect(await sizes()).toMatchObject({ whole: 3, packed: 4 })
      expect(await removeOld(sql, FOR_EVER, { pauseMs: 0 })).toMatchObject({ search_results: 0 })
      await removeDemo(sql)
      expect((await readings(sql)).map(({ ids }) => ids)).toEqual(ages.map(() => ["10001", "10002"]))
    },
  )

  long("are packed within four days after yesterday, and each night of two lists in seven", async () => {
    const lists = Array.from({ length: 7 }, (_, i) => `list ${i}`)
    for (let night = 0; night < 14; night++) {
      const today = addDays("2025-10-01", night)
      await store(...lists.map((term) => reading(term, `${addDays(today, -1)}T05:00:00Z`, [10001, 10002])))
      const before = await unpacked()
      for (let from: number | null = 0; from !== null; ) {
        const at: number = from
        from = (await sql.begin((tx) => foldSearches(tx, { today, most: 2, from: at }))).next
      }
      const after = await unpacked()
      expect(Math.max(...after.values())).toBeLessThan(6)
      const changed = lists.filter((term) => after.get(term) !== before.get(term)).length
      if (night >= 6) expect(changed).toBe(2)
    }
    expect((await readings(sql)).length).toBe(7 * 14)
  })

  test("are there once when packing breaks off at any of its statements", async () => {
    await store(...searched(18).slice(0, 60))
    const before = await readings(sql)
    for (let statement = 1; ; statement++) {
      let made = 0
      const fails = (strings: TemplateStringsArray) => Array.isArray(strings) && "raw" in strings && ++made > statement
      const packed = await errorOf(
        sql.begin(async (tx) => {
          const cut = new Proxy(tx, {
            apply(target, self, [first, ...rest]) {
              const text = Array.isArray(first) ? first.join("").trim() : ""
              if (/^(select|delete|insert)/.test(text) && text.includes("\n") && fails(first))
                throw new Error("cut off")
              return Reflect.apply(target as never, self, [first, ...rest])
            },
          })
          await foldSearches(cut, { before: "2025-11-20", most: 9, from: 0 })
        }),
      )
      expect(await readings(sql)).toEqual(before)
      if (packed) continue
      expect(statement).toBeGreaterThan(4)
      break
    }
    expect((await sizes()).packed).toBeGreaterThan(20)
  })
})

longOnServer(
  "postgres: 4 processes that record the same readings in their own orders while they pack them leave what one leaves",
  async () => {
    const children = Array.from({ length: 4 }, (_, seed) =>
      Bun.spawn([process.execPath, join(import.meta.dirname, "../search-recorder.ts"), scratchUrl(sql), String(seed)], {
        stderr: "pipe",
      }),
    )
    for (const child of children) expect([await child.exited, await new Response(child.stderr).text()]).toEqual([0, ""])
    const together = await tellAll()
    await fresh()
    await store(...searched(19))
    expect(together).toEqual(await tellAll())
  },
  60_000,
)
