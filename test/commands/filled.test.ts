import { expect } from "bun:test"
import { countRows } from "../../src/database/copy.ts"
import { freshDatabase } from "../database.ts"
import { slow } from "../long.ts"
import { fill, TABLES } from "./filled.ts"

// Add rows for a new table in filled/: copies, backups and moves are tested with them.
slow("the sample database for copies has rows in every table", async () => {
  const sql = await freshDatabase()
  await fill(sql)
  const counts = await countRows(sql, TABLES)
  const filled = new Set(counts.map(({ name }) => name))
  expect(TABLES.filter((name) => !filled.has(name))).toEqual([])
})
