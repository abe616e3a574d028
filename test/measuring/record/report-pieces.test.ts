import { beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { join } from "node:path"
import { readReportEvidence, SHOWN_ROWS } from "../../../src/consoles/read/read-evidence.ts"
import { readRestatements, readSales } from "../../../src/consoles/read/read-sales.ts"
import { rebuildAccounts } from "../../../src/consoles/store/derived/rebuild.ts"
import type { RowsObservation } from "../../../src/core/observation/facts.ts"
import type { Sql } from "../../../src/database/types.ts"
import type { Observation } from "../../../src/kinds.ts"
import { KINDS } from "../../../src/kinds.ts"
import { PIECE_ROWS, sweepSets } from "../../../src/measuring/record/report-sets.ts"
import { removeOld } from "../../../src/measuring/retention/remove-old.ts"
import { RETENTION } from "../../../src/recording.ts"
import { EXAMPLE_ACCOUNT, holdAccount, type PrivateKind, reported } from "../../consoles/reported.ts"
import { freshDatabase, scratchUrl } from "../../database.ts"
import { LONG, long, longOnServer, slow } from "../../long.ts"
import { record } from "../../record.ts"
import { stepped } from "../../writes/stepped.ts"
import { DAY, LATER, ROWS, sold } from "./report-pieces.ts"

setDefaultTimeout(60_000)

const OTHER = "ac_fedcba9876543210fe"
const PIECES = Math.ceil(ROWS / PIECE_ROWS)

let sql: Sql
beforeEach(async () => {
  sql = await freshDatabase()
  await holdAccount(sql)
})

/** Returns the units of the day. Null if there is no report of it. */
async function units(): Promise<number | null> {
  const reports = await sql`select from report_day where day = ${DAY}`
  const span = { from: DAY, to: DAY, country: null }
  const { total } = await readSales(sql, { id: EXAMPLE_ACCOUNT, sku: "TEA01" } as never, span)
  return reports.length > 0 ? total.subscriptions : null
}

async function sweep(): Promise<number> {
  let swept = 0
  for (let from = 0; ; ) {
    const { removed, next } = await sql.begin((tx) => sweepSets(tx, { chunk: 500, from, afterMinutes: 0 }))
    swept += removed
    if (next === null) return swept
    from = next
  }
}

/** Returns the number of rows in pieces of any report, and of facts in all sets. */
async function countStored() {
  const [row] = await sql<{ pieces: number; facts: number; sets: number }[]>`
    select (select count(*) from report_piece)::int as pieces, (select count(*) from sales_fact_row)::int as facts,
      (select count(*) from report_set)::int as sets`
  return { ...row! }
}

const failure = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: Error) => error.message,
  )

const recordAll = (...observations: Observation[]) => record(sql, observations, LATER)

