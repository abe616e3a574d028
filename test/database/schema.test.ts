import { beforeAll, expect, test } from "bun:test"
import type { Sql } from "../../src/database/types.ts"
import { freshDatabase } from "../database.ts"
import { slow } from "../long.ts"
import { expectSnapshot } from "../snapshot.ts"
import { describeSchema } from "./describe-schema.ts"

let sql: Sql

beforeAll(async () => {
  sql = await freshDatabase()
  // Partitions of months that other tests of this process added are not part of the schema.
  const months = await sql<{ name: string }[]>`
    select relname as name
    from pg_class
    where relnamespace = 'public'::regnamespace and relkind = 'r' and relispartition`
  for (const { name } of months) await sql`drop table ${sql(name)}`
})

// The same file is compared with the embedded database and, if DATABASE_URL is set, with a server.
slow("the baseline and the migrations produce the schema in the snapshot", async () => {
  expectSnapshot("schema.sql", await describeSchema(sql))
})

test("every constraint has a chosen name instead of a name that PostgreSQL generated", async () => {
  const rows = await sql<{ name: string }[]>`
    select k.conname as name
    from pg_constraint k
    join pg_class c on c.oid = k.conrelid
    where k.connamespace = 'public'::regnamespace
      and (
        k.conname ~ ('^' || c.relname || '_check\\d*$') or length(k.conname) = 63
        or k.contype = 'u' and cardinality(k.conkey) > 1 and k.conname !~ '_natural_key$'
      )
    order by 1`
  expect(rows.map(({ name }) => name)).toEqual([])
})

test("the schema description lists columns, constraints, indexes, functions, triggers and partitions", async () => {
  await sql`create schema odd`
  await sql.begin(async (tx) => {
    await tx`set local search_path = odd`
    await tx`create type mood as enum ('good', 'bad')`
    await tx`
      create table part (
        id int generated always as identity, day date not null, mood mood default 'good',
        twice int generated always as (2) stored,
        "Big" text collate "C" not null check ("Big" <> ''), primary key (id, day)
      ) partition by range (day)`
    await tx`
      create table part_1 partition of part for values from ('2026-01-01') to ('2026-02-01') with (fillfactor = 50)`
    await tx`create index part_mood on part (mood, (lower("Big"))) where mood = 'bad'`
    await tx`create function t() returns trigger language plpgsql as 'begin return new; end'`
    await tx`create trigger part_t before insert on part for each row execute function t()`
    await tx`create view seen as select id from part`
    expect(await describeSchema(tx as unknown as Sql)).toMatchSnapshot()
  })
  await sql`drop schema odd cascade`
})
