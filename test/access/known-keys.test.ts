import { beforeAll, expect, test } from "bun:test"
import { randomBytes } from "node:crypto"
import { keyDigest, makeKey } from "../../src/access/keys.ts"
import { createKnownKeys, type Proof } from "../../src/access/known-keys.ts"
import type { Sql } from "../../src/database/types.ts"
import { freshDatabase } from "../database.ts"
import { countingLookUps, someKey, someWorkspace } from "./registered.ts"

let sql: Sql

const proofOf = (secret: string): Proof => ({ by: "key", digest: keyDigest(secret) })

beforeAll(async () => {
  sql = await freshDatabase()
})

test("at most maxKeys keys are cached, and a flood of unknown keys evicts no cached key", async () => {
  const workspace = await someWorkspace(sql)
  const [first, second, third] = await Promise.all(
    Array.from({ length: 3 }, async () => proofOf((await someKey(sql, workspace)).secret)),
  )
  const counted = countingLookUps(sql)
  const cache = createKnownKeys({ sql: counted.sql, ttlMs: 750, elapsedMs: () => 0, maxKeys: 2 })
  await cache.find(first!)
  for (let tried = 0; tried < 20; tried++) {
    expect(await cache.find(proofOf(makeKey("live", randomBytes)))).toBeNull()
  }
  expect(cache.has(first!)).toBe(true)
  await cache.find(second!)
  await cache.find(third!)
  expect([first!, second!, third!].map(cache.has)).toEqual([false, true, true])
  const before = counted.count()
  await cache.find(second!)
  await cache.find(first!)
  expect(counted.count()).toBe(before + 1)
})

test("concurrent calls share a slow key query only until the cache time has passed", async () => {
  const { secret } = await someKey(sql, await someWorkspace(sql))
  const counted = countingLookUps(sql)
  const clock = { ms: 0 }
  const cache = createKnownKeys({ sql: counted.sql, ttlMs: 750, elapsedMs: () => clock.ms })
  const lookUps = [cache.find(proofOf(secret))]
  clock.ms = 749
  lookUps.push(cache.find(proofOf(secret)))
  expect(counted.count()).toBe(1)
  clock.ms = 750
  lookUps.push(cache.find(proofOf(secret)))
  expect(counted.count()).toBe(2)
  const answers = await Promise.all(lookUps)
  expect(answers[1]).toBe(answers[0]!)
  expect(answers[2]).not.toBe(answers[0]!)
})
