import { afterAll, beforeAll, expect } from "bun:test"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { openDatabase } from "../../src/database/connect.ts"
import type { Sql } from "../../src/database/types.ts"
import { silentLog } from "../../src/lib/log.ts"
import { LONG, long } from "../long.ts"
import { type Alone, buildAlone } from "./alone.ts"
import { checkDirectory } from "./amcheck.ts"
import { KILLED, killRounds } from "./kills.ts"
import { Trial } from "./trial.ts"

let binary: Alone
/** The second test damages the directory that the first one left, so that it need not write a new one. */
let trial: Trial

// Short runs rely on test/database/crash.test.ts, which kills a process.

beforeAll(async () => {
  if (!LONG) return
  binary = await buildAlone()
  trial = new Trial(binary, KILLED)
}, 120_000)
afterAll(() => binary?.remove())

long(
  "killing the binary three times under load loses no acknowledged write and damages no database page",
  async () => {
    const { wrong, batches, imports, summary } = await killRounds(binary, 3, trial)
    process.stdout.write(`${summary}\n`)
    expect(wrong).toEqual([])
    expect(batches).toBeGreaterThan(3)
    expect(imports).toBeGreaterThan(0)
  },
  180_000,
)

long(
  "the durability check detects a lost write, a partial write and a damaged database page",
  async () => {
    const { batches, paid, imports } = trial.acknowledged
    await trial.start()
    expect(await trial.judge()).toEqual([])
    const { sql, close } = await openDatabase({ as: "command", dataDir: join(binary.folder, KILLED), log: silentLog })
    const [part, whole] = [...batches]
    const [request] = [...paid]
    const [seenAt] = [...imports]
    await spoil(sql, { part: `${part} 3`, whole: `${whole} %`, request: request!, seenAt: seenAt! })
    const [{ path } = { path: "" }] = await sql<
      { path: string }[]
    >`select pg_relation_filepath('tracked_term_pkey') as path`
    await close()
    const found = await trial.judge()
    for (const fault of [`lost: ${whole}`, `lost: ${request}`, `in part: 4 of 5 keywords of ${part}`])
      expect(found).toContain(fault)
    expect(found).toContain(`in part: 19 readings of ${seenAt}, 19 derived`)
    expect(found.filter((fault) => /^(credits|confirms): /.test(fault))).toHaveLength(2)
    await trial.stop()
    const directory = join(binary.folder, KILLED, "postgres")
    expect((await checkDirectory(directory)).problems).toEqual([])
    damage(join(directory, path))
    expect((await checkDirectory(directory)).problems).toEqual([expect.stringContaining("tracked_term_pkey")])
  },
  120_000,
)

/** Removes a keyword of one batch, another whole batch, a charge, and one reading of an import. */
async function spoil(
  sql: Sql,
  { part, whole, request, seenAt }: Record<"part" | "whole" | "request" | "seenAt", string>,
) {
  await sql`delete from tracked_term where term = ${part} or term like ${whole}`
  await sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`
    await tx`delete from ledger where request_id = ${request}`
    await tx`
      delete from search_results
      where seen_at = ${seenAt} and list_id = (select min(list_id) from search_results where seen_at = ${seenAt})`
  })
}

/** Changes bytes in the middle of the second page, because the first is the index's metapage. */
function damage(file: string): void {
  const bytes = readFileSync(file)
  bytes.fill(0xff, 8_192 + 4_000, 8_192 + 4_100)
  writeFileSync(file, bytes)
}
