import { beforeEach, expect } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Sql } from "../../src/database/types.ts"
import { DEMO_APPS, DEMO_FILE, loadDemo } from "../../src/demo/demo.ts"
import { removeDemo } from "../../src/demo/remove-demo.ts"
import { listKeywordRanks } from "../../src/keywords/operations/keywords.ts"
import { recording } from "../../src/recording.ts"
import { setGoal } from "../../src/tracking/apps.ts"
import { addTerms, buryTerms, tagTerms } from "../../src/tracking/terms.ts"
import { freshDatabase } from "../database.ts"
import { cases, long, slow } from "../long.ts"
import { ask, contextOf, NOW, newWorkspace, reading, stored } from "../measuring/record/measured.ts"
import { record } from "../record.ts"
import { trackOwn } from "../world/tracked.ts"

const file = readFileSync(join(import.meta.dirname, "../../fixtures/demo", DEMO_FILE), "utf8")
/** Short runs use a part of the file, since the search results of one keyword take 30 ms. */
const part = file
  .split(/(?<=\n)/)
  .filter((line, at) => line.includes('"photo editor"') || at < cases(6, 36))
  .join("")
let sql: Sql

beforeEach(async () => {
  sql = await freshDatabase()
})

slow("each demo app has ranked, absent and unmeasured keywords; loading the demo twice changes nothing", async () => {
  const [workspaceId, two] = [await newWorkspace(sql), await newWorkspace(sql)]
  const { recorded, bad, apps } = await loadDemo(recording, sql, workspaceId, file)
  expect({ recorded, bad, apps: apps.length }).toEqual({ recorded: 36, bad: [], apps: DEMO_APPS.length })
  for (const { id } of apps) {
    const { keywords, live, measuredAt } = await ask(listKeywordRanks, contextOf(sql, workspaceId), { appId: id })
    expect({ live, measuredAt }).toEqual({ live: false, measuredAt: "2025-10-25T03:25:01.530Z" })
    const states = keywords.map(({ measured, rank }: { measured: boolean; rank: number | null }) =>
      !measured ? "unmeasured" : rank === null ? "absent" : "ranked",
    )
    expect([...new Set(states)].sort()).toEqual(["absent", "ranked", "unmeasured"])
  }
  const before = await stored(sql)
  expect(await loadDemo(recording, sql, workspaceId, file)).toMatchObject({ recorded: 0, known: 36, apps })
  expect(await stored(sql)).toBe(before)
  const other = await loadDemo(recording, sql, two, file)
  expect(other.recorded).toBe(0)
  expect(other.apps.map(({ id }) => id)).not.toEqual(apps.map(({ id }) => id))
})

long("removing the demo from an otherwise empty instance leaves no data", async () => {
  const workspaceId = await newWorkspace(sql)
  const empty = await stored(sql)
  await loadDemo(recording, sql, workspaceId, file)
  expect(await removeDemo(sql)).toEqual({ apps: DEMO_APPS.length, readings: 36, kept: [] })
  expect(await stored(sql)).toBe(empty)
  expect(await removeDemo(sql)).toEqual({ apps: 0, readings: 0, kept: [] })
})

long("removing the demo keeps an edited demo app as the workspace's own app", async () => {
  const workspaceId = await newWorkspace(sql)
  const { apps } = await loadDemo(recording, sql, workspaceId, file)
  const [extended, tagged, aimed, removedId] = DEMO_APPS.map(({ iosId }) => iosId)
  const idOf = async (iosId = "") => {
    const [app] = await sql`select a.id from tracked_app a join store_app i on i.id = ios_app where store_id = ${iosId}`
    return app?.id as string
  }
  const ids = [await idOf(extended), await idOf(tagged), await idOf(aimed)] as const
  await sql.begin((tx) => addTerms(tx, ids[0], "all", ["my own"]))
  await sql.begin((tx) => tagTerms(tx, ids[1], ["video editor"], ["mine"]))
  await sql.begin((tx) => setGoal(tx, ids[2], "rank"))
  await sql.begin((tx) => buryTerms(tx, ids[2], ["spam"]))
  const removed = await removeDemo(sql)
  const taggedApps = apps.filter(({ id }) => ids.includes(id)).sort((a, b) => (a.id < b.id ? -1 : 1))
  expect({ ...removed, kept: removed.kept.toSorted((a, b) => (a.id < b.id ? -1 : 1)) }).toEqual({
    apps: 1,
    readings: 36,
    kept: taggedApps,
  })
  expect(await idOf(removedId)).toBeUndefined()
  const termsOf = async (id: string) =>
    (await sql`select term from tracked_term where app_id = ${id} order by position`).map(({ term }) => term)
  expect(await termsOf(ids[0])).toEqual(["my own"])
  expect(await termsOf(ids[1])).toEqual(["video editor"])
  expect(await termsOf(ids[2])).toEqual([...DEMO_APPS[2].keywords])
  expect(await sql`select 1 from tracked_app where origin = 'demo'`).toHaveLength(0)
  expect(await removeDemo(sql)).toEqual({ apps: 0, readings: 0, kept: [] })
})

