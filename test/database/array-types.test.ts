import { beforeAll, expect, test } from "bun:test"
import { ARRAY_TYPES } from "../../src/database/options.ts"
import type { Sql } from "../../src/database/types.ts"
import { freshDatabase } from "../database.ts"

let sql: Sql

beforeAll(async () => {
  sql = await freshDatabase()
})

test("array types in the built-in list have the same ids as in the database", async () => {
  const rows = await sql<{ of: number; arrays: number }[]>`
    select oid::int as of, typarray::int as arrays
    from pg_type
    where oid::int = any(${ARRAY_TYPES.map(([element]) => element)}::int[])
    order by oid`
  expect(rows.map(({ of, arrays }) => [of, arrays])).toEqual(ARRAY_TYPES.map(([element, arrays]) => [element, arrays]))
})

test("every array column of the schema has a type of the built-in list", async () => {
  const listedTypes: readonly number[] = ARRAY_TYPES.map(([, arrays]) => arrays)
  const columns = await sql<{ column: string }[]>`
    select a.attrelid::regclass || '.' || a.attname as column
    from pg_attribute a
    join pg_class c on c.oid = a.attrelid and c.relkind in ('r', 'p', 'v', 'm')
    join pg_namespace n on n.oid = c.relnamespace and n.nspname = any(current_schemas(false))
    join pg_type t on t.oid = a.atttypid and t.typcategory = 'A'
    where a.attnum > 0 and not a.atttypid = any(${listedTypes as number[]}::oid[])
    order by 1`
  expect([...columns]).toEqual([])
})

test("the first statement of a connection reads an array correctly, with null elements as null", async () => {
  const [row] = await sql.reserve().then(async (connection) => {
    const rows = await connection`
      select ${["a", "b"]}::text[] as texts, ${[1, 2]}::int[] as numbers, ${[3]}::bigint[] as large,
        array['2026-11-26'::date] as days, array[true, null] as flags, array[null, 0]::float8[] as floats,
        array['NULL', null, 'null'] as words, array[array[1, null], array[null, 2]] as nested`
    connection.release()
    return rows
  })
  expect(row).toEqual({
    texts: ["a", "b"],
    numbers: [1, 2],
    large: [3],
    days: ["2026-11-26"],
    flags: [true, null],
    floats: [null, 0],
    words: ["NULL", null, "null"],
    nested: [
      [1, null],
      [null, 2],
    ],
  } as never)
})
