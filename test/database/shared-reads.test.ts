import { beforeAll, describe, expect, test } from "bun:test"
import { createSharedReads } from "../../src/database/shared-reads.ts"
import type { Sql } from "../../src/database/types.ts"
import { freshDatabase, ownHandle } from "../database.ts"
import { errorOf } from "../error-of.ts"

let sql: Sql

beforeAll(async () => {
  sql = await freshDatabase()
})

/** Readings that end when the test says so: each tells how many had begun before it. */
function readings() {
  const begun: PromiseWithResolvers<number>[] = []
  const read = () => {
    const one = Promise.withResolvers<number>()
    begun.push(one)
    return one.promise
  }
  return { begun, read }
}

const aTurn = () => new Promise((resolve) => setImmediate(resolve))

describe("what is asked by name", () => {
  test("is read once at a time for who asks in one turn, and whoever asks meanwhile gets a reading that begins later", async () => {
    const { begun, read } = readings()
    const shared = createSharedReads<number>()
    const first = [shared(sql, "a", read), shared(sql, "a", read), shared(sql, "a", read)]
    expect(begun.length).toBe(0)
    await aTurn()
    const later = [shared(sql, "a", read), shared(sql, "a", read), shared(sql, "a", read)]
    await aTurn()
    expect(begun.length).toBe(1)
    begun[0]!.resolve(1)
    expect(await Promise.all(first)).toEqual([1, 1, 1])
    await aTurn()
    await aTurn()
    expect(begun.length).toBe(2)
    const last = shared(sql, "a", read)
    begun[1]!.resolve(2)
    expect(await Promise.all(later)).toEqual([2, 2, 2])
    await aTurn()
    await aTurn()
    begun[2]!.resolve(3)
    expect(await last).toBe(3)
    await aTurn()
    await aTurn()
    void shared(sql, "a", read)
    await aTurn()
    expect(begun.length).toBe(4)
  })

  test("waits for no other name and no other database", async () => {
    const { begun, read } = readings()
    const shared = createSharedReads<number>()
    for (const [handle, name] of [
      [sql, "a"],
      [sql, "b"],
      [ownHandle(sql), "a"],
    ] as const)
      void shared(handle, name, read)
    await aTurn()
    expect(begun.length).toBe(3)
  })

  test("is asked again after a failure, and each who waited for what failed reads for itself", async () => {
    const { begun, read } = readings()
    const shared = createSharedReads<number>()
    const failed = errorOf(shared(sql, "a", read))
    await aTurn()
    const next = errorOf(shared(sql, "a", read))
    const others = [shared(sql, "a", read), shared(sql, "a", read)]
    begun[0]!.reject(new Error("away"))
    expect(await failed).toEqual(new Error("away"))
    await aTurn()
    await aTurn()
    expect(begun.length).toBe(2)
    begun[1]!.reject(new Error("away still"))
    expect(await next).toEqual(new Error("away still"))
    await aTurn()
    expect(begun.length).toBe(4)
    begun[2]!.resolve(2)
    begun[3]!.resolve(3)
    expect(await Promise.all(others)).toEqual([2, 3])
  })

  test("is not waited for once a reading has not come back for a second", async () => {
    const { begun, read } = readings()
    const shared = createSharedReads<number>()
    void shared(sql, "a", read)
    await aTurn()
    const next = shared(sql, "a", read)
    await Bun.sleep(1_100)
    expect(begun.length).toBe(2)
    begun[1]!.resolve(2)
    expect(await next).toBe(2)
  }, 10_000)
})
