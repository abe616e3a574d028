import { beforeEach, expect, setDefaultTimeout, test } from "bun:test"
import fc from "fast-check"
import type { Sql } from "../../../src/database/types.ts"
import { findGap } from "../../../src/history/searches/gap.ts"
import { findAppKeywords } from "../../../src/history/searches/lists-holding.ts"
import { byAge } from "../../../src/history/searches/place-news.ts"
import { deriveKeywordMetrics } from "../../../src/observations/derived/keyword-metrics.ts"
import { rebuildNow } from "../../../src/observations/derived/now.ts"
import { record } from "../../../src/observations/record.ts"
import { type Observation, sourceOf } from "../../../src/observations/types.ts"
import { removeDemo } from "../../../src/tracking/remove-demo.ts"
import { freshDatabase } from "../../database.ts"
import { cases, long } from "../../long.ts"
import { NOW, published, reading } from "../../observations/measured.ts"
import { answering } from "./answering.ts"

setDefaultTimeout(120_000)

const LISTS = { platform: "ios", storefront: "us", since: "2025-11-14", today: "2025-11-20" } as const
const IDS = ["10001", "10002", "10003", "10004"]
// letters of one, two, three and four bytes, of which the last are two halves here
const TERMS = ["tea", "Tea", "té", "tea,\u0001", "\uff54ea", "\u{1f375} tea", "mate", "m\u{1f9c9}", "m\uff54"]

let sql: Sql
let apps: number[]

beforeEach(async () => {
  sql = await freshDatabase()
  await record(sql, [reading("all of them", "2025-11-19T10:00:00Z", IDS, { storefront: "fr" })], () => NOW)
  const rows = await sql<{ id: number }[]>`select id from store_app where store_id = any(${IDS}) order by store_id`
  apps = rows.map(({ id }) => id)
})

/** A handle that nothing is kept by. */
const unkept = () => new Proxy(sql, {})

/** All pages of a gap, with what the first says of all. */
async function gapOf(of: Sql, asked: readonly number[], limit = 3) {
  const { keywords, ...first } = await findGap(of, LISTS, asked, { after: null, limit })
  for (let count = limit; keywords.length === count; count += limit)
    keywords.push(...(await findGap(of, LISTS, asked, { after: keywords.at(-1)!, limit })).keywords)
  return { ...first, keywords }
}

async function keywordsOf(of: Sql, app: number) {
  const query = { app, beside: apps[0]!, tracker: null }
  return await findAppKeywords(of, LISTS, query, { after: null, limit: 1_000 })
}

interface Row {
  term: string
  day: string
  source: number
  depth: number
  origin: string
  ids: number[]
  popularity: number | null
  until: string | null
}

/** The same by a walk over all that stands now. */
async function walked(asked: readonly number[]) {
  const rows = await sql<Row[]>`
    select term, day, source, depth, origin, app_ids as ids, popularity, popular_until as until
    from list_now
    where platform = 'ios' and storefront = 'us'`
  const market = rows.filter(({ day, origin }) => day >= LISTS.since && origin !== "demo")
  const found = market.flatMap(({ ids, term, day, source, depth, origin, popularity, until }) => {
    const ranks = asked.map((app) => ids.indexOf(app) + 1 || null)
    const held = ranks.filter((rank) => rank !== null).length
    const young = until === null || until >= LISTS.today ? popularity : null
    const answer = { depth, day, source: sourceOf(source), origin }
    return held === 0 ? [] : [{ term, held, ranks, popularity: young, ...answer }]
  })
  found.sort(
    (a, b) =>
      b.held - a.held ||
      (b.popularity ?? 0) - (a.popularity ?? 0) ||
      Buffer.compare(Buffer.from(a.term), Buffer.from(b.term)),
  )
  const totals = asked.map((_, at) => found.filter(({ ranks }) => ranks[at] !== null).length)
  return { totals, total: found.length, searched: market.length, keywords: found }
}

async function expectWalked(asked: readonly number[]): Promise<number> {
  const kept = await gapOf(sql, asked)
  const keywords = kept.keywords.map(({ term, held, ranks, popularity, keyword }) => {
    const { depth, day, source, origin } = keyword
    return { term, held, ranks, popularity, depth, day, source, origin }
  })
  expect({ ...kept, keywords }).toEqual(await walked(asked))
  expect(kept).toEqual(await gapOf(unkept(), asked))
  return keywords.length
}

