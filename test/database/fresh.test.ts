import { expect } from "bun:test"
import { freshDatabase, ownHandle } from "../database.ts"
import { errorOf } from "../error-of.ts"
import { slow } from "../long.ts"

const count = async (sql: Awaited<ReturnType<typeof freshDatabase>>) =>
  (await sql<{ n: number }[]>`select count(*) as n from workspace`)[0]!.n

slow("after a test that closed the database or broke its schema, the next test gets an empty database", async () => {
  await (await freshDatabase()).end()
  const fresh = await freshDatabase()
  expect(await count(fresh)).toBe(0)
  await fresh`drop table workspace cascade`
  expect(await count(await freshDatabase())).toBe(0)
})

slow("queries of a finished test file do not reach the database of later files", async () => {
  const sql = await freshDatabase()
  const leftover = ownHandle(sql, "of a file before")
  const queries = [
    async () => await leftover`select 1`,
    async () => await leftover.begin(async () => {}),
    async () => await leftover.unsafe("select 1"),
  ]
  for (const query of queries) expect(await errorOf(query())).toMatchObject({ code: "CONNECTION_ENDED" })
  expect(await count(sql)).toBe(0)
})

slow("the next test gets the same database without rows or audits, and with enforced constraints", async () => {
  const sql = await freshDatabase()
  const startOf = async () => (await sql`select pg_postmaster_start_time()::text as at`)[0]!.at
  const start = await startOf()
  await sql`insert into workspace (name, plan) values ('one', 'pro')`
  await sql`
    insert into audit (workspace_id, key_id, request_id, action, scope, target, args, preview, credits)
      values (1, 1, 'r', 'a', 's', 't', '{}', '{}', 0)`
  const next = await freshDatabase()
  expect(await count(next)).toBe(0)
  expect(await next`select from audit`).toHaveLength(0)
  expect((await next`select pg_postmaster_start_time()::text as at`)[0]!.at).toBe(start)
  const orphan = async () =>
    await next`insert into tracked_term (app_id, country, term, position) values ('none', 'us', 'tea', 1)`
  expect(await errorOf(orphan())).toMatchObject({ code: "23503" })
  expect(await errorOf((async () => await next`delete from audit`)())).toMatchObject({ code: "23001" })
})
