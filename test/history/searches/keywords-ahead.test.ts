import { beforeEach, expect, setDefaultTimeout, test } from "bun:test"
import type { Sql } from "../../../src/database/types.ts"
import { findGap } from "../../../src/history/searches/gap.ts"
import { record } from "../../../src/observations/record.ts"
import { freshDatabase } from "../../database.ts"
import { until } from "../../jobs/platform.ts"
import { long } from "../../long.ts"
import { NOW, reading } from "../../observations/measured.ts"
import { answering } from "./answering.ts"

setDefaultTimeout(120_000)

const LISTS = { platform: "ios", storefront: "us", since: "2025-11-14", today: "2025-11-20" } as const
const IDS = ["10001", "10002", "10003", "10004", "10005"]
/** Statements of a first call: where two apps stand, how many lists there are, and what is shown of 350. */
const FIRST = 5
/** What reads ahead of 700 lists: their ids, and 500 at once. */
const AHEAD = 3
/** A server is asked for two apps by two statements, and so is what does not say that it is none. */
const NEW_APPS = 2
const AT_LEAST = 1_000

let sql: Sql
let [one, two, three, four, five] = [0, 0, 0, 0, 0]

beforeEach(async () => {
  sql = await freshDatabase()
  await record(sql, [reading("all of them", "2025-11-19T10:00:00Z", IDS, { storefront: "fr" })], () => NOW)
  const rows = await sql<{ id: number }[]>`select id from store_app where store_id = any(${IDS}) order by store_id`
  ;[one, two, three, four, five] = rows.map(({ id }) => id) as [number, number, number, number, number]
})

/** All hold the last app, half of them the first two and half the others. */
async function fill(count: number): Promise<void> {
  await sql`
    insert into list (platform, storefront, term, first_day, last_day)
    select 'ios', 'us', 'term ' || i, '2025-11-20', '2025-11-20'
    from generate_series(1, ${count}::int) i`
  await sql`
    insert into list_now (list_id, day, source, depth, seen_at, platform, storefront, term, app_ids)
    select id, '2025-11-19', 10, 3, '2025-11-19T09:00:00Z', 'ios', 'us', term,
      case when substr(term, 6)::int % 2 = 0 then ${[one, two, five]}::int[] else ${[three, four, five]}::int[] end
    from list
    where term like 'term %'`
}

const gapOf = (of: Sql, apps: readonly number[], limit = AT_LEAST) => findGap(of, LISTS, apps, { after: null, limit })
/** As by a process that keeps nothing. */
const gapAnew = (apps: readonly number[]) => gapOf(new Proxy(sql, {}), apps)
const inUs = (term: string, at: string, ids: readonly string[]) =>
  record(sql, [reading(term, `2025-11-${at}Z`, ids, { depth: 10 })], () => NOW)

type Handle = ReturnType<typeof answering>

/** As after a call for others and what follows from it, by a server two statements for where they stand and two for what is shown. */
async function readAheadBy(handle: Handle): Promise<void> {
  await gapOf(handle.sql, [one, two])
  const first = handle.answered
  await until(() => handle.answered >= first + AHEAD)
}

/** By how many statements. */
async function statementsOf(handle: Handle, ask: () => Promise<unknown>): Promise<number> {
  const before = handle.answered
  await ask()
  return handle.answered - before
}

test("of an app of which nobody asked before nothing but its places is left to read, once others were asked of", async () => {
  await fill(700)
  const handle = answering(sql)
  await readAheadBy(handle)
  const gap = () => gapOf(handle.sql, [three, four])
  expect(await statementsOf(handle, async () => expect(await gap()).toEqual(await gapAnew([three, four])))).toBe(
    NEW_APPS,
  )
  await inUs("term 2", "20T10:00:00", ["10003"])
  expect(await gap()).toEqual(await gapAnew([three, four]))
  expect((await gap()).totals).toEqual([351, 350])
})

