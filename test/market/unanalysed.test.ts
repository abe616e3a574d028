// Fills eight databases in sequence. This takes half a minute, so the test runs only in the long mode.
import { expect, setDefaultTimeout } from "bun:test"
import * as v from "valibot"
import { catalog } from "../../src/catalog.ts"
import type { Operation } from "../../src/core/operation.ts"
import type { Sql } from "../../src/database/types.ts"
import { findApp } from "../../src/tracking/tracked-app.ts"
import { appsToRead, contextIn, inputOf, isReadOfApp } from "../bench/years-calls.ts"
import { fillWorld, type Size } from "../bench/years-world.ts"
import { explainEach, type Work } from "../core/explained.ts"
import { freshDatabase } from "../database.ts"
import { afterLong, long } from "../long.ts"

setDefaultTimeout(180_000)

// gives the other tests of this process a fresh database
afterLong(freshSchema)

/** On a server, autovacuum analyses tables a minute later. */
const isAnalysedByItself = process.env.DATABASE_URL !== undefined

const TIMES = 5
/** The work may grow in proportion to the answer. The plan may also change from one proportional plan to another. */
const MAX_RATIO = 1.7 * TIMES
/**
 * Fewer rows than this take about ten milliseconds and are acceptable, whatever the ratio. For example, a feed's
 * reviews of a day may be searched among all of the feed: of two indexes with the same prefix the planner takes the
 * smaller until it has statistics or the table has some 80,000 rows.
 */
const LITTLE = 25_000

/** The accounts report on the last of the apps. */
const SMALL: Size = { apps: 4, keywords: 20, days: 12, reviews: 2, owners: 1 }

const GROWN: [string, Size, Size][] = [
  ["keywords", { ...SMALL, days: 3, keywords: 300 }, { ...SMALL, days: 3, keywords: 300 * TIMES }],
  ["apps", { ...SMALL, keywords: 10, apps: 40 }, { ...SMALL, keywords: 10, apps: 40 * TIMES }],
  ["days", { ...SMALL, days: 40 }, { ...SMALL, days: 40 * TIMES }],
  ["reviews", { ...SMALL, reviews: 85 }, { ...SMALL, reviews: 85 * TIMES }],
]

long.each(GROWN)(
  "without planner statistics, the work of a read grows about in proportion to the number of %s",
  async (_, small, large) => {
    const few = await worksIn(small)
    const many = await worksIn(large)
    const worst = [...many].map(([id, works]) => {
      const [before, now] = [rowsOf(few.get(id)!), rowsOf(works)]
      return { id, before, now, excessive: now > LITTLE && now > MAX_RATIO * before, works }
    })
    expect(worst.filter(({ excessive }) => excessive).map(described)).toEqual([])
  },
)

const rowsOf = (works: readonly Work[]) => Math.round(works.reduce((sum, { rows }) => sum + rows, 0))

function described({ id, before, now, works }: { id: string; before: number; now: number; works: Work[] }): string {
  const { statement, rows } = works.toSorted((a, b) => b.rows - a.rows)[0]!
  return `${id} went through ${before} rows, then through ${now}, of which ${Math.round(rows)} in: ${statement}`
}

/**
 * Counts the rows that each read of an app, called with only the app's id, processes in a database without statistics.
 */
async function worksIn(size: Size): Promise<Map<string, Work[]>> {
  const sql = await freshSchema()
  const { workspace, apps, rivals } = await unanalysed(sql, () => fillWorld(sql, size))
  const found = new Map<string, Work[]>()
  for (const operation of catalog.filter(isReadOfApp)) {
    const works: Work[] = []
    const [at] = appsToRead(operation, apps.length, { appCount: 1, owners: 1 })
    await call(operation, explainEach(sql, works), workspace, inputOf(operation, apps[at!]!, rivals[at!]!))
    found.set(operation.id, works)
  }
  expect(await tablesAnalysed(sql)).toEqual([])
  return found
}

async function call(operation: Operation, sql: Sql, workspace: number, args: Record<string, unknown>): Promise<void> {
  const ctx = contextIn(sql, workspace)
  const input = v.parse(operation.input, args) as Record<string, unknown>
  if (operation.subject) {
    const app = await findApp(sql, ctx.caller, input.appId as string)
    Object.assign(input, { app, storefront: app.countries[0] })
  }
  await operation.run(input, ctx)
}

/** Rebuilds the schema, which a change of table settings alone does not trigger. */
async function freshSchema(): Promise<Sql> {
  const sql = await freshDatabase()
  if (!isAnalysedByItself) return sql
  await sql`create table unlike_any ()`
  return await freshDatabase()
}

/**
 * Runs `fill` while autovacuum, which would analyse tables within a minute, is off on every table and new partition.
 */
async function unanalysed<T>(sql: Sql, fill: () => Promise<T>): Promise<T> {
  if (!isAnalysedByItself) return await fill()
  await switchAutovacuumOff(sql)
  let isFilled = false
  const filled = fill().finally(() => {
    isFilled = true
  })
  while (!isFilled) {
    await switchAutovacuumOff(sql)
    await Promise.race([filled.catch(() => {}), Bun.sleep(5_000)])
  }
  await switchAutovacuumOff(sql)
  return await filled
}

async function switchAutovacuumOff(sql: Sql): Promise<void> {
  const tables = await sql<{ name: string }[]>`
    select relname::text as name
    from pg_class
    where relnamespace = 'public'::regnamespace and relkind = 'r'
      and not coalesce(reloptions, '{}') @> '{autovacuum_enabled=off}'
    order by relname`
  for (const { name } of tables) await sql`alter table ${sql(name)} set (autovacuum_enabled = off)`
}

async function tablesAnalysed(sql: Sql): Promise<string[]> {
  const tables = await sql<{ name: string }[]>`
    select relname::text as name
    from pg_class
    where relnamespace = 'public'::regnamespace and relkind = 'r' and reltuples > 0 and relname <> 'schema_migration'
    order by relname`
  return tables.map(({ name }) => name)
}
