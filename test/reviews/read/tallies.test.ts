import { beforeEach, expect, setDefaultTimeout } from "bun:test"
import type { Sql } from "../../../src/database/types.ts"
import { readWrittenReviews } from "../../../src/keywords/read/day-facts.ts"
import { addDays } from "../../../src/lib/days.ts"
import type { StoreReview } from "../../../src/reviews/kinds/review-shape.ts"
import { findReviews } from "../../../src/reviews/read/find.ts"
import { readFeedState } from "../../../src/reviews/read/reviews.ts"
import { tallyReviews } from "../../../src/reviews/read/tallies.ts"
import { rebuildReviews } from "../../../src/reviews/store/rebuild-reviews.ts"
import { freshDatabase } from "../../database.ts"
import { cases, long, slow } from "../../long.ts"
import { randomFrom } from "../../market/formulas/calibration.ts"
import { NOW } from "../../measuring/record/measured.ts"
import { reviewed, written } from "../../measuring/record/reviewed.ts"
import { record } from "../../record.ts"

setDefaultTimeout(60_000)

let sql: Sql

beforeEach(async () => {
  sql = await freshDatabase()
})

const HOUR = 3_600_000
const BEGIN = Date.UTC(2025, 10, 1)
const PAGE = 4

/** A simulated store and its reader over time: reviews are written, edited, deleted and read. */
interface World {
  storeId: string
  listed: StoreReview[]
  stored: Map<string, { at: number; firstSeen: number }>
  completeAt: number | null
  /** The store's reviews at the latest complete reading. */
  stood: StoreReview[]
}

/**
 * Reads page by page until a page contains a known review, like sources/read-reviews, or stops after `breaksOff` pages.
 */
async function read(world: World, now: number, { most, breaksOff }: { most: number; breaksOff: number | null }) {
  const listed = world.listed.toSorted((a, b) => b.at.getTime() - a.at.getTime()).slice(0, most)
  const pages: StoreReview[][] = []
  const isKnown = ({ id, at }: StoreReview) => {
    const stored = world.stored.get(id)
    return world.completeAt !== null && stored?.at === at.getTime() && stored.firstSeen <= world.completeAt
  }
  for (let from = 0; from < listed.length; from += PAGE) {
    if (breaksOff !== null && pages.length === breaksOff) break
    pages.push(listed.slice(from, from + PAGE))
    if (pages.at(-1)!.some(isKnown)) break
  }
  const complete = breaksOff === null || pages.length < breaksOff
  if (pages.length === 0) return
  const observations = pages.map((reviews, i) => {
    const end = { end: { pages: pages.length, complete, empty: false } }
    const isLast = i === pages.length - 1
    return reviewed(new Date(now + i * 1_000).toISOString(), reviews, { storeId: world.storeId, ...(isLast && end) })
  })
  await record(sql, observations, () => NOW)
  for (const [i, reviews] of pages.entries())
    for (const { id, at } of reviews) {
      const before = world.stored.get(id)
      const firstSeen = before?.at === at.getTime() ? before.firstSeen : now + i * 1_000
      world.stored.set(id, { at: at.getTime(), firstSeen })
    }
  if (!complete) return
  world.completeAt = now + (pages.length - 1) * 1_000
  world.stood = [...world.listed]
}

slow("in random histories no covered day misses a review, and exactly the covered days are measured", async () => {
  const random = randomFrom(20_251_122)
  let covered = 0
  let uncovered = 0
  for (let round = 0; round < cases(2, 12); round++) {
    const world: World = { storeId: String(20_000 + round), listed: [], stored: new Map(), completeAt: null, stood: [] }
    // Either the store lists only its newest reviews, or readings stop early.
    const most = round % 2 === 0 ? 12 : 1_000
    const pace = 0.05 + random() * 0.4
    for (let hour = 0; hour < 16 * 24; hour++) {
      const now = BEGIN + hour * HOUR
      const place = Math.floor(random() * world.listed.length)
      if (random() < pace) world.listed.push(written({ id: `${round}-${hour}`, at: new Date(now) }))
      if (random() < 0.02) world.listed.splice(place, 1)
      const edited = world.listed[place]
      if (edited && random() < 0.02) world.listed[place] = { ...edited, at: new Date(now + 1), text: `edited ${hour}` }
      if (random() > 0.03) continue
      const breaksOff = most === 1_000 && random() < 0.4 ? 1 + Math.floor(random() * 3) : null
      await read(world, now + 60_000, { most, breaksOff })
    }
    const first = 1 + Math.floor(random() * 8)
    const days = { from: day(first), to: day(first + Math.floor(random() * 12)) }
    const found = await coveredOf(world, days)
    expect([round, await measuredOf(world, days)]).toEqual([round, [...found]])
    covered += found.size
    uncovered += (Date.parse(days.to) - Date.parse(days.from)) / (24 * HOUR) + 1 - found.size
    for (const { id, at } of world.stood) {
      if (!found.has(at.toISOString().slice(0, 10))) continue
      expect([round, id, (world.stored.get(id)?.at ?? 0) >= at.getTime()]).toEqual([round, id, true])
    }
  }
  expect(covered).toBeGreaterThan(cases(3, 30))
  expect(uncovered).toBeGreaterThan(cases(0, 10))
})

