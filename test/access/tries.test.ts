import { expect, test } from "bun:test"
import { takeTry } from "../../src/access/tries.ts"
import type { Sql } from "../../src/database/types.ts"
import { freshDatabase } from "../database.ts"

const onServer = test.skipIf(!process.env.DATABASE_URL)

onServer("postgres: a try is not refused because a later one of the same address was counted first", async () => {
  const sql = await freshDatabase()
  const tried = { scope: "link 1", address: "192.0.2.1", secret: "link 1" }
  await sql.begin(async (tx) => {
    // fixes the time of this transaction
    await tx`select now()`
    expect(await takeTry(sql, tried)).toBeNull()
    expect(await takeTry(tx as unknown as Sql, tried)).toBeNull()
  })
  const outcomes = await Promise.all(Array.from({ length: 20 }, () => takeTry(sql, tried)))
  expect(outcomes.filter((wait) => wait === null)).toHaveLength(3)
})
