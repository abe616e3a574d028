import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { createGate, DatabaseUnavailable, type Gate } from "../../src/database/gate.ts"
import type { Place } from "../../src/database/types.ts"
import { errorOf } from "../error-of.ts"

setDefaultTimeout(30_000)

/** Work that holds its place until it is told to end. */
function held(gate: Gate, workspaceId: number, kind = "read", limitMs = 20_000) {
  const end = Promise.withResolvers<void>()
  const work = { begun: false, end: end.resolve, outcome: Promise.resolve("") }
  const run = async () => {
    work.begun = true
    await end.promise
    return "done"
  }
  work.outcome = gate.runInTurn({ workspaceId, kind }, run, limitMs).catch(whyOf)
  return work
}

const whyOf = (error: unknown) => (error instanceof DatabaseUnavailable ? error.why : String(error))
const soon = () => Bun.sleep(1)
const begun = (works: { begun: boolean }[]) => works.filter((work) => work.begun).length

/** Makes known that this kind of work of a workspace takes so long. */
async function learn(gate: Gate, workspaceId: number, kind: string, ms: number, times = 3): Promise<void> {
  for (let time = 0; time < times; time++) await gate.runInTurn({ workspaceId, kind }, () => Bun.sleep(ms))
}

describe("places at the database", () => {
  test("one workspace never has them all, and who comes later does not stand behind what it has sent", async () => {
    const gate = createGate({ places: 8 })
    const flood = Array.from({ length: 40 }, () => held(gate, 1))
    await soon()
    expect(begun(flood)).toBe(4)
    const others = [2, 3, 4, 5].map((workspace) => held(gate, workspace))
    await soon()
    expect(begun(others)).toBe(4)
    for (const work of [...flood, ...others]) work.end()
    expect(new Set(await Promise.all([...flood, ...others].map(({ outcome }) => outcome)))).toEqual(new Set(["done"]))
    expect(gate.unfinished).toBe(0)
  })

  test("go round: of two that send as fast as they can each gets the same share of the time, however long its pieces", async () => {
    const gate = createGate({ places: 1 })
    const hadMs = [0, 0]
    const until = performance.now() + 1_200
    const sender = async (workspaceId: number, ms: number) => {
      while (performance.now() < until) {
        const errand = { workspaceId, kind: "read" }
        await gate.runInTurn(errand, async () => {
          const began = performance.now()
          await Bun.sleep(ms)
          hadMs[workspaceId - 1]! += performance.now() - began
        })
      }
    }
    // the second sends work four times as long, from three senders at once
    await Promise.all([sender(1, 5), sender(1, 5), ...[1, 2, 3].map(() => sender(2, 20))])
    expect(hadMs[0]! / hadMs[1]!).toBeWithin(0.6, 1.6)
  })

  test("are not for a long read while a short one of another workspace is under way", async () => {
    const gate = createGate({ places: 8 })
    await learn(gate, 1, "long", 60)
    const short = held(gate, 2)
    await soon()
    const long = held(gate, 1, "long")
    await soon()
    expect([short.begun, long.begun]).toEqual([true, false])
    short.end()
    await soon()
    expect(long.begun).toBeTrue()
    long.end()
    await long.outcome
  })

  test("go to one long read of a workspace at a time, and to its short ones beside it", async () => {
    const gate = createGate({ places: 8 })
    await learn(gate, 1, "long", 60)
    const long = [held(gate, 1, "long"), held(gate, 1, "long")]
    const short = held(gate, 1, "short")
    await soon()
    expect([begun(long), short.begun]).toEqual([1, true])
    for (const work of [...long, short]) work.end()
    await Promise.all(long.map(({ outcome }) => outcome))
  })

  test("are given back by a long read at its pauses, to whoever has had less", async () => {
    const gate = createGate({ places: 1 })
    const order: string[] = []
    const long = gate.runInTurn({ workspaceId: 1, kind: "long" }, async ({ pause }: Place) => {
      for (let piece = 0; piece < 4; piece++) {
        order.push("piece")
        await Bun.sleep(20)
        await pause()
      }
    })
    await soon()
    const short = [2, 3].map((workspaceId) => gate.runInTurn({ workspaceId, kind: "short" }, async () => void order.push("short"))) // biome-ignore format: one line
    await Promise.all([long, ...short])
    expect(order).toEqual(["piece", "short", "short", "piece", "piece", "piece"])
  })

  test("are free while work waits for something else than the database", async () => {
    const gate = createGate({ places: 2 })
    const store = Promise.withResolvers<void>()
    const waits = [1, 2, 3].map((workspaceId) =>
      gate.runInTurn({ workspaceId, kind: "read" }, async ({ aside }) => {
        await Promise.all([aside(() => store.promise), aside(() => store.promise)])
        return "done"
      }),
    )
    await soon()
    const other = held(gate, 4)
    await soon()
    expect(other.begun).toBeTrue()
    other.end()
    store.resolve()
    expect(await Promise.all(waits)).toEqual(["done", "done", "done"])
    expect(gate.unfinished).toBe(0)
  })
})

