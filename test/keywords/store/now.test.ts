import { beforeAll, describe, expect, test } from "bun:test"
import { join } from "node:path"
import fc from "fast-check"
import type { Sql } from "../../../src/database/types.ts"
import { removeDemo } from "../../../src/demo/remove-demo.ts"
import { deriveKeywordMetrics } from "../../../src/keywords/store/keyword-metrics.ts"
import { rebuildNow } from "../../../src/keywords/store/now.ts"
import type { Observation } from "../../../src/kinds.ts"
import { RANK_SOURCES } from "../../../src/lib/upstreams.ts"
import { trackApp } from "../../../src/tracking/apps.ts"
import { deleteRows, freshDatabase, scratchUrl } from "../../database.ts"
import { cases, slow } from "../../long.ts"
import { hintsReading, NOW, newWorkspace, popularityReading, reading, stored } from "../../measuring/record/measured.ts"
import { nowByTruth, readStoredNow } from "../../measuring/record/now-truth.ts"
import { record } from "../../record.ts"

const TERMS = ["tea", "mate"]
const DAYS = ["2025-08-31", "2025-09-01", "2025-10-31", "2025-11-01", "2025-11-19", "2025-11-20"]

let sql: Sql
let workspaceId: number
beforeAll(async () => {
  sql = await freshDatabase()
  workspaceId = await newWorkspace(sql)
  const otherWorkspace = await newWorkspace(sql)
  await sql.begin(async (tx) => {
    const app = { countries: ["us"], origin: "own" as const }
    await trackApp(tx, { ...app, workspaceId, iosId: "10001", keywords: [...TERMS, "unread"] })
    await trackApp(tx, { ...app, workspaceId: otherWorkspace, iosId: "10001", keywords: ["mate"] })
    await trackApp(tx, { ...app, workspaceId, iosId: "10003", keywords: ["tea"] })
  })
})

// few times and depths, so that readings share a day, tie and replace one another
const anyTerm = fc.constantFrom(...TERMS)
const anyDay = fc.constantFrom(...DAYS)
const anySearch = fc
  .record({
    term: anyTerm,
    day: anyDay,
    hour: fc.constantFrom("00:00:00", "09:00:00", "11:59:59.999"),
    source: fc.constantFrom(...RANK_SOURCES.filter((source) => source !== "play-search")),
    extra: fc.constantFrom(0, 0, 5),
    complete: fc.boolean(),
    origin: fc.constantFrom("own", "own", "demo"),
    ids: fc.uniqueArray(fc.constantFrom("10001", "10002", "10003"), { maxLength: 3 }),
  })
  .map(({ term, day, hour, source, extra, complete, origin, ids }) =>
    reading(term, `${day}T${hour}Z`, ids, { source, complete, origin, depth: Math.max(1, ids.length) + extra }),
  )
const anyHint = fc
  .record({
    prefix: fc.constantFrom("tea", "te", "mate"),
    day: anyDay,
    terms: fc.subarray(["tea", "tea time", "mate"]),
  })
  .map(({ prefix, day, terms }) => hintsReading(prefix, `${day}T10:00:00Z`, terms))
const anyPublished = fc
  .record({
    term: anyTerm,
    month: fc.constantFrom("2025-08-01", "2025-09-01"),
    popularity: fc.integer({ min: 1, max: 9 }),
  })
  .map(({ term, month, popularity }) => popularityReading(term, month, popularity))
const anyObservation: fc.Arbitrary<Observation> = fc.oneof({ weight: 4, arbitrary: anySearch }, anyHint, anyPublished)

/** Readings that are recorded together, and the day on which figures are calculated afterwards. */
const anyStep = fc.record({ observations: fc.array(anyObservation, { maxLength: 8 }), day: fc.option(anyDay) })
type Step = { observations: Observation[]; day: string | null }

async function take({ observations, day }: Step): Promise<void> {
  await record(sql, observations, () => NOW)
  if (day === null) return
  const lists = TERMS.map((term) => ({ platform: "ios" as const, storefront: "us", term }))
  await sql.begin((tx) => deriveKeywordMetrics(tx, [...lists, lists[0]!], new Date(`${day}T11:00:00Z`)))
}

