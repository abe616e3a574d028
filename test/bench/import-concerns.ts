// bun test/bench/import-concerns.ts — milliseconds to find the apps whose alerts an import of one reading may change,
// among 100, 1,000 and 10,000 tracked apps with ten followed rivals each. The affected rows are the same, so the time
// should be the same. DATABASE_URL is the PostgreSQL to use; without it the embedded database is measured.

import { readConcerned } from "../../src/alerts/import-concerns.ts"
import { noteReading, openNotes } from "../../src/alerts/import-notes.ts"
import type { Sql } from "../../src/database/types.ts"
import type { Observation } from "../../src/kinds.ts"
import { median } from "./load.ts"
import { benchWorkspace, scratchOn } from "./scratch.ts"

const ROUNDS = 15

for (const apps of [100, 1_000, 10_000]) {
  const { sql, remove } = await scratchOn(process.env.DATABASE_URL)
  try {
    await fill(sql, await benchWorkspace(sql), apps)
    const [appRow] = await sql<{ id: string; storeId: string }[]>`
      select a.id, s.store_id as "storeId"
      from tracked_app a
      join store_app s on s.id = a.ios_app
      order by a.id
      limit 1`
    const place = { platform: "ios", storefront: "us", source: "import", seenAt: new Date() }
    const results = [{ id: appRow!.storeId }]
    const figures = [
      await timeOf(sql, { kind: "search", term: `word 3 ${appRow!.id}`, results, ...place }),
      await timeOf(sql, { kind: "listing", id: appRow!.storeId, ...place }),
    ]
    console.log(`${apps} tracked apps: a search ${figures[0]} ms, a listing ${figures[1]} ms`)
  } finally {
    await remove()
  }
}
process.exit(0)

async function timeOf(sql: Sql, reading: object): Promise<string> {
  const notes = openNotes()
  noteReading(notes, reading as Observation)
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const startedAt = performance.now()
    const { length } = await readConcerned(sql, notes)
    times.push(performance.now() - startedAt)
    if (length === 0) throw new Error("the reading concerns no app")
  }
  return median(times).toFixed(1)
}

/** Fills the tables without triggers, so that nothing becomes due. */
async function fill(sql: Sql, workspace: number, apps: number): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`set local statement_timeout = 0`
    await tx`set local session_replication_role = replica`
    await tx`
      insert into store_app (platform, store_id, genre)
      select 'ios', (10000000 + n)::text, '6015'
      from generate_series(1, ${apps + 10}::int) n`
    await tx`
      insert into tracked_app (id, workspace_id, ios_app, countries)
      select 'app_' || id, ${workspace}, id, array['us', 'de']
      from store_app
      order by id
      limit ${apps}`
    await tx`
      insert into tracked_term (app_id, country, term, position)
      select a.id, 'us', 'word ' || n || ' ' || a.id, n
      from tracked_app a
      cross join generate_series(1, 10) n`
    await tx`
      insert into app_rival (app_id, platform, storefront, rival, manual, terms, day)
      select a.id, 'ios', 'us', a.ios_app + n, false, 1, '2026-11-01'
      from tracked_app a
      cross join generate_series(1, 10) n`
  })
  await sql`vacuum analyze`
}
