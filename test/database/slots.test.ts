import { describe, expect, test } from "bun:test"
import { type SlotCall, type SlotHolder, Slots } from "../../src/database/slots.ts"
import { DatabaseUnavailable } from "../../src/database/unavailable.ts"
import { slow } from "../long.ts"

type Options = Partial<ConstructorParameters<typeof Slots>[0]>

/** Slots that record the order in which they are granted. */
function recordCalls(options: Options = {}) {
  const slots = new Slots({ slots: 2, maxWaiting: 100, ...options })
  const granted: string[] = []
  const releases = new Map<string, () => void>()
  let order = 0
  const call = (workspaceId: number, limitMs = 60_000): SlotCall => ({
    workspaceId,
    operation: `op${workspaceId}`,
    deadlineAt: performance.now() + limitMs,
    order: ++order,
    hasBegun: false,
  })
  const take = (name: string, slotCall: SlotCall): Promise<string> =>
    slots.take(slotCall).then(
      (release) => {
        granted.push(name)
        releases.set(name, release)
        return "granted"
      },
      (error) => (error instanceof DatabaseUnavailable ? error.why : String(error)),
    )
  const release = async (name: string) => {
    releases.get(name)!()
    await Bun.sleep(0)
  }
  return { slots, granted, call, take, release }
}

const settle = () => Bun.sleep(0)