function day(number: number): string {
  return `2025-11-${String(number).padStart(2, "0")}`
}

async function coveredOf({ storeId }: World, days: { from: string; to: string }): Promise<ReadonlySet<string>> {
  const [app] = await sql<{ id: number }[]>`select id from store_app where store_id = ${storeId}`
  if (!app) return new Set()
  const feed = { appId: app.id, feed: "us" }
  return (await tallyReviews(sql, feed, days, await readFeedState(sql, feed))).covered
}

/** Returns the days for which get_today and the portfolio have figures. */
async function measuredOf({ storeId }: World, { from, to }: { from: string; to: string }): Promise<string[]> {
  const [app] = await sql<{ id: number }[]>`select id from store_app where store_id = ${storeId}`
  const measured: string[] = []
  for (let at = from; app && at <= to; at = addDays(at, 1)) {
    const span = { from: new Date(`${at}T00:00:00Z`), to: new Date(`${addDays(at, 1)}T00:00:00Z`), now: NOW }
    const [day] = await readWrittenReviews(sql, [{ app: app.id, feed: "us" }], span)
    if (day!.measured) measured.push(at)
  }
  return measured
}

long("25,000 reviews are read in chunks, each review once, although many have the same time", async () => {
  await sql`insert into store_app (platform, store_id) values ('ios', '10001')`
  await sql`
    insert into review_version (
      app_id, feed, review_id, digest, current, stars, text, folded, version, at, first_seen_at, seen_at, source,
      parser, origin, sha256
    )
    select 1, 'us', 'r' || n, decode(lpad(to_hex(n), 32, '0'), 'hex'), true, 1 + n % 5, 'Text ' || n,
      case when n % 7 > 0 then 'text ' || n end, '1.' || n % 3, moment, '2025-11-19Z', '2025-11-19Z', 'apple-reviews',
      1, 'own', '\\x00'
    from (select n, '2025-11-18Z'::timestamptz - n / 40 * interval '1 hour' as moment
    from generate_series(1, 25000) n) s`
  expect(await rebuildReviews(sql, async () => {})).toBe(29)
  await sql`analyze review_version`
  const feed = { appId: 1, feed: "us" }
  const days = { from: "2008-07-10", to: "2025-11-20" }
  const all = Array.from({ length: 25_000 }, (_, i) => i + 1)
  const newestFirst = all.toSorted((a, b) => Math.floor(a / 40) - Math.floor(b / 40) || (`r${a}` < `r${b}` ? -1 : 1))

  const found = await findReviews(sql, { ...feed, ...days }, 21_000)
  expect(found.total).toBe(25_000)
  expect(found.reviews.map(({ id }) => id)).toEqual(newestFirst.slice(0, 21_000).map((n) => `r${n}`))
  const holding = newestFirst.filter((n) => `Text ${n}`.includes("99"))
  const searched = await findReviews(sql, { ...feed, ...days, text: "99" }, 300)
  expect(searched.total).toBe(holding.length)
  expect(searched.reviews.map(({ id }) => id)).toEqual(holding.slice(0, 300).map((n) => `r${n}`))

  const { tallies } = await tallyReviews(sql, feed, days, await readFeedState(sql, feed))
  const counted = new Map<string, number>()
  for (const { day, version, stars, count } of tallies) {
    const key = `${day} ${version} ${stars}`
    counted.set(key, (counted.get(key) ?? 0) + count)
  }
  const expected = new Map<string, number>()
  for (const n of all) {
    const at = new Date(Date.UTC(2025, 10, 18) - Math.floor(n / 40) * HOUR).toISOString().slice(0, 10)
    const key = `${at} 1.${n % 3} ${1 + (n % 5)}`
    expected.set(key, (expected.get(key) ?? 0) + 1)
  }
  expect([...counted].sort()).toEqual([...expected].sort())
})
