// One of several processes that record the same readings, each in its own order, and pack them meanwhile:
// bun search-recorder.ts URL SEED.
import postgres from "postgres"
import { serverOptions } from "../../src/database/options.ts"
import type { Sql } from "../../src/database/types.ts"
import { record } from "../../src/observations/record.ts"
import { shuffled } from "../formulas/estimates/play-apps.ts"
import { NOW } from "./measured.ts"
import { foldAll, searched } from "./searched.ts"

const [url, seed] = process.argv.slice(2)
const sql = postgres(url as string, serverOptions("command", 2)) as Sql
const readings = shuffled(searched(19), Number(seed) + 1)
for (let i = 0; i < readings.length; i += 10) {
  await record(sql, readings.slice(i, i + 10), () => NOW)
  if (i % 30 === 0) await foldAll(sql, i % 60 ? "2025-11-20" : "2025-10-15")
}
await sql.end()
