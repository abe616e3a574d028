import { expect } from "bun:test"
import type { Sql } from "../../../src/database/types.ts"
import type { SideApp } from "../../../src/keywords/read/day-answers.ts"
import { readSidesRankMonths } from "../../../src/keywords/read/rank-months.ts"
import { readRankSeries } from "../../../src/keywords/read/series.ts"
import { freshDatabase } from "../../database.ts"
import { long } from "../../long.ts"
import { record } from "../../record.ts"
import { trackOwn } from "../../world/tracked.ts"
import { NOW, newWorkspace, reading } from "./measured.ts"

const APPS = 10
const TERMS = 300
const MONTHS = ["2025-10-01", "2025-11-01"]

long("the rank months of several apps are read once each, with and without table statistics", async () => {
  const sql = await freshDatabase()
  const all = await filled(sql)
  const sides = all.slice(0, 3)
  const read = async () => {
    const plans: string[] = []
    const months = await readSidesRankMonths(explaining(sql, plans), sides, MONTHS)
    expect(months.map((terms) => terms.filter((term) => term.months.length === 2).length)).toEqual([
      TERMS,
      TERMS,
      TERMS,
    ])
    return rowsRead(plans, "rank_month")
  }
  expect(await read()).toBe(sides.length * TERMS * MONTHS.length)
  await sql`analyze`
  expect(await read()).toBe(sides.length * TERMS * MONTHS.length)
})

long("the rank months of a history are read once each, even without table statistics", async () => {
  const sql = await freshDatabase()
  const [{ appId: id, storeAppId: iosApp }] = (await filled(sql)) as [SideApp]
  const plans: string[] = []
  const app = { id, iosApp, androidApp: null, countries: ["us"] }
  const period = { platform: "ios" as const, storefront: "us", from: "2025-10-01", to: "2025-11-30" }
  const series = await readRankSeries(explaining(sql, plans), app, period)
  expect(series.map(({ points }) => points.length)).toEqual(Array.from({ length: TERMS }, () => 61))
  expect(rowsRead(plans, "rank_month")).toBe(TERMS * MONTHS.length)
})

/** Apps with separate keywords, each measured in both months. */
async function filled(sql: Sql): Promise<SideApp[]> {
  const workspaceId = await newWorkspace(sql)
  const first = { workspaceId, iosId: "10001", countries: ["us"], keywords: ["tea"], origin: "own" }
  await trackOwn(sql, first)
  const readings = MONTHS.map((month) => reading("tea", `${month}T10:00:00Z`, ["10001"]))
  // creates the partitions
  await record(sql, readings, () => NOW)
  const apps = await sql<{ own: number }[]>`
    insert into store_app (platform, store_id)
    select 'ios', (50000 + n)::text
    from generate_series(1, ${APPS}::int) n
    returning id as own`
  const sides = apps.map(
    ({ own: ownApp }): SideApp => ({ appId: `app_${ownApp}`, platform: "ios", storefront: "us", storeAppId: ownApp }),
  )
  for (const { appId, storeAppId: ownApp } of sides) {
    await sql`
      insert into tracked_app (id, workspace_id, ios_app, countries)
      values (${appId}, ${workspaceId}, ${ownApp}, '{us}')`
    await sql`
      insert into tracked_term (app_id, country, term, position)
      select ${appId}, 'us', ${appId}::text || n, n
      from generate_series(1, ${TERMS}::int) n`
  }
  await sql`
    insert into list (platform, storefront, term, first_day, last_day)
    select 'ios', 'us', term, '2025-10-01', '2025-11-30'
    from tracked_term
    where term <> 'tea'`
  await sql`
    insert into list_now (list_id, day, seen_at, source, depth, platform, storefront, term, app_ids)
    select id, last_day, last_day::timestamp at time zone 'utc', 10, 200, platform, storefront, term, '{}'
    from list
    where term <> 'tea'`
  for (const month of MONTHS) {
    await sql`
      insert into list_month
      select id, ${month}::date, decode(repeat('0a', 31), 'hex'), decode(repeat('c8', 31), 'hex')
      from list
      where term <> 'tea'`
    await sql`
      insert into rank_month
      select a.ios_app, l.id, ${month}::date, decode(repeat('05', 31), 'hex')
      from tracked_app a
      join tracked_term t on t.app_id = a.id
      join list l on l.term = t.term
      where t.term <> 'tea'`
  }
  return sides
}

/** Returns an `sql` that also runs each statement for its plan. */
function explaining(sql: Sql, plans: string[]): Sql {
  const statement = (strings: TemplateStringsArray, values: string[]) => {
    const explained = async () => {
      const rows = await sql<{ "QUERY PLAN": string }[]>`
        explain (analyze, costs off, timing off) ${sql(strings, ...values)}`
      plans.push(rows.map((row) => row["QUERY PLAN"]).join("\n"))
      return await sql(strings, ...values)
    }
    // a part of another statement is never awaited itself
    // biome-ignore lint/suspicious/noThenProperty: as the driver's statements have it
    return Object.assign(sql(strings, ...values), { then: ((done, failed) => explained().then(done, failed)) as Then })
  }
  // anything but a template is a list of values
  return ((first: TemplateStringsArray, ...values: string[]) =>
    "raw" in first ? statement(first, values) : sql(first)) as unknown as Sql
}

type Then = Promise<unknown>["then"]

/** Returns the rows that the scans of a table's partitions returned over all loops. */
function rowsRead(plans: readonly string[], table: string): number {
  const scans = plans.join("\n").matchAll(new RegExp(` on ${table}_\\S+.*actual rows=([\\d.]+) loops=(\\d+)`, "g"))
  return Math.round([...scans].reduce((sum, [, rows, loops]) => sum + Number(rows) * Number(loops), 0))
}
