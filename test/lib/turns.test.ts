import { expect, test } from "bun:test"
import { createTurns } from "../../src/lib/turns.ts"

const patient = new AbortController().signal

/** Waits for a turn, and logs whether the caller entered or gave up. */
function coming(turns: ReturnType<typeof createTurns>, log: string[], name: string, signal = patient): Promise<void> {
  return turns.enter(signal).then(
    () => void log.push(name),
    () => void log.push(`${name} gave up`),
  )
}

test("waiting callers enter in order of arrival", async () => {
  const [turns, log] = [createTurns(2), [] as string[]]
  for (const name of ["a", "b", "c", "d"]) void coming(turns, log, name)
  await Bun.sleep(0)
  expect(log).toEqual(["a", "b"])
  turns.leave()
  turns.leave()
  await Bun.sleep(0)
  expect(log).toEqual(["a", "b", "c", "d"])
})

test("a slot that was passed to a waiting caller cannot be taken by a new caller", async () => {
  const [turns, log] = [createTurns(1), [] as string[]]
  await turns.enter(patient)
  void coming(turns, log, "waiting")
  turns.leave()
  void coming(turns, log, "late")
  await Bun.sleep(0)
  expect(log).toEqual(["waiting"])
  turns.leave()
  await Bun.sleep(0)
  expect(log).toEqual(["waiting", "late"])
})

test("a caller that gives up just as it gets a slot leaves the slot to the next caller", async () => {
  const [turns, log, giving] = [createTurns(1), [] as string[], new AbortController()]
  await turns.enter(patient)
  const first = coming(turns, log, "first", giving.signal)
  const second = coming(turns, log, "second")
  turns.leave()
  giving.abort()
  await first
  turns.leave()
  await Promise.race([second, Bun.sleep(1_000)])
  expect(log).toEqual(["first", "second"])
})

test("a caller that gives up while waiting is skipped", async () => {
  const [turns, log, giving] = [createTurns(1), [] as string[], new AbortController()]
  await turns.enter(patient)
  const first = coming(turns, log, "first", giving.signal)
  const second = coming(turns, log, "second")
  giving.abort()
  await first
  turns.leave()
  await second
  await coming(turns, log, "third", giving.signal)
  expect(log).toEqual(["first gave up", "second", "third gave up"])
})