const anySearch = fc
  .record({
    term: fc.constantFrom(...TERMS),
    day: fc.constantFrom("2025-11-13", "2025-11-14", "2025-11-19", "2025-11-20"),
    hour: fc.constantFrom("00:00:00", "09:00:00", "11:00:00"),
    storefront: fc.constantFrom("us", "us", "us", "gb"),
    complete: fc.constantFrom(true, true, true, false),
    origin: fc.constantFrom("own", "own", "own", "demo", "a peer"),
    ids: fc.uniqueArray(fc.constantFrom(...IDS, "10009"), { maxLength: 5 }),
  })
  .map(({ term, day, hour, ids, ...rest }) => reading(term, `${day}T${hour}Z`, ids, { ...rest, depth: 5 + ids.length }))
const anyPublished = fc
  .record({
    term: fc.constantFrom(...TERMS.slice(0, 4)),
    month: fc.constantFrom("2025-08-01", "2025-09-01"),
    popularity: fc.integer({ min: 1, max: 4 }),
  })
  .map(({ term, month, popularity }) => published(term, month, popularity))
const anySeen: fc.Arbitrary<Observation> = fc.oneof({ weight: 4, arbitrary: anySearch }, anyPublished)
const anyStep = fc.oneof(
  { weight: 8, arbitrary: fc.array(anySeen, { minLength: 1, maxLength: 4 }) },
  { weight: 3, arbitrary: fc.constantFrom("figures" as const, "demo" as const, "lost" as const) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 99 }) },
)

/** A number is a difficulty. */
async function take(step: readonly Observation[] | "figures" | "demo" | "lost" | number): Promise<void> {
  const lists = TERMS.map((term) => ({ platform: "ios" as const, storefront: "us", term }))
  if (step === "figures") return void (await sql.begin((tx) => deriveKeywordMetrics(tx, lists, NOW)))
  if (typeof step === "number")
    return void (await sql`
      update keyword_now set (difficulty, difficulty_day, difficulty_at) = (${step}, '2025-11-19', ${NOW})`)
  if (step === "demo") return void (await removeDemo(sql))
  if (step !== "lost") return void (await record(sql, step, () => NOW))
  await sql`delete from list_now where term < 'm'`
  await expectWalked(apps)
  await rebuildNow(sql, async () => {})
}

test("whatever was written since, what is kept says what a walk finds, and as one who keeps nothing says it", async () => {
  let rows = 0
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { minLength: 4, maxLength: 12 }), async (steps) => {
      for (const [at, step] of steps.entries()) {
        await take(step)
        // some are asked for later than others
        rows += await expectWalked(apps.slice(at % 3))
        const app = apps[at % 4]!
        expect(await keywordsOf(sql, app)).toEqual(await keywordsOf(unkept(), app))
      }
    }),
    { seed: 20251119, numRuns: cases(2, 24) },
  )
  expect(rows).toBeGreaterThan(cases(5, 80))
})

const inUs = (term: string, at: string, ids: readonly string[], depth: number) =>
  record(sql, [reading(term, `2025-11-${at}Z`, ids, { depth })], () => NOW)
const shownOf = async (of = sql) =>
  (await gapOf(of, apps.slice(0, 2))).keywords.map(({ term, ranks, keyword }) => [term, ...ranks, keyword.depth])

