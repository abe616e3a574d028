import { expect, test } from "bun:test"
import { limitKeylessWrites } from "../../src/access/keyless-writes.ts"
import { createGate } from "../../src/database/gate.ts"
import { Fault } from "../../src/lib/faults.ts"

test("in a flood of writes from new addresses, two run concurrently, 200 wait and the rest are refused", async () => {
  const visitor = limitKeylessWrites(createGate())
  const open = Promise.withResolvers<void>()
  let running = 0
  let maxRunning = 0
  const write = async () => {
    maxRunning = Math.max(maxRunning, ++running)
    await open.promise
    running--
  }
  const flood = Array.from({ length: 300 }, (_, i) => visitor(`198.51.${i >> 8}.${i & 255}`).run(write))
  const ends = Promise.allSettled(flood)
  open.resolve()
  const refused = (await ends).filter(({ status }) => status === "rejected") as PromiseRejectedResult[]
  expect([maxRunning, refused.length]).toEqual([2, 98])
  for (const { reason } of refused) expect([reason instanceof Fault, reason.code]).toEqual([true, "unavailable"])
  expect(await visitor("192.0.2.1").run(async () => "well")).toBe("well")
})
