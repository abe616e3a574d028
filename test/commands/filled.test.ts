import { expect, test } from "bun:test"
import { countRows } from "../../src/database/copy.ts"
import { freshDatabase } from "../database.ts"
import { fill, TABLES } from "./filled.ts"

// A new table gets its rows in filled/: copies, backups and moves are tried with them.
test("what copies of a database are tried with has rows in every table", async () => {
  const sql = await freshDatabase()
  await fill(sql)
  const held = await countRows(sql, TABLES)
  const filled = new Set(held.map(({ name }) => name))
  expect(TABLES.filter((name) => !filled.has(name))).toEqual([])
})