// the embedded database does one thing at a time
test.skipIf(!process.env.DATABASE_URL)(
  "postgres: who writes while others begin and end is read when he has ended, however early he began",
  async () => {
    for (const term of ["a", "b", "c"]) await inUs(term, "19T10:00:00", ["10001", "10002"], 10)
    const before = (term: string) => [term, 1, 2, 10]
    expect(await shownOf()).toEqual(["a", "b", "c"].map(before))
    const [written, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const slow = sql.begin(async (tx) => {
      await tx`update list_now set app_ids = ${[apps[1]!]}::int[], depth = 20 where term = 'b'`
      written.resolve()
      await end.promise
    })
    await written.promise
    const ends = []
    for (const term of ["a", "c"]) {
      await inUs(term, "20T10:00:00", ["10002", "10001"], 30)
      ends.push(await shownOf())
    }
    end.resolve()
    await slow
    const [a, b, c] = [
      ["a", 2, 1, 30],
      ["b", null, 1, 20],
      ["c", 2, 1, 30],
    ]
    expect([...ends, await shownOf(), await shownOf()]).toEqual([[a, before("b"), before("c")], [a, before("b"), c], [a, c, b], [a, c, b]]) // biome-ignore format: one line
  },
)

const FIRST = Date.parse("2025-11-20T10:10:00Z")
test("calls beside readings are each told of one moment: ranks and the depth of their answer go together", async () => {
  const [turns, told] = [cases(6, 30), [] as { held: number; depth: number; ranks: Map<number, number | null> }[]]
  const waiting: { begun: number; resolve: () => void }[] = []
  let begun = 0
  // one is missing each time
  const idsAt = (turn: number) => [...IDS.slice(turn % 4), ...IDS.slice(0, turn % 4)].slice(turn % 3)
  const write = async (term: string) => {
    for (let turn = 0; turn < turns; turn++) {
      await inUs(term, new Date(FIRST + 60_000 * turn).toISOString().slice(8, 19), idsAt(turn), 100 + turn)
      // until a call that began after it is answered: a busy machine writes all before the first is
      await new Promise<void>((resolve) => waiting.push({ begun, resolve }))
    }
  }
  let isOver = false
  const ask = async (asked: readonly number[]) => {
    while (!isOver) {
      const call = ++begun
      for (const { ranks, keyword, held } of (await gapOf(sql, asked)).keywords)
        told.push({ held, depth: keyword.depth, ranks: new Map(asked.map((app, at) => [app, ranks[at]!])) })
      for (const one of waiting) if (one.begun < call) one.resolve()
    }
  }
  const writing = Promise.all(["tea", "mate", "té"].map(write)).then(() => {
    isOver = true
  })
  await Promise.all([writing, ...[apps, apps.slice(1), apps.toReversed()].map(ask)])
  expect(new Set(told.map(({ depth }) => depth)).size).toBeGreaterThan(2)
  for (const { held, depth, ranks } of told) {
    const ids = idsAt(depth - 100)
    const expected = [...ranks.keys()].map((app) => ids.indexOf(IDS[apps.indexOf(app)]!) + 1 || null)
    expect([held, ...ranks.values()]).toEqual([expected.filter((rank) => rank !== null).length, ...expected])
  }
  await expectWalked(apps)
})

test("what is written while a call asks is told as it stands at the end; an answer that comes late is taken for nothing", async () => {
  await inUs("tea", "19T10:00:00", ["10001"], 10)
  await inUs("mate", "19T10:00:00", ["10001", "10002"], 10)
  const two = apps.slice(0, 2)
  const late = answering(sql)
  // where they stand is known, and what is shown of it is about to be read
  const { before } = late
  let count = 0
  late.before = async () => {
    count += 1
    if (count === 2) await inUs("tea", "20T10:00:00", ["10002", "10003", "10001"], 20)
  }
  expect(await gapOf(late.sql, two)).toEqual(await gapOf(unkept(), two))
  expect(count).toBeGreaterThan(2)
  late.before = before
  // read before something was written, and brought when another was told of it
  const [arrived, brought] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  late.answer = async (row) => {
    arrived.resolve()
    await brought.promise
    return row
  }
  const slow = gapOf(late.sql, apps.slice(0, 3))
  await arrived.promise
  late.answer = (row) => row
  await inUs("mate", "20T10:00:00", ["10003"], 20)
  expect(await gapOf(late.sql, two)).toEqual(await gapOf(unkept(), two))
  brought.resolve()
  const now = await gapOf(unkept(), apps.slice(0, 3))
  expect(now.totals).toEqual([1, 1, 2])
  expect([await slow, await gapOf(late.sql, apps.slice(0, 3))]).toEqual([now, now])
})

test("what is written before any one of a call's statements is told whole or not at all, and by the next call whole", async () => {
  const many = Array.from({ length: 450 }, (_, i) => `term ${i}`)
  await record(
    sql,
    many.map((term) => reading(term, "2025-11-19T10:00:00Z", IDS)),
    () => NOW,
  )
  const two = apps.slice(0, 2)
  const all = (of: Sql) => findGap(of, LISTS, two, { after: null, limit: 1_000 })
  const later = new Set<boolean>()
  for (let at = 1; at <= 6; at++) {
    const before = await all(unkept())
    const handle = answering(sql)
    let count = 0
    handle.before = async () => {
      count += 1
      if (count !== at) return
      for (const term of ["term 1", "term 400"])
        await inUs(term, `20T${9 + at}:00:00`, at % 2 === 0 ? IDS : IDS.slice(1).toReversed(), 100 + at)
      await inUs(`new ${at}`, `20T${9 + at}:00:00`, IDS, 100 + at)
    }
    const told = await all(handle.sql)
    const after = await all(unkept())
    expect([before, after]).toContainEqual(told)
    later.add(Bun.deepEquals(told, after))
    expect(await all(handle.sql)).toEqual(after)
  }
  expect(later.has(true)).toBe(true)
})

test("a call beside readings that never pause is answered, as of a moment at which it was under way", async () => {
  await inUs("tea", "19T10:00:00", ["10001", "10002"], 10)
  const busy = answering(sql)
  let turn = 0
  busy.before = async () => void (await inUs(`tea ${++turn}`, "20T10:00:00", ["10001", "10002"], 20))
  const told = await gapOf(busy.sql, apps.slice(0, 2), 1_000)
  expect([told, told.total]).toEqual([await gapOf(unkept(), apps.slice(0, 2), 1_000), turn + 1])
})

test("of two snapshots the one that shows less is the earlier one", () => {
  const snapshots = ["10:10:", "10:12:10,11", "10:12:10", "12:12:", "12:9007199254740993:", "12:9007199254740994:"]
  const taken = snapshots.map((snapshot) => ({ snapshot }))
  expect(taken.toReversed().sort(byAge)).toEqual(taken)
})

test("terms of one place come by their bytes, letters that are two in JavaScript among them", async () => {
  await record(
    sql,
    TERMS.map((term) => reading(term, "2025-11-19T10:00:00Z", ["10001"])),
    () => NOW,
  )
  expect(await expectWalked(apps)).toBe(TERMS.length - 1)
})

long("many that are written at once are read anew, and so is what was written past the triggers", async () => {
  const many = Array.from({ length: 600 }, (_, i) => `term ${i}`)
  const read = (day: number, ids: string[]) =>
    record(
      sql,
      many.map((term) => reading(term, `2025-11-${day}T10:00:00Z`, ids)),
      () => NOW,
    )
  await read(19, ["10001"])
  expect((await gapOf(sql, apps.slice(0, 2), 1_000)).totals).toEqual([600, 0])
  await read(20, ["10002", "10001"])
  expect((await gapOf(sql, apps.slice(0, 2), 1_000)).totals).toEqual([600, 600])
  await expectWalked([apps[1]!])
  for (const term of ["popular", "one more"]) await inUs(term, "20T10:00:00", ["10004"], 10)
  await record(sql, [published("popular", "2025-09-01", 50)], () => NOW)
  const { total, keywords } = await findGap(sql, LISTS, [apps[3]!], { after: null, limit: 1 })
  expect([total, keywords.map(({ term }) => term)]).toEqual([2, ["popular"]])
  await sql`alter table list_now disable trigger user`
  await sql`delete from list_now where term = 'one more'`
  await sql`alter table list_now enable trigger user`
  expect((await gapOf(sql, [apps[3]!])).keywords.map(({ term }) => term)).toEqual(["popular"])
})

long(
  "rows with numbers of another database, yet to come here, are no news; a database that has gone back is read anew",
  async () => {
    await inUs("tea", "19T10:00:00", ["10001"], 10)
    await sql`update list_news set changed = '9000000000'`
    expect(await shownOf()).toEqual([["tea", 1, null, 10]])
    await inUs("tea", "20T10:00:00", ["10002", "10001"], 20)
    expect(await shownOf()).toEqual([["tea", 2, 1, 20]])
    // what this one keeps it has read far later
    const later = answering(sql)
    later.answer = (row) => ({ ...row, snapshot: "9000000000:9000000000:", changed: null, isBehind: false })
    expect(await shownOf(later.sql)).toEqual([["tea", 2, 1, 20]])
    later.answer = (row) => row
    await inUs("tea", "20T11:00:00", ["10001", "10002"], 30)
    expect(await shownOf(later.sql)).toEqual([["tea", 1, 2, 30]])
  },
)
