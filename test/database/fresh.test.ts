import { expect, test } from "bun:test"
import { freshDatabase, ownHandle } from "../database.ts"
import { errorOf } from "../error-of.ts"

const count = async (sql: Awaited<ReturnType<typeof freshDatabase>>) =>
  (await sql<{ n: number }[]>`select count(*) as n from workspace`)[0]!.n

test("after a test that closed the database, or broke its schema, the next one has a whole and empty one", async () => {
  await (await freshDatabase()).end()
  const again = await freshDatabase()
  expect(await count(again)).toBe(0)
  await again`drop table workspace cascade`
  expect(await count(await freshDatabase())).toBe(0)
})

test("what a file leaves running asks nothing of the database of the files after it", async () => {
  const sql = await freshDatabase()
  const left = ownHandle(sql, "of a file before")
  const asked = [
    async () => await left`select 1`,
    async () => await left.begin(async () => {}),
    async () => await left.unsafe("select 1"),
  ]
  for (const ask of asked) expect(await errorOf(ask())).toMatchObject({ code: "CONNECTION_ENDED" })
  expect(await count(sql)).toBe(0)
})
