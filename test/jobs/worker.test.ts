import { expect, test } from "bun:test"
import { createWorker, type LeasedWork, type Run } from "../../src/jobs/worker.ts"

const TIMING = { leaseMs: 1_000, pollMs: 1_000, stopMs: 1_000, ends: { worked() {}, failed() {} } }

async function ageOf(claimed: { since?: () => number }): Promise<number> {
  let waiting = [{ lease: "a" }]
  let age = Number.NaN
  const worker = createWorker<"lane", LeasedWork>(
    {
      lanes: ["lane"],
      atOnce: 1,
      async claim() {
        const claims = waiting
        waiting = []
        await Bun.sleep(40)
        return { claims, waitMs: claims.length > 0 ? 0 : null, ...claimed }
      },
      async perform(run: Run<LeasedWork>) {
        age = run.sinceLease()
      },
      giveBack: async () => {},
    },
    TIMING,
  )
  await worker.runOnce()
  return age
}

test("a lease's age is measured from the statement that took the lease, not from the start of the claim", async () => {
  expect(await ageOf({ since: () => 7 })).toBe(7)
})

test("a lease's age is measured from the start of the claim if the claim returns no time", async () => {
  expect(await ageOf({})).toBeGreaterThanOrEqual(39)
})

test("a nudge for one lane claims jobs only in that lane, and a nudge without a lane in all lanes", async () => {
  const lanes: string[] = []
  const worker = createWorker<"a" | "b", LeasedWork>(
    {
      lanes: ["a", "b"],
      atOnce: 1,
      async claim(lane) {
        lanes.push(lane)
        return { claims: [], waitMs: null }
      },
      perform: async () => {},
      giveBack: async () => {},
    },
    { ...TIMING, pollMs: 60_000 },
  )
  const lookedAfter = async (act: () => void) => {
    lanes.length = 0
    act()
    await Bun.sleep(20)
    return lanes.toSorted()
  }
  expect(await lookedAfter(() => worker.start())).toEqual(["a", "b"])
  expect(await lookedAfter(() => worker.nudge("b"))).toEqual(["b"])
  expect(await lookedAfter(() => worker.nudge())).toEqual(["a", "b"])
  await worker.stop()
})