slow("removing the demo restores other apps and readings to their state before the demo", async () => {
  const workspaceId = await newWorkspace(sql)
  const [canva] = [DEMO_APPS[1].iosId]
  const appId = await trackOwn(sql, { workspaceId, iosId: canva, keywords: ["photo editor", "my own"] })
  const ownReadings = [
    reading("photo editor", "2025-10-24T08:00:00Z", [canva, 10002]),
    reading("photo editor", "2025-10-25T09:00:00Z", [10002, 10003, canva], { source: "foreign" }),
    reading("tea app", "2025-10-25T09:00:00Z", [], {
      depth: 3,
      results: [{ id: "6747925058", name: "Mine", ratings: 4 }],
    }),
  ]
  await record(sql, ownReadings, () => NOW)
  const before = await meaning(sql)
  await loadDemo(recording, sql, workspaceId, part)
  const ctx = contextOf(sql, workspaceId)
  const during = await ask(listKeywordRanks, ctx, { appId })
  // this instance's reading of the day takes precedence, although the demo's reading is deeper
  expect(during.keywords[0]).toMatchObject({ rank: 3, searchDepth: 3 })
  await removeDemo(sql)
  expect(await meaning(sql)).toEqual(before)
  const after = await ask(listKeywordRanks, ctx, { appId })
  expect(after.keywords[0]).toMatchObject({ rank: 3, searchDepth: 3 })
  expect(await sql`select 1 from tracked_app where origin = 'demo'`).toHaveLength(0)
})

long("an own reading replaces the demo's reading of the same time and stays after the demo is removed", async () => {
  const workspaceId = await newWorkspace(sql)
  await loadDemo(recording, sql, workspaceId, file)
  const ownReading = reading("photo editor", "2025-10-25T03:25:01.530Z", [10002], { source: "foreign" })
  expect((await record(sql, [ownReading], () => NOW)).recorded).toBe(1)
  expect((await loadDemo(recording, sql, workspaceId, file)).recorded).toBe(0)
  expect((await removeDemo(sql)).readings).toBe(35)
  expect([...(await sql`select origin, cardinality(app_ids) as apps from search_results`)]).toEqual([
    { origin: "own", apps: 1 },
  ])
})

/** Returns all stored data without surrogate ids. */
async function meaning(sql: Sql) {
  const rows = await Promise.all([
    sql`select platform, storefront, term, first_day, last_day from list order by 1, 2, 3`,
    sql`
      select platform, store_id, storefront, name, developer, seen_at, store_app.origin from store_app left
        join store_app_name on app_id = id order by 1, 2, 3`,
    sql`
      select storefront, day, ratings, r.origin, store_id from rating_count r join store_app s on s.id = app_id
      order by 1, 2, 5`,
    sql`
      select term, day, source, seen_at,
        (select array_agg(store_id order by place) from unnest(app_ids) with ordinality u (app, place)
        join store_app a on a.id = app) as apps from search_results join list l on l.id = list_id order by 1, 4`,
    sql`
      select term, month, store_id, ranks from rank_month join list l on l.id = list_id
        join store_app s on s.id = app_id order by 1, 2, 3`,
    sql`select term, month, sources, depths from list_month join list l on l.id = list_id order by 1, 2`,
  ])
  return JSON.parse(JSON.stringify(rows))
}