async function empty(): Promise<void> {
  await deleteRows(sql, "search_results", "hint_answer", "keyword_metric", "list_now", "keyword_now")
  await sql`update list set first_day = null, last_day = null`
  await rebuildNow(sql, async () => {})
}

describe("list_now and keyword_now", () => {
  slow(
    "the rows of both tables equal the latest stored values, in any order of recording and without the demo",
    async () => {
      const shapes = { ranks: 0, figures: 0 }
      await fc.assert(
        fc.asyncProperty(fc.array(anyStep, { minLength: 1, maxLength: 5 }), async (steps) => {
          await empty()
          for (const step of [...steps, ...steps.toReversed()]) {
            await take(step)
            expect(await readStoredNow(sql)).toEqual(await nowByTruth(sql))
          }
          const before = await stored(sql)
          for (const { observations } of steps) await record(sql, observations, () => NOW)
          expect(await stored(sql)).toBe(before)
          expect(await rebuildNow(sql, async () => {})).toEqual({ ranks: 0, figures: 0 })
          await removeDemo(sql)
          const { ranks, figures } = await readStoredNow(sql)
          expect({ ranks, figures }).toEqual(await nowByTruth(sql))
          shapes.ranks += ranks.length
          shapes.figures += figures.length
        }),
        { seed: 20251119, numRuns: cases(2, 16) },
      )
      expect([shapes.ranks > 0, shapes.figures > 0]).toEqual([true, true])
    },
    240_000,
  )

  slow(
    "missing, wrong and surplus rows of both tables are repaired, and correct rows are not written",
    async () => {
      await empty()
      const terms = Array.from({ length: 230 }, (_, n) => `term ${n}`)
      await record(
        sql,
        terms.flatMap((term) => [
          reading(term, "2025-11-19T10:00:00Z", [10001]),
          popularityReading(term, "2025-09-01", 5),
        ]),
        () => NOW,
      )
      const before = await stored(sql)
      const lists = await sql<{ id: number }[]>`select id from list where term like 'term %' order by id`
      const [first, second] = lists.map(({ id }) => id)
      await sql`delete from list_now where list_id = ${first!}`
      await sql`update list_now set app_ids = '{}' where list_id = ${second!}`
      await sql`delete from keyword_now where list_id <> ${first!}`
      await sql`update keyword_now set demand = 1, demand_day = '2025-11-19', demand_at = now()`
      await sql`insert into list (platform, storefront, term) values ('ios', 'us', 'never read')`
      await sql`
      insert into list_now (list_id, day, source, depth, seen_at, platform, storefront, term, app_ids)
      select max(l.id), '2025-11-01', 10, 1, now(), 'ios', 'us', 'never read', '{}'
      from list l`
      let pauses = 0
      const pause = async () => {
        pauses += 1
      }
      expect(await rebuildNow(sql, pause)).toEqual({ ranks: 3, figures: terms.length })
      expect(pauses).toBeGreaterThan(1)
      await sql`delete from list where term = 'never read'`
      expect(await stored(sql)).toBe(before)
    },
    60_000,
  )

  test.skipIf(!process.env.DATABASE_URL)(
    "postgres: both tables have the latest values after two processes read the same keywords simultaneously",
    async () => {
      await empty()
      const children = [1, 2].map((seed) =>
        Bun.spawn(
          [
            process.execPath,
            join(import.meta.dirname, "../../measuring/record/now-recorder.ts"),
            scratchUrl(sql),
            String(seed),
          ],
          {
            stderr: "pipe",
          },
        ),
      )
      const ends = await Promise.all(
        children.map(async (child) => [await child.exited, await new Response(child.stderr).text()]),
      )
      expect(ends).toEqual([
        [0, ""],
        [0, ""],
      ])
      const rows = await readStoredNow(sql)
      expect(rows).toEqual(await nowByTruth(sql))
      expect([rows.ranks.length, rows.figures.length]).toEqual([12, 12])
    },
    60_000,
  )
})