test("what is written before any of the statements that read ahead is told as it stands", async () => {
  await fill(700)
  for (let at = 1; at <= AHEAD; at++) {
    const handle = answering(sql)
    let count = 0
    handle.before = async () => {
      count += 1
      if (count !== FIRST + at) return
      // one that was shown, one of each piece, and one that is new
      for (const term of ["term 2", "term 5", "term 645", `new ${at}`])
        await inUs(term, `20T0${at}:00:00`, at % 2 === 0 ? IDS : IDS.slice(1).toReversed())
    }
    await gapOf(handle.sql, [one, two])
    await until(() => handle.answered >= FIRST + AHEAD)
    for (const apps of [[three, four], [one, three], [two]])
      expect(await gapOf(handle.sql, apps)).toEqual(await gapAnew(apps))
    // each of them was read ahead
    expect(await statementsOf(handle, () => gapOf(handle.sql, [five]))).toBe(1)
  }
})

test("a call that asks while keywords are read ahead is told what one who keeps nothing is told", async () => {
  await fill(700)
  const handle = answering(sql)
  let [isInside, asked, count] = [false, 0, 0]
  handle.before = async () => {
    count += 1
    if (count <= FIRST || isInside) return
    isInside = true
    await inUs(`term ${300 + asked}`, "20T11:00:00", IDS)
    expect(await gapOf(handle.sql, [two])).toEqual(await gapAnew([two]))
    asked += 1
    isInside = false
  }
  await gapOf(handle.sql, [one, two])
  await until(() => asked >= AHEAD)
  handle.before = async () => {}
  expect(await gapOf(handle.sql, [four, one])).toEqual(await gapAnew([four, one]))
})

test("a database that fails while keywords are read ahead fails no call, and they are read ahead by a later one", async () => {
  await fill(700)
  for (let at = 1; at <= AHEAD; at++) {
    const handle = answering(sql)
    let count = 0
    handle.before = async () => {
      count += 1
      if (count === FIRST + at) throw new Error("it is gone")
    }
    await gapOf(handle.sql, [one, two])
    await until(() => count >= FIRST + at)
    const first = handle.answered
    expect(await gapOf(handle.sql, [three, four])).toEqual(await gapAnew([three, four]))
    // where they stand, and what is shown of those that are not read yet
    if (at === AHEAD) continue
    await until(() => handle.answered >= first + 5)
    expect(await statementsOf(handle, () => gapOf(handle.sql, [five]))).toBe(1)
  }
})

test("a call inside a transaction reads nothing ahead: it would outlive it", async () => {
  await fill(700)
  const busy = answering(sql)
  let turn = 0
  busy.before = async () => void (await inUs(`new ${++turn}`, "20T10:00:00", IDS))
  expect((await gapOf(busy.sql, [one, two])).total).toBeGreaterThan(350)
  const counted = busy.answered
  await Bun.sleep(20)
  expect(busy.answered).toBe(counted)
})

long("a storefront with more keywords than are kept is not read ahead", async () => {
  await fill(20_001)
  const handle = answering(sql)
  await gapOf(handle.sql, [one, two])
  const first = handle.answered
  await Bun.sleep(100)
  expect(handle.answered).toBe(first)
  expect(await statementsOf(handle, () => gapOf(handle.sql, [three, four]))).toBeGreaterThan(NEW_APPS)
})

long("those asked for longest ago are kept no more where it is too much, and are read anew", async () => {
  await fill(4_000)
  await sql`update list_now set app_ids = ${[one, two]}::int[]`
  const handle = answering(sql)
  const statements = (today: string) =>
    statementsOf(handle, async () => {
      const asked = [one, two, three, four]
      const { keywords, total } = await findGap(handle.sql, { ...LISTS, today }, asked, { after: null, limit: 5_000 })
      expect([keywords.length, total]).toEqual([4_000, 4_000])
      const answered = handle.answered
      // what follows from a first call finds that all is read
      if (answered > 1) await Bun.sleep(50)
    })
  // where they stand, how many there are, and what is shown of them, 2,000 at once, by two statements; their ids
  const first = 8
  const days = Array.from({ length: 9 }, (_, i) => `2025-11-${20 + i}`)
  for (const day of days) expect(await statements(day)).toBe(first)
  expect([await statements("2025-11-28"), await statements("2025-11-27")]).toEqual([1, 1])
  expect(await statements("2025-11-20")).toBe(first)
})
