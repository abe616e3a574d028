import { beforeAll, describe, expect, test } from "bun:test"
import { join } from "node:path"
import fc from "fast-check"
import type { Sql } from "../../../../src/database/types.ts"
import { readWrittenReviews } from "../../../../src/keywords/read/day-facts.ts"
import type { Observation } from "../../../../src/kinds.ts"
import { findReviews } from "../../../../src/reviews/read/find.ts"
import { countNewReviews, type FeedKey, readFeedState } from "../../../../src/reviews/read/reviews.ts"
import { type FeedTallies, tallyReviews } from "../../../../src/reviews/read/tallies.ts"
import { rebuildReviews } from "../../../../src/reviews/store/rebuild-reviews.ts"
import { deleteRows, freshDatabase, scratchUrl } from "../../../database.ts"
import { cases, slow } from "../../../long.ts"
import { record } from "../../../record.ts"
import { feedByReviews, newByReviews, writtenByReviews } from "../../../reviews/read/known-by-reviews.ts"
import { tallyByReviews } from "../../../reviews/read/tally-by-reviews.ts"
import { NOW, stored } from "../measured.ts"
import { daysByTruth, readStoredDays } from "../review-days.ts"
import { reviewed, reviewedOnPlay } from "../reviewed.ts"

let sql: Sql
beforeAll(async () => {
  sql = await freshDatabase()
})

const noPause = async () => {}

async function empty(): Promise<void> {
  await deleteRows(sql, "review_version", "review_read", "review_day", "review_feed")
}

// few reviews, days and times, so that readings collide, edit each other's reviews, move them to other days, and leave
// gaps
const anyReview = fc.record({
  id: fc.constantFrom("1", "2", "3", "4", "B", "a"),
  stars: fc.constantFrom(1, 3, 5),
  version: fc.constantFrom("1.9", "1.10", undefined),
  at: fc
    .record({
      day: fc.constantFrom("08", "09", "10", "11"),
      time: fc.constantFrom("00:00:00", "09:30:00", "23:59:59.999"),
    })
    .map(({ day, time }) => new Date(`2025-11-${day}T${time}Z`)),
  text: fc.constantFrom("Good tea", "Bad tea", ""),
})
const anyPage = fc
  .record({
    seenAt: fc.constantFrom("10T00:00:00", "11T12:00:00", "11T12:30:00", "12T18:00:00", "13T18:00:00"),
    reviews: fc.uniqueArray(anyReview, { maxLength: 4, selector: ({ id }) => id }),
    end: fc.constantFrom(null, true, false),
    play: fc.boolean(),
    parser: fc.constantFrom(1, 2),
  })
  .map(({ seenAt, reviews, end, play, parser }): Observation => {
    const isEmpty = reviews.length === 0
    const ending = end === null ? {} : { end: { pages: 1, complete: end || isEmpty, empty: isEmpty } }
    const listed = reviews.map(({ version, ...rest }) => ({ ...rest, ...(version && { version }) }))
    return (play ? reviewedOnPlay : reviewed)(`2025-11-${seenAt}Z`, listed, { ...ending, parser })
  })

const feeds = async () => await sql<FeedKey[]>`select distinct app_id as "appId", feed from review_feed order by 1, 2`

/** Returns every answer about a feed, from the stored rows or from the reviews themselves. */
async function answersOf(feed: FeedKey, isStored: boolean): Promise<object> {
  const state = await (isStored ? readFeedState : feedByReviews)(sql, feed)
  const spans = [
    { from: "2025-11-07", to: "2025-11-12" },
    { from: "2025-11-09", to: "2025-11-10" },
    { from: "2025-11-11", to: "2025-11-11" },
  ]
  const tallied = []
  const written = []
  for (const days of spans) {
    tallied.push(tallyOf(await (isStored ? tallyReviews : tallyByReviews)(sql, feed, days, state)))
    for (const hour of ["00", "11"]) {
      const span = { from: new Date(`${days.from}T${hour}:00Z`), to: new Date(`${days.to}T${hour}:00Z`), now: NOW }
      const appFeeds = [{ app: feed.appId, feed: feed.feed }]
      written.push(await (isStored ? readWrittenReviews : writtenByReviews)(sql, appFeeds, span))
    }
  }
  return { state, newest: await (isStored ? countNewReviews : newByReviews)(sql, feed, state), tallied, written }
}

function tallyOf({ tallies, covered }: FeedTallies): object {
  const lines = tallies.map(({ day, version, stars, count }) => `${day} ${version} ${stars}: ${count}`)
  return { lines: lines.sort(), covered: [...covered] }
}

const FILTERS = [{}, { stars: [5] }, { stars: [1, 5] }, { version: "1.10" }, { stars: [1, 3], version: "1.9" }] as const

