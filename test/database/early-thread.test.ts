import { expect, test } from "bun:test"
import { startBackend, startEarly } from "../../src/database/embedded/thread.ts"
import { query } from "../../src/database/embedded/wire.ts"

test("a thread that was begun early opens the first database, and another thread the next", async () => {
  startEarly()
  const lost: Error[] = []
  const first = await startBackend(null, (error) => lost.push(error))
  const second = await startBackend(null, (error) => lost.push(error))
  const askedFor = async (backend: typeof first, table: string) =>
    Buffer.from(
      await backend.exec(new Uint8Array(query(`create table ${table} (); select to_regclass('mine')`))),
    ).toString()
  expect(await askedFor(first, "mine")).toContain("mine")
  expect(await askedFor(second, "other")).not.toContain("mine\0")
  await first.close()
  await second.close()
  expect(lost).toEqual([])
})
