import { beforeAll, describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { holdLock, LOCKS, takeLock, takeLocks, takeSharedLock, tryLock } from "../../src/database/locks.ts"
import type { Sql } from "../../src/database/types.ts"
import { freshDatabase } from "../database.ts"

const names = LOCKS.map(({ name }) => name)
const numbers = LOCKS.flatMap((lock) => ("number" in lock ? [lock.number] : []))

describe("the list of advisory locks", () => {
  test("lock names and numbers are unique, and no lock name begins with another lock name", () => {
    expect(new Set(names).size).toBe(names.length)
    expect(names.filter((name) => names.some((other) => name.startsWith(`${other} `)))).toEqual([])
    expect(new Set(numbers).size).toBe(numbers.length)
  })

  test("the list of locks names every SQL function of the schema under the lock that it takes", () => {
    const schema = readFileSync(join(import.meta.dirname, "../snapshots/schema.sql"), "utf8")
    const functions = schema.match(/^create function [\s\S]*?\$\$;$/gm)!
    const listedInSql = functions.flatMap((text) => {
      const name = /^create function (\w+)/.exec(text)![1]!
      const locks = [...text.matchAll(/pg_\w*advisory\w+\(hashtextextended\('([^']+)'/g)].map(([, key]) => key!.trim())
      expect(locks).toHaveLength(text.split("advisory").length - 1)
      return [...new Set(locks)].map((lock) => `${lock}: ${name}`)
    })
    const listed = LOCKS.flatMap((lock) => ("functions" in lock ? lock.functions.map((f) => `${lock.name}: ${f}`) : []))
    expect(listed.toSorted()).toEqual(listedInSql.toSorted())
  })
})

describe("a lock", () => {
  let sql: Sql
  beforeAll(async () => {
    sql = await freshDatabase()
  })

  test("a lock keeps its key across versions, because several versions may run at the same time", async () => {
    const keys = await sql.begin(async (tx) => {
      await takeLock(tx, "migration")
      await takeSharedLock(tx, "identities removed")
      await takeLock(tx, "share links", 7)
      await takeLocks(tx, "findings", [
        ["app_b", "ios", "us"],
        ["app_a", "ios", "us"],
        ["app_b", "ios", "us"],
      ])
      expect(await tryLock(tx, "write", 7, "app app_a")).toBe(true)
      return await tx<{ key: string; mode: string }[]>`
        select (classid::bigint << 32 | objid::bigint)::text as key, mode
        from pg_locks
        where locktype = 'advisory' and pid = pg_backend_pid()
        order by key`
    })
    const texts = ["share links 7", "findings app_a ios us", "findings app_b ios us", "write 7 app app_a"]
    const expected = await sql`
      select key::text, case key when ${4_726_313_901}::bigint then 'ExclusiveLock' else mode end as mode
      from (
        select hashtextextended(text, 0) as key, 'ExclusiveLock' as mode
        from unnest(${texts}::text[]) text
        union all
        select hashtextextended('identities removed', 0), 'ShareLock'
        union all
        select ${4_726_313_901}::bigint, 'ExclusiveLock'
      ) k
      order by key::text`
    expect([...keys]).toEqual([...expected] as typeof keys)
  })

  test("all lock keys are distinct, whether hashed or fixed", async () => {
    const [row] = await sql<[{ keys: number }]>`
      select count(distinct key)::int as keys
      from (
        select hashtextextended(name, 0) as key
        from unnest(${names}::text[]) name
        union all
        select unnest(${numbers}::bigint[])
      ) k`
    expect(row.keys).toBe(names.length + numbers.length)
  })

  test("taking an empty list of locks succeeds", async () => {
    await sql.begin(async (tx) => await takeLocks(tx, "reviews", []))
  })

  test.skipIf(!process.env.DATABASE_URL)(
    "postgres: a lock held by another transaction cannot be taken until the transaction ends",
    async () => {
      const release = await holdLock(sql, "first start")
      expect(release).not.toBeNull()
      expect(await holdLock(sql, "first start")).toBeNull()
      await release!()
      const releaseAgain = await holdLock(sql, "first start")
      expect(releaseAgain).not.toBeNull()
      await releaseAgain!()
      await sql.begin(async (tx) => {
        await takeLock(tx, "write", 1, "x")
        const attempts = await sql.begin(async (other) => [
          await tryLock(other, "write", 1, "x"),
          await tryLock(other, "write", 2, "x"),
        ])
        expect(attempts).toEqual([false, true])
      })
    },
  )
})
