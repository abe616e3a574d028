// One of two processes that store restatements of one day and kill themselves with -9 at a given transaction: bun
// report-pieces.ts URL UNITS,… [TRANSACTION]. Prints nothing.

import postgres from "postgres"
import { serverOptions } from "../../../src/database/options.ts"
import type { Sql } from "../../../src/database/types.ts"
import type { Observation } from "../../../src/kinds.ts"
import { reported } from "../../consoles/reported.ts"
import { record } from "../../record.ts"
import { stepped } from "../../writes/stepped.ts"

export const DAY = "2025-10-23"
export const LATER = () => new Date("2025-11-01T00:00:00Z")
export const ROWS = 1_000

/** Returns a day's sales with this many units per row, seen this many seconds after others. */
export function sold(units: number, rows = ROWS, rest: object = {}): Observation {
  const [row] = (reported("sales") as unknown as { rows: object[] }).rows
  const ownRows = Array.from({ length: rows }, (_, i) => ({
    ...row,
    product: `TEA01.${i % 90}`,
    country: ["de", "us", "jp"][i % 3],
    units,
    price: `${i % 40}.99`,
  }))
  const seenAt = new Date(Date.parse("2025-10-24T12:00:00Z") + units * 1_000)
  return reported("sales", { day: DAY, rows: ownRows, seenAt, sha256: new Uint8Array(32).fill(units), ...rest })
}

if (import.meta.main) {
  const [url, units, at] = process.argv.slice(2) as [string, string, string?]
  const sql = postgres(url, serverOptions("command", 1)) as Sql
  let begun = 0
  const dying = stepped(sql, {
    begin: () => {
      if (++begun === Number(at)) process.kill(process.pid, "SIGKILL")
    },
  })
  for (const unit of units.split(",")) await record(dying, [sold(Number(unit))], LATER)
  await sql.end()
}
