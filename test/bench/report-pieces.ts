// bun test/bench/report-pieces.ts — measures how long storing a sales report of 5,000 and of 50,000 rows blocks the
// single backend of the embedded database: the longest transaction, in processor time of the database thread, and the
// longest wait of a concurrent read of the day before. Measures the same for a single transaction, and for the restated
// report. On Linux. Fails if a transaction of a report stored in batches takes more than 50 ms. ROWS sets other sizes.

import { readdirSync, readFileSync } from "node:fs"
import { readSales } from "../../src/consoles/read/read-sales.ts"
import type { Sql, Tx } from "../../src/database/types.ts"
import type { Observation } from "../../src/kinds.ts"
import { EXAMPLE_ACCOUNT, holdAccount, reported } from "../consoles/reported.ts"
import { record } from "../record.ts"
import { median } from "./load.ts"
import { scratchOn } from "./scratch.ts"

const ROWS = (process.env.ROWS ?? "5000,50000").split(",").map(Number)
const ROUNDS = Number(process.env.ROUNDS ?? 3)
const MAX_MS = 50
const SEEN = new Date("2026-02-01T14:00:00Z")
const NOW = () => new Date("2026-02-02T00:00:00Z")

let worst = 0
for (const rows of ROWS) {
  const [pieces, whole]: PieceTimes[][] = [[], []]
  for (let round = 0; round < ROUNDS; round++) {
    pieces!.push(await store(rows, false))
    whole!.push(await store(rows, true))
  }
  const medianOf = (runs: PieceTimes[], key: keyof PieceTimes) => median(runs.map((run) => run[key]))
  const longest = Math.max(medianOf(pieces!, "holdMs"), medianOf(pieces!, "againMs"))
  worst = Math.max(worst, longest)
  console.log(
    `${rows} rows: in pieces the longest transaction ${medianOf(pieces!, "holdMs").toFixed(0)} ms (restated ` +
      `${medianOf(pieces!, "againMs").toFixed(0)}), a read beside it ` +
      `${medianOf(pieces!, "readMs").toFixed(0)} ms at most, ` +
      `all of it ${medianOf(pieces!, "allMs").toFixed(0)} ms; at once ${medianOf(whole!, "holdMs").toFixed(0)}, ` +
      `${medianOf(whole!, "readMs").toFixed(0)} and ${medianOf(whole!, "allMs").toFixed(0)} ms: ` +
      `${(longest / medianOf(whole!, "holdMs")).toFixed(3)} of that`,
  )
}
process.exit(worst > MAX_MS ? 1 : 0)

interface PieceTimes {
  holdMs: number
  againMs: number
  readMs: number
  allMs: number
}

async function store(rows: number, isWhole: boolean): Promise<PieceTimes> {
  const scratch = await scratchOn(undefined)
  const { sql } = scratch
  await holdAccount(sql)
  // compiles and plans the statements
  await record(sql, [report(300, "2026-01-29", 1)], NOW)
  await record(sql, [report(100, "2026-01-30", 1)], NOW)
  const readBefore = () =>
    readSales(sql, { id: EXAMPLE_ACCOUNT, sku: "TEA01" } as never, {
      from: "2026-01-30",
      to: "2026-01-30",
      country: null,
    })
  await readBefore()
  let [isOver, readMs] = [false, 0]
  const reading = (async () => {
    while (!isOver) {
      const startedAt = performance.now()
      await readBefore()
      readMs = Math.max(readMs, performance.now() - startedAt)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  })()
  const startedAt = performance.now()
  const holdMs = await longestOf(sql, isWhole, (connection) => record(connection, [report(rows, "2026-01-31", 1)], NOW))
  const allMs = performance.now() - startedAt
  const againMs = await longestOf(sql, isWhole, (connection) =>
    record(connection, [report(rows, "2026-01-31", 2)], NOW),
  )
  isOver = true
  await reading
  const [sum] = await sql<{ units: number }[]>`select sum(units)::int as units from sales_fact where day = '2026-01-31'`
  if (sum!.units !== rows * 2) throw new Error(`${sum!.units} units stand, and not ${rows * 2}`)
  await scratch.remove()
  return { holdMs, againMs, readMs, allMs }
}

function report(rows: number, day: string, units: number): Observation {
  const [row] = (reported("sales") as unknown as { rows: object[] }).rows
  const reportRows = Array.from({ length: rows }, (_, i) => ({
    ...row,
    product: `TEA01.pro.${i % 400}`,
    title: `Tea, the ${i % 400}th`,
    units,
    country: `${String.fromCharCode(97 + (i % 26))}${String.fromCharCode(97 + ((i * 7) % 26))}`,
    price: `${(i % 90) + 1}.99`,
    currency: i % 3 ? "EUR" : "USD",
  }))
  return reported("sales", { day, rows: reportRows, seenAt: new Date(SEEN.getTime() + units * 1_000) })
}

/**
 * Returns the milliseconds of the database thread in the longest transaction, from the moment when it gets the backend.
 */
async function longestOf(sql: Sql, isWhole: boolean, work: (connection: Sql) => Promise<unknown>): Promise<number> {
  const rounds: Map<string, number>[] = []
  const begin = async (run: (tx: Tx) => Promise<unknown>) => {
    let before = new Map<string, number>()
    const answer = await sql.begin((tx) => {
      before = threadTimes()
      return run(tx as Tx) as Promise<void>
    })
    rounds.push(new Map([...threadTimes()].map(([id, ns]) => [id, (ns - (before.get(id) ?? ns)) / 1e6])))
    return answer
  }
  const withBegin = (client: object, how: (run: (tx: Tx) => Promise<unknown>) => Promise<unknown>) =>
    new Proxy(client, { get: (target, name) => (name === "begin" ? how : Reflect.get(target, name)) }) as Sql
  if (isWhole) await begin((tx) => work(withBegin(tx, (run) => run(tx))))
  else await work(withBegin(sql, begin))
  // the runtime's compilers and collectors have threads too: the busiest thread is the database's
  const totals = new Map<string, number>()
  for (const times of rounds) for (const [id, ms] of times) totals.set(id, (totals.get(id) ?? 0) + ms)
  const [database] = [...totals].sort(([, a], [, b]) => b - a)[0]!
  return Math.max(...rounds.map((times) => times.get(database) ?? 0))
}

/** Returns the nanoseconds on a processor of each thread except the first. */
function threadTimes(): Map<string, number> {
  const ids = readdirSync("/proc/self/task").filter((id) => id !== String(process.pid))
  return new Map(
    ids.map((id) => [id, Number(readFileSync(`/proc/self/task/${id}/schedstat`, "utf8").split(" ")[0])] as const),
  )
}