describe.each(
  KINDS.filter(({ facts }) => facts).map(
    (kind, at) => [kind.name as PrivateKind, kind, at === 0 ? test : long] as const,
  ),
)("a report in pieces: %s", (name, kind, tried) => {
  const { table } = kind.facts!
  // estimates have a view of their own, so that they are never summed with settled sales
  const view = name === "play_sales" ? "estimated_sales_fact" : table.replace(/_row$/, "")

  /** Returns the sums as answers show them: counted columns, grouped by all others. */
  async function sums(account: string): Promise<unknown[]> {
    const columns = await sql<{ name: string; type: string }[]>`
        select column_name as name, data_type as type
        from information_schema.columns
        where table_name = ${view} and column_name not in ('account_id', 'place')
        order by 1`
    const isCounted = (type: string) => type === "integer" || type === "numeric"
    const counted = columns
      .filter(({ type }) => isCounted(type))
      .map((column) => sql`sum(${sql(column.name)})::text as ${sql(column.name)}`)
    const keyColumns = columns.filter(({ type }) => !isCounted(type)).map((column) => sql(column.name))
    const list = (parts: unknown[]) =>
      parts.map((part, i) => (i === 0 ? sql`${part as never}` : sql`, ${part as never}`))
    const rows = await sql`
        select ${list([...keyColumns, ...counted])}
        from ${sql(view)}
        where account_id = ${account}
        group by ${list(keyColumns)}`
    return [...rows].map((row) => JSON.stringify(row)).sort()
  }

  async function factsOf(account: string): Promise<number> {
    const [count] = await sql`select count(*)::int as facts from ${sql(view)} where account_id = ${account}`
    return count!.facts
  }

  /** Returns many rows like the example's, with different keys. */
  function many(account: string): RowsObservation {
    const example = reported(name) as unknown as RowsObservation
    const rows = Array.from({ length: 2 * PIECE_ROWS + 7 }, (_, i) => ({
      ...example.rows[0],
      ...("country" in example.rows[0]! && { country: ["de", "us", "jp"][i % 3] }),
      ...("units" in example.rows[0]! && { units: (i % 7) - 1 }),
      ...("count" in example.rows[0]! && { count: i }),
      ...("id" in example.rows[0]! && { id: String(1_000 + i) }),
      ...("term" in example.rows[0]! && { term: `tea ${i}` }),
      ...("change" in example.rows[0]! && { change: `Keyword.${i}` }),
    }))
    return { ...example, account, rows } as RowsObservation
  }

  tried(
    "a report in pieces equals one stored at once, also when read back or rebuilt; a smaller one replaces it",
    async () => {
      await holdAccount(sql, OTHER)
      const large = many(EXAMPLE_ACCOUNT)
      expect(await recordAll(large as never)).toMatchObject({ recorded: 1, refused: [] })
      expect(await recordAll(large as never)).toMatchObject({ recorded: 0, alreadyStored: 1 })
      // the same report, stored in one row
      const small = reported(name, { account: OTHER })
      await recordAll(small)
      const few = await factsOf(OTHER)
      const { reportTable: source } = kind.facts!
      await sql`update ${sql(source)} set rows = ${sql.json(large.rows as never)} where account_id = ${OTHER}`
      expect(await rebuildAccounts(sql, KINDS, async () => {})).toBe(1)
      expect(await sums(EXAMPLE_ACCOUNT)).toEqual(await sums(OTHER))
      expect(await sums(EXAMPLE_ACCOUNT)).not.toEqual([])
      const pages: RowsObservation[] = []
      for await (const page of kind.stored!(sql, { since: null, sources: kind.sources })) pages.push(...page)
      expect(pages.map(({ account, rows }) => [account, rows.length])).toEqual([
        [EXAMPLE_ACCOUNT, large.rows.length],
        [OTHER, large.rows.length],
      ])
      expect(pages[0]!.rows).toEqual(JSON.parse(JSON.stringify(large.rows)))
      // wrong facts are rebuilt from the pieces; a duplicate set that waits for deletion is never read
      await sql`
        delete from ${sql(table)}
        where ctid in (
          select f.ctid
          from ${sql(table)} f
          join fact_set s using (account_id, set_id)
          where account_id = ${EXAMPLE_ACCOUNT} and s.report = ${name}
          limit 3
        )`
      expect(await rebuildAccounts(sql, KINDS, async () => {})).toBe(1)
      expect(await rebuildAccounts(sql, KINDS, async () => {})).toBe(0)
      expect(await sums(EXAMPLE_ACCOUNT)).toEqual(await sums(OTHER))
      // the later report has few rows
      const seenAt = new Date(large.seenAt.getTime() + 60_000)
      await recordAll(reported(name, { seenAt, ...("processed" in large && { processed: "2025-10-25" }) }))
      expect(await factsOf(EXAMPLE_ACCOUNT)).toBe(few)
      await sweep()
      expect(await sql`select from ${sql(table)} where account_id = ${EXAMPLE_ACCOUNT}`).toHaveLength(few)
      await sql`delete from connected_account`
      expect(await countStored()).toEqual({ pieces: 0, facts: 0, sets: 0 })
    },
  )
})

long("an interrupted report leaves the previous report in place, and the next read stores it once", async () => {
  await recordAll(sold(1))
  const whole = { pieces: PIECES, facts: (await countStored()).facts, sets: 2 }
  expect(await countStored()).toEqual(whole)
  // two sets, its pieces, and the row that makes it count
  for (let last = 1; last <= PIECES + 1; last += LONG ? 1 : PIECES) {
    let begun = 0
    const dying = stepped(sql, {
      begin: () => {
        if (++begun === last) throw new Error("killed")
      },
    })
    expect(await failure(record(dying, [sold(2)], LATER))).toBe("killed")
    expect(await units()).toBe(ROWS)
  }
  const [evidence] = await sql`select count(*)::int as said from report_day`
  expect(evidence!.said).toBe(1)
  await sweep()
  expect(await countStored()).toEqual(whole)
  expect(await recordAll(sold(2))).toMatchObject({ recorded: 1 })
  expect(await units()).toBe(2 * ROWS)
  await sweep()
  // the previous report stays as the source of the earlier figures; its facts are deleted
  expect(await countStored()).toEqual({ pieces: 2 * PIECES, facts: whole.facts, sets: 3 })
  // back to the first content
  expect(await recordAll(sold(1, ROWS, { seenAt: new Date("2025-10-26T00:00:00Z") }))).toMatchObject({ recorded: 1 })
  expect(await units()).toBe(ROWS)
  await sweep()
  expect(await countStored()).toEqual({ pieces: 2 * PIECES, facts: whole.facts, sets: 3 })
  expect(await rebuildAccounts(sql, KINDS, async () => {})).toBe(0)
})

slow("a reader sees the complete old or new report while a restatement is stored in pieces", async () => {
  const unitCounts = new Set<number | null>()
  const watching = stepped(sql, { ended: () => {}, committed: async () => void unitCounts.add(await units()) })
  await record(watching, [sold(1)], LATER)
  expect([...unitCounts]).toEqual([null, ROWS])
  unitCounts.clear()
  await record(watching, [sold(2)], LATER)
  await record(watching, [sold(3, 10)], LATER)
  await record(watching, [sold(4)], LATER)
  expect([...unitCounts]).toEqual([ROWS, 2 * ROWS, 30, 4 * ROWS])
})

