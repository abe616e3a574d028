// One of several processes that record the same rating counts, each in its own order, and pack them in between: bun
// rating-recorder.ts URL SEED.

import postgres from "postgres"
import { serverOptions } from "../../../src/database/options.ts"
import type { Sql } from "../../../src/database/types.ts"
import { shuffled } from "../../market/formulas/play-apps.ts"
import { record } from "../../record.ts"
import { counted, foldAll } from "./counted.ts"
import { NOW } from "./measured.ts"

const [url, seed] = process.argv.slice(2)
const sql = postgres(url as string, serverOptions("command", 2)) as Sql
const readings = shuffled(counted(19), Number(seed) + 1)
for (let i = 0; i < readings.length; i += 10) {
  await record(sql, readings.slice(i, i + 10), () => NOW)
  if (i % 30 === 0) await foldAll(sql, i % 60 ? "2025-11-01" : "2025-09-01")
}
await sql.end()
