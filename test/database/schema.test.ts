import { beforeAll, expect, test } from "bun:test"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Sql } from "../../src/database/types.ts"
import { freshDatabase } from "../database.ts"
import { describeSchema } from "./describe-schema.ts"

const PATH = join(import.meta.dirname, "../../sql/schema.sql")

let sql: Sql

beforeAll(async () => {
  sql = await freshDatabase()
  // months that other tests of this process opened are no part of what the migrations make
  const months = await sql<{ name: string }[]>`
    select relname as name
    from pg_class
    where relnamespace = 'public'::regnamespace and relkind = 'r' and relispartition`
  for (const { name } of months) await sql`drop table ${sql(name)}`
})

// The same file is compared with the embedded database and, with DATABASE_URL set, with a server.
test("sql/schema.sql is what the migrations make (UPDATE=1 rewrites it)", async () => {
  const described = await describeSchema(sql)
  if (process.env.UPDATE === "1") writeFileSync(PATH, described)
  expect(readFileSync(PATH, "utf8")).toBe(described)
})

test("the description names columns, constraints, indexes, functions, triggers and partitions", async () => {
  await sql`create schema odd`
  await sql.begin(async (tx) => {
    await tx`set local search_path = odd`
    await tx`create type mood as enum ('good', 'bad')`
    await tx`
      create table part (
        id int generated always as identity, day date not null, mood mood default 'good', twice int generated always as (2) stored,
        "Big" text collate "C" not null check ("Big" <> ''), primary key (id, day)
      ) partition by range (day)`
    await tx`create table part_1 partition of part for values from ('2026-01-01') to ('2026-02-01') with (fillfactor = 50)`
    await tx`create index part_mood on part (mood, (lower("Big"))) where mood = 'bad'`
    await tx`create function t() returns trigger language plpgsql as 'begin return new; end'`
    await tx`create trigger part_t before insert on part for each row execute function t()`
    await tx`create view seen as select id from part`
    expect(await describeSchema(tx as unknown as Sql)).toMatchSnapshot()
  })
  await sql`drop schema odd cascade`
})