describe("a read that cannot end in time", () => {
  test("is none for what was given up while it waited aside", async () => {
    const gate = createGate({ deadlineMs: 30, places: 2 })
    const away = Promise.withResolvers<void>()
    const errand = { workspaceId: 1, kind: "read" }
    const waits = Array.from({ length: 12 }, () => gate.runInTurn(errand, ({ aside }) => aside(() => away.promise)))
    expect(await Promise.all(waits.map(errorOf))).toEqual(Array(12).fill(expect.any(DatabaseUnavailable)))
    away.resolve()
    await soon()
    expect(gate.unfinished).toBe(0)
    expect(await gate.runInTurn(errand, async () => "answered")).toBe("answered")
  })

  test("is refused before it begins, with how long it takes and what stands before it", async () => {
    const gate = createGate({ places: 8 })
    await learn(gate, 1, "long", 80)
    const first = held(gate, 1, "long")
    const second = gate.runInTurn({ workspaceId: 1, kind: "long" }, async () => "done", 150)
    const refusal = await second.then(
      () => null,
      (error) => error as DatabaseUnavailable,
    )
    expect(refusal?.why).toBe("crowded")
    expect(refusal?.tooLong?.expectedMs).toBeWithin(75, 400)
    expect(refusal?.tooLong?.aheadMs).toBeWithin(1, 400)
    // another's is not, whatever this one has sent, nor its own short ones
    const [other, own] = [gate.runInTurn({ workspaceId: 2, kind: "long" }, async () => "done", 150), gate.runInTurn({ workspaceId: 1, kind: "short" }, async () => "done", 150)] // biome-ignore format: one line
    expect(await Promise.all([other, own])).toEqual(["done", "done"])
    first.end()
    await first.outcome
  })

  test("ends at its next pause once its caller has given up, and keeps its workspace's place until then", async () => {
    const gate = createGate({ places: 2 })
    let pieces = 0
    const work = async ({ pause }: Place) => {
      for (; pieces < 100; pieces++) {
        await Bun.sleep(30)
        await pause()
      }
    }
    expect(await gate.runInTurn({ workspaceId: 1, kind: "long" }, work, 50).catch(whyOf)).toBe("deadline")
    const next = held(gate, 1, "short")
    await soon()
    expect([next.begun, gate.unfinished, gate.waiting]).toEqual([false, 2, 1])
    await Bun.sleep(100)
    expect([next.begun, pieces < 5]).toEqual([true, true])
    next.end()
    await next.outcome
    expect([gate.unfinished, gate.waiting]).toEqual([0, 0])
  })

  test("never begins when its turn does not come", async () => {
    const gate = createGate({ places: 2 })
    const first = held(gate, 1)
    const late = held(gate, 1, "read", 20)
    expect(await late.outcome).toBe("crowded")
    first.end()
    await first.outcome
    await soon()
    expect(late.begun).toBeFalse()
  })
})

describe("what waits", () => {
  test("of one workspace is at most half of all", async () => {
    const gate = createGate({ places: 2, maxWaiting: 20 })
    const flood = Array.from({ length: 30 }, () => held(gate, 1, "read", 40))
    const other = held(gate, 2, "read", 1_000)
    await soon()
    other.end()
    expect(await other.outcome).toBe("done")
    const outcomes = await Promise.all(flood.map(({ outcome }) => outcome))
    expect(outcomes.filter((outcome) => outcome === "crowded")).toHaveLength(29)
    flood[0]!.end()
  })

  test("makes room for who has less of it: the longest line loses its newest", async () => {
    const gate = createGate({ places: 4, maxWaiting: 20 })
    const floods = [1, 2, 3].flatMap((workspace) => Array.from({ length: 10 }, () => held(gate, workspace)))
    const other = held(gate, 4)
    for (const work of [...floods, other]) work.end()
    expect(await other.outcome).toBe("done")
    expect((await Promise.all(floods.map(({ outcome }) => outcome))).filter((one) => one !== "done").length).toBeWithin(1, 15) // biome-ignore format: one line
  })

  test("is no reason to refuse who is being asked for, or what is to be charged", async () => {
    const gate = createGate({ places: 2, maxWaiting: 10 })
    const flood = [1, 2, 3, 4].flatMap((workspace) => Array.from({ length: 10 }, () => held(gate, workspace)))
    expect(await gate.run(async () => "charged")).toBe("charged")
    for (const work of flood) work.end()
    await Promise.all(flood.map(({ outcome }) => outcome))
  })
})