slow("a restatement of a report in pieces is listed with the units before and after it", async () => {
  await sql`
    insert into account_app (account_id, outside_id, sku, name, bundle_id)
      values (${EXAMPLE_ACCOUNT}, '1', 'TEA01', 'Tea', 'tea')`
  const [account] = await sql<{ workspace: number }[]>`select workspace_id::int as workspace from connected_account`
  const otherRows = {
    rows: [...(sold(1) as unknown as RowsObservation).rows, { ...sample(), app: "OTHER", units: 900 }],
  }
  await recordAll(sold(1, 0, otherRows), sold(2, 0, { rows: [{ ...sample(), units: 7 }] }), sold(3))
  const restated = (country: string | null) =>
    readRestatements(sql, { id: EXAMPLE_ACCOUNT, sku: "TEA01" } as never, { from: DAY, to: DAY, country })
  const figures = async () => [await restated(null), await restated("jp")]
  const before = await figures()
  const unitPairs = before.map((of) => of.map((row) => [row.unitsBefore, row.units]))
  const inJapan = Math.floor(ROWS / 3)
  expect(unitPairs).toEqual([
    [
      [7, 3 * ROWS],
      [ROWS, 7],
    ],
    [
      [0, 3 * inJapan],
      [inJapan, 0],
    ],
  ])
  await sql`update report_day set units = null`
  expect(await figures()).toEqual(before)
  const app = { id: "app_none", iosId: "1", androidPkg: null }
  const evidence = await readReportEvidence(sql, account!.workspace, app, { report: "sales", day: DAY })
  expect(evidence!.said.map(({ count, rows }) => [count, rows.length, rows[0]!.units])).toEqual([
    [ROWS, SHOWN_ROWS, 3],
    [1, 1, 7],
    [ROWS, SHOWN_ROWS, 1],
  ])
})

function sample(): object {
  return (reported("sales") as unknown as RowsObservation).rows[0]!
}

slow("an older restatement that arrives late changes nothing", async () => {
  await recordAll(sold(3))
  await recordAll(sold(2), sold(1, 10))
  expect(await units()).toBe(3 * ROWS)
  await sweep()
  expect(await units()).toBe(3 * ROWS)
  expect(await rebuildAccounts(sql, KINDS, async () => {})).toBe(0)
})

long("of two reports of one day that two processes store concurrently, the later report stays", async () => {
  for (const [first, second] of [
    [2, 3],
    [5, 4],
  ] as const) {
    await Promise.all([recordAll(sold(first)), recordAll(sold(second))])
    expect(await units()).toBe(Math.max(first, second) * ROWS)
  }
  await sweep()
  expect(await countStored()).toMatchObject({ pieces: 4 * PIECES, sets: 5 })
})

slow("a set of pieces that took over 50 minutes is refused, and deleted after an hour", async () => {
  let begun = 0
  const slow = stepped(sql, {
    begin: async () => {
      if (++begun === PIECES + 1) await sql`update report_set set begun_at = now() - interval '51 minutes'`
    },
  })
  expect(await failure(record(slow, [sold(1)], LATER))).toContain("took too long")
  expect(await units()).toBe(null)
  expect(await recordAll(sold(1))).toMatchObject({ recorded: 1 })
  // not yet an hour old
  const retention = { ledgerDays: 0, attemptDays: 0, jobDays: 0, auditDays: 0, alertDays: 0 }
  expect((await removeOld(sql, RETENTION, retention, { chunk: 500, pauseMs: 0 })).report_set).toBe(0)
  await sql`update report_set set begun_at = now() - interval '61 minutes'`
  expect((await removeOld(sql, RETENTION, retention, { chunk: 500, pauseMs: 0 })).report_set).toBeGreaterThan(0)
  expect(await units()).toBe(ROWS)
})

longOnServer(
  "postgres: a report is stored correctly after kill -9 before any transaction, and the later restatement stays",
  async () => {
    const start = (...args: string[]) =>
      Bun.spawn([process.execPath, join(import.meta.dirname, "report-pieces.ts"), scratchUrl(sql), ...args], {
        stderr: "pipe",
      })
    await recordAll(sold(1))
    for (let last = 1; last <= PIECES + 1; last++) {
      const child = start("2", String(last))
      await child.exited
      expect(child.signalCode).toBe("SIGKILL")
      expect(await units()).toBe(ROWS)
    }
    const children = [start("2,5,3"), start("4,6,2")]
    for (const child of children) expect([await child.exited, await new Response(child.stderr).text()]).toEqual([0, ""])
    expect(await units()).toBe(6 * ROWS)
    await sweep()
    expect(await countStored()).toMatchObject({ pieces: 6 * PIECES, sets: 7 })
    expect(await rebuildAccounts(sql, KINDS, async () => {})).toBe(0)
  },
)