describe("slots", () => {
  test("a workspace gets at most half of the slots, and the other slots stay free for other workspaces", async () => {
    const { granted, call, take } = recordCalls({ slots: 4 })
    for (const name of ["a1", "a2", "a3", "a4"]) void take(name, call(1))
    for (const name of ["b1", "c1", "d1"]) void take(name, call(name.charCodeAt(0)))
    await settle()
    expect(granted).toEqual(["a1", "a2", "b1", "c1"])
  })

  test("active workspaces get equal shares of the slots, and one share stays free", async () => {
    const { granted, call, take, release } = recordCalls({ slots: 6 })
    for (const name of ["a1", "a2", "a3", "a4"]) void take(name, call(1))
    await settle()
    expect(granted).toEqual(["a1", "a2", "a3"])
    for (const name of ["b1", "b2", "b3"]) void take(name, call(2))
    await settle()
    expect(granted.slice(3)).toEqual(["b1", "b2"])
    await release("a1")
    expect(granted.slice(5)).toEqual([])
    await release("a2")
    expect(granted.slice(5)).toEqual(["a4"])
  })

  slow("a workspace may use half of the slots again a second after the last activity of other workspaces", async () => {
    const { granted, call, take, release } = recordCalls({ slots: 4 })
    void take("b1", call(2))
    await settle()
    await release("b1")
    for (const name of ["a1", "a2"]) void take(name, call(1))
    await settle()
    expect(granted.slice(1)).toEqual(["a1"])
    await Bun.sleep(1_050)
    void take("a3", call(1))
    await settle()
    expect(granted.slice(1)).toEqual(["a1", "a2"])
  })

  slow("a workspace that holds a slot counts as active however long its statement takes", async () => {
    const { granted, call, take } = recordCalls({ slots: 4 })
    void take("a1", call(1))
    await Bun.sleep(1_050)
    for (const name of ["b1", "b2"]) void take(name, call(2))
    await settle()
    expect(granted).toEqual(["a1", "b1"])
  })

  test("waiting workspaces take turns, however many statements each workspace has in its queue", async () => {
    const { granted, call, take, release } = recordCalls({ slots: 1 })
    const calls = { a: call(1), b: call(2), c: call(3) }
    for (const name of ["a1", "a2", "a3", "a4"]) void take(name, calls.a)
    for (const name of ["b1", "b2"]) void take(name, calls.b)
    void take("c1", calls.c)
    await settle()
    for (let next = 0; next < 6; next++) await release(granted.at(-1)!)
    expect(granted).toEqual(["a1", "a2", "b1", "c1", "a3", "b2", "a4"])
  })

  test("a freed slot waits briefly for the next statement of the workspace with fewer calls", async () => {
    const { granted, call, take, release } = recordCalls({ slots: 2 })
    const light = call(2)
    for (const name of ["a1", "a2", "a3"]) void take(name, call(1))
    void take("b1", light)
    await Bun.sleep(20)
    for (const name of ["a1", "b1"]) void release(name)
    void take("b2", light)
    await settle()
    expect(granted.slice(0, 3)).toEqual(["a1", "b1", "b2"])
    // The workspace yields only for a while: b, with fewer calls, still has its slot.
    await Bun.sleep(60)
    expect(granted.slice(3)).toEqual(["a2"])
  })

  test("a workspace gets no further slot while it yields to a workspace with fewer calls", async () => {
    const { granted, call, take, release } = recordCalls({ slots: 8 })
    for (const name of ["a1", "a2", "a3", "a4", "a5", "a6"]) void take(name, call(1))
    void take("b1", call(2))
    await Bun.sleep(20)
    for (const name of ["a1", "a2", "a3", "a4"]) void release(name)
    // Without a turn of the event loop, in which the time to yield might end.
    for (let step = 0; step < 10; step++) await null
    expect(granted.slice(4)).toEqual(["b1"])
    await Bun.sleep(60)
    expect(granted.slice(5)).toEqual(["a5", "a6"])
  })

  test("the oldest call of a workspace goes first, so that newer calls do not overtake it", async () => {
    const { granted, call, take, release } = recordCalls({ slots: 1 })
    const first = call(1)
    const later = ["b", "c"].map((name) => ({ name, slotCall: call(1) }))
    void take("a1", first)
    await settle()
    for (const { name, slotCall } of later) void take(name, slotCall)
    void take("a2", first)
    await settle()
    for (let next = 0; next < 3; next++) await release(granted.at(-1)!)
    expect(granted).toEqual(["a1", "a2", "b", "c"])
  })

  test("a call waits for a slot only until its deadline", async () => {
    const { granted, call, take, release } = recordCalls({ slots: 1 })
    void take("a", call(1))
    const lateCall = call(2, 20)
    expect(await take("b", lateCall)).toBe("crowded")
    expect(await take("b", lateCall)).toBe("crowded")
    await release("a")
    expect(await take("c", call(3))).toBe("granted")
    expect(granted).toEqual(["a", "c"])
  })

  test("a call that already had a slot is refused with deadline, because it may have written", async () => {
    const { call, take, release } = recordCalls({ slots: 1 })
    const active = call(2, 50)
    await take("b1", active)
    await release("b1")
    void take("a", call(1))
    expect(await take("b2", active)).toBe("deadline")
  })

  test("when too many calls wait, the newest call of the workspace with the longest queue is refused", async () => {
    const { call, take } = recordCalls({ slots: 1, maxWaiting: 3 })
    void take("a1", call(1))
    await settle()
    const [, , newest] = ["a2", "a3", "a4"].map((name) => take(name, call(1)))
    void take("b1", call(2))
    expect(await newest).toBe("crowded")
    expect(await take("a5", call(1))).toBe("crowded")
  })

  test("a slot that is never released is reclaimed, and the call that held it is logged", async () => {
    const shortages: { why: string; holders: SlotHolder[] }[] = []
    const onShortage = (why: string, holders: SlotHolder[]) => void shortages.push({ why, holders })
    const { slots, granted, call, take } = recordCalls({ slots: 1, maxHeldMs: 40, onShortage })
    let abandoned = 0
    await slots.take(call(1), () => abandoned++)
    expect(await take("b", call(2))).toBe("granted")
    expect([granted, abandoned]).toEqual([["b"], 1])
    expect(shortages).toMatchObject([{ why: "taken_back", holders: [{ workspaceId: 1, operation: "op1" }] }])
  })

  test("slots are stuck if all are held and none was released for longer than a statement may take", async () => {
    const { slots, call, take, release } = recordCalls({ stuckAfterMs: 30 })
    void take("a", call(1))
    await Bun.sleep(40)
    expect(slots.isStuck).toBeFalse()
    void take("b", call(2))
    await settle()
    expect(slots.isStuck).toBeFalse()
    await Bun.sleep(40)
    expect(slots.isStuck).toBeTrue()
    await release("a")
    expect(slots.isStuck).toBeFalse()
  })
})
