import { afterAll, expect } from "bun:test"
import { join } from "node:path"
import { openDatabase } from "../../src/database/connect.ts"
import { silentLog } from "../../src/lib/log.ts"
import { until } from "../jobs/platform.ts"
import { cases, slow } from "../long.ts"
import { scratchFolder, startHolder } from "./processes.ts"

const { folder, remove } = scratchFolder()
afterAll(remove)

const ROUNDS = cases(1, 12)

slow(
  `after ${ROUNDS} kills during writes, each acknowledged write exists and no transaction is partial`,
  async () => {
    const dataDir = join(folder, "data")
    const rows = new Set<number>()
    const batches = new Set<number>()
    for (let round = 0; round < ROUNDS; round++) {
      const holder = startHolder("server", dataDir, "write")
      await holder.opened()
      // Each kill happens while rows are being written, also on a slow machine.
      await until(() => holder.lines.length > 3)
      await Bun.sleep(100 + ((round * 137) % 400))
      for (const line of await holder.end()) {
        const [kind, id] = line.split(" ")
        if (kind === "row") rows.add(Number(id))
        if (kind === "batch") batches.add(Number(id))
      }
    }
    const { sql, close } = await openDatabase({ as: "server", dataDir, log: silentLog })
    const stored = new Set((await sql`select id from written where batch = 0`).map(({ id }) => id))
    const whole = new Map(
      (await sql`select batch, count(*) as n from written where batch > 0 group by 1`).map((r) => [r.batch, r.n]),
    )
    await close()
    const lostCount =
      [...rows].filter((id) => !stored.has(id)).length + [...batches].filter((id) => !whole.has(id)).length
    const partial = [...whole.values()].filter((n) => n !== 5).length
    const found = `${ROUNDS} kills, ${rows.size} rows and ${batches.size} transactions acknowledged`
    process.stdout.write(`${found}; ${lostCount} lost, ${partial} in part, ${stored.size + whole.size} stored\n`)
    expect(rows.size).toBeGreaterThan(ROUNDS)
    expect({ lost: lostCount, partial }).toEqual({ lost: 0, partial: 0 })
  },
  240_000,
)