/** Compares the reviews found by day with those found by scanning the rows. */
async function found(feed: FeedKey, limit: number): Promise<[object[], object[]]> {
  const days = { from: "2025-11-09", to: "2025-11-11" }
  const rows = await sql<{ id: string; stars: number; version: string | null; day: string; at: Date }[]>`
    select review_id as id, stars, version, (at at time zone 'utc')::date as day, at
    from review
    where app_id = ${feed.appId} and feed = ${feed.feed}`
  const newest = rows.toSorted((a, b) => +b.at - +a.at || (a.id < b.id ? -1 : 1))
  const found: object[] = []
  const searches: object[] = []
  for (const filter of FILTERS) {
    const { stars, version } = filter as { stars?: readonly number[]; version?: string }
    const matching = newest.filter(
      (row) =>
        row.day >= days.from &&
        row.day <= days.to &&
        (!stars || stars.includes(row.stars)) &&
        (!version || version === row.version),
    )
    searches.push({ total: matching.length, ids: matching.slice(0, limit).map(({ id }) => id) })
    const { total, reviews } = await findReviews(sql, { ...feed, ...days, ...filter }, limit)
    found.push({ total, ids: reviews.map(({ id }) => id) })
  }
  return [found, searches]
}

describe("derived review rows", () => {
  slow(
    "derived review rows depend only on the reviews, in any order and when recorded twice",
    async () => {
      const shapes = { gaps: 0, moved: 0, joined: 0, some: 0 }
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.array(anyPage, { maxLength: 4 }), { minLength: 1, maxLength: 5 }),
          async (steps) => {
            await empty()
            for (const pages of [...steps, ...steps.toReversed()]) {
              await record(sql, pages, () => NOW)
              expect(await readStoredDays(sql)).toEqual(await daysByTruth(sql))
            }
            const before = await stored(sql)
            for (const pages of steps.toReversed()) await record(sql, pages, () => NOW)
            expect(await stored(sql)).toBe(before)
            expect(await rebuildReviews(sql, noPause)).toBe(0)
            for (const feed of await feeds()) {
              expect(await answersOf(feed, true)).toEqual(await answersOf(feed, false))
              for (const limit of [1, 2, 100]) {
                const [byDays, byRows] = await found(feed, limit)
                expect(byDays).toEqual(byRows)
              }
            }
            const [shape] = await sql`
          select
            (select count(*) from review_day where gap_seen_at is not null) as gaps,
            (
              select count(*)
              from review_version one
              join review_version other using (app_id, feed, review_id)
              where one.at < other.at - interval '1 day'
            ) as moved,
            (select count(*) from review_feed where complete and not empty) as joined,
            (select count(*) from review_feed where read_at is null) as some`
            for (const name of Object.keys(shapes) as (keyof typeof shapes)[]) shapes[name] += shape![name]
          },
        ),
        { seed: 20251120, numRuns: cases(10, 25) },
      )
      expect(Object.values(shapes).every((count) => count > 0)).toBe(true)
    },
    240_000,
  )

  test("reviews are stored together with their derived rows or not at all", async () => {
    await empty()
    await record(sql, [reviewed("2025-11-11T12:00:00Z", [{ id: "1" }])], () => NOW)
    const before = await stored(sql)
    const more = reviewed("2025-11-12T12:00:00Z", [
      { id: "1", text: "edited", at: new Date("2025-11-09T00:00:00Z") },
      { id: "2" },
    ])
    const stopped = record(sql, [more], () => NOW, {
      finish: async (tx) => {
        expect(await tx`select from review_day where day = '2025-11-09'`).toHaveLength(1)
        throw new Error("killed")
      },
    })
    expect(String(await stopped.catch((error) => error))).toContain("killed")
    expect(await stored(sql)).toBe(before)
  })

  test("lost, wrong or superfluous derived review rows are rebuilt, and correct ones are unchanged", async () => {
    await empty()
    const end = { end: { pages: 1, complete: true, empty: false } }
    const pages = ["us", "gb"].map((storefront) =>
      reviewed(
        "2025-11-19T10:00:00Z",
        Array.from({ length: 50 }, (_, n) => ({ id: `${n}`, at: new Date(Date.UTC(2025, 8, 1 + n)) })),
        { storefront, ...end },
      ),
    )
    await record(sql, pages, () => NOW)
    const before = await stored(sql)
    await sql`delete from review_day where feed = 'us' and day in ('2025-09-01', '2025-10-20')`
    await sql`update review_day set counts = '{2}', reviews = 2 where feed = 'gb' and day = '2025-09-30'`
    await sql`
      insert into review_day
      select app_id, feed, '2030-01-01', reviews, oldest_at, oldest_first_seen_at, first_seen_at, seen_at, gap_seen_at,
        versions, stars, counts
      from review_day
      where feed = 'us' and day = '2025-09-02'`
    await sql`update review_feed set complete = false where feed = 'gb'`
    await sql`
      insert into review_feed select app_id, 'xx', read_at, complete, empty, complete_at from review_feed
        where feed = 'us'`
    let pauses = 0
    const pause = async () => {
      pauses += 1
    }
    expect(await rebuildReviews(sql, pause)).toBe(6)
    expect(pauses).toBeGreaterThan(4)
    expect(await stored(sql)).toBe(before)
  })

  test.skipIf(!process.env.DATABASE_URL)(
    "postgres: derived review rows are correct after two processes record the same feeds concurrently",
    async () => {
      await empty()
      const children = [1, 2].map((seed) =>
        Bun.spawn(
          [process.execPath, join(import.meta.dirname, "../review-recorder.ts"), scratchUrl(sql), String(seed)],
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
      expect(await readStoredDays(sql)).toEqual(await daysByTruth(sql))
      expect(await rebuildReviews(sql, noPause)).toBe(0)
      expect((await readStoredDays(sql)).length).toBeGreaterThan(5)
    },
    60_000,
  )
})
