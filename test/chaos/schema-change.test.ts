import { beforeAll, expect, test } from "bun:test"
import postgres from "postgres"
import type { Sql } from "../../src/database/types.ts"
import { trackApp } from "../../src/tracking/apps.ts"
import { freshDatabase, scratchUrl } from "../database.ts"
import { openService, PUBLIC_URL, type Service } from "../service.ts"

const WORKSPACES = ["alpha", "beta", "gamma", "delta"]
const CALLERS_OF_ONE = 8
const ROUNDS = 3

interface Caller {
  workspace: string
  key: string
  paths: string[]
}

let sql: Sql
let service: Service

beforeAll(async () => {
  sql = await freshDatabase()
  service = openService({ sql })
})

async function makeCaller(workspace: string): Promise<Caller> {
  const workspaceId = await service.workspace({ overrides: { ratePerSecond: 100_000, credits: 10_000_000 } })
  const iosId = String(1_000_000_000 + WORKSPACES.indexOf(workspace))
  const input = {
    workspaceId,
    iosId,
    name: `App of ${workspace}`,
    countries: ["us"],
    keywords: ["tide"],
    origin: "own",
  }
  const app = await sql.begin((tx) => trackApp(tx, input))
  const paths = ["/v1/apps", `/v1/apps/${app}`, "/v1/portfolio", "/v1/usage", "/v1/alerts"]
  return { workspace, key: await service.key(workspaceId), paths }
}

test.skipIf(!process.env.DATABASE_URL)(
  "postgres: while a migration changes a column's type, every call is answered with data of its own workspace",
  async () => {
    const callers: Caller[] = []
    for (const workspace of WORKSPACES) callers.push(await makeCaller(workspace))
    const statuses: Record<number, number> = {}
    const foreign: string[] = []
    let isOver = false
    const call = async ({ workspace, key, paths }: Caller, first: number) => {
      for (let n = first; !isOver; n++) {
        const request = new Request(`${PUBLIC_URL}${paths[n % paths.length]}`, {
          headers: { authorization: `Bearer ${key}` },
        })
        const response = await service.app.fetch(request, "127.0.0.1")
        const text = await response.text()
        statuses[response.status] = (statuses[response.status] ?? 0) + 1
        const named = [...text.matchAll(/App of (\w+)/g)].map(([, name]) => name)
        if (named.some((name) => name !== workspace)) foreign.push(`${workspace} got ${named}`)
        if (response.status === 200 && n % paths.length < 2 && named.length === 0)
          foreign.push(`${workspace} got nothing`)
      }
    }
    const calling = callers.flatMap((caller) => Array.from({ length: CALLERS_OF_ONE }, (_, n) => call(caller, n)))
    await alter(scratchUrl(sql)).finally(() => {
      isOver = true
    })
    await Promise.all(calling)
    process.stdout.write(`answers by status while the schema changed: ${JSON.stringify(statuses)}\n`)
    expect(foreign).toEqual([])
    // a call may find the database busy, which costs nothing
    expect(Object.keys(statuses).filter((status) => !["200", "503"].includes(status))).toEqual([])
    expect(statuses[200]).toBeGreaterThan(32)
    const failures = service.logged.filter((line) => line.includes('"level":"error"'))
    expect(failures).toEqual([])
  },
  60_000,
)

async function alter(url: string): Promise<void> {
  const other = postgres(url, { max: 1 })
  const [column] = await other<{ type: string }[]>`
    select format_type(atttypid, atttypmod) as type
    from pg_attribute
    where attrelid = 'tracked_app'::regclass and attname = 'name'`
  // like a migration, which creates the views of 90-reports.sql again
  await other`drop view sql_reader_app cascade`
  for (let round = 0; round < ROUNDS; round++) {
    for (const type of ["varchar(400)", column!.type]) {
      await Bun.sleep(500)
      await other.unsafe(`alter table tracked_app alter column name type ${type}`)
    }
  }
  await Bun.sleep(500)
  await other.end()
}
