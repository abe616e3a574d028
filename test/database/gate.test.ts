import { expect, test } from "bun:test"
import { createGate, DatabaseUnavailable, isConnectionProblem } from "../../src/database/gate.ts"

const outcome = (work: Promise<unknown>) =>
  work.then(
    (value) => value,
    (error) => (error instanceof DatabaseUnavailable ? error.why : error.message),
  )

test("a gate returns the value or the error of the work that it runs", async () => {
  const gate = createGate()
  expect(await outcome(gate.run(async () => 42))).toBe(42)
  expect(await outcome(gate.run(async () => Promise.reject(new Error("own"))))).toBe("own")
  const throwError = () => {
    throw new Error("at once")
  }
  expect(await outcome(gate.run(throwError))).toBe("at once")
  expect(gate.unfinished).toBe(0)
})

test("the deadline ends the wait, and the abandoned work counts as unfinished until it ends", async () => {
  const unhandled: unknown[] = []
  const note = (error: unknown) => unhandled.push(error)
  process.on("unhandledRejection", note)
  const gate = createGate({ deadlineMs: 30 })
  const work = Promise.withResolvers<void>()
  const startedAt = performance.now()
  expect(await outcome(gate.run(() => work.promise))).toBe("deadline")
  expect(performance.now() - startedAt).toBeLessThan(300)
  expect(gate.unfinished).toBe(1)
  work.reject(new Error("late"))
  await Bun.sleep(10)
  process.off("unhandledRejection", note)
  expect(gate.unfinished).toBe(0)
  expect(unhandled).toEqual([])
})

test("a caller's deadline that is shorter than the gate's deadline ends the wait", async () => {
  const gate = createGate({ deadlineMs: 60_000 })
  expect(await outcome(gate.run(() => new Promise(() => {}), 20))).toBe("deadline")
})

test("a gate at its limit of unfinished work starts no more work until some work ends", async () => {
  const gate = createGate({ deadlineMs: 20, maxWaiting: 3 })
  const ends = Array.from({ length: 3 }, () => Promise.withResolvers<void>())
  expect(await Promise.all(ends.map((end) => outcome(gate.run(() => end.promise))))).toEqual(Array(3).fill("deadline"))
  let started = 0
  const work = async () => ++started
  expect(await outcome(gate.run(work))).toBe("crowded")
  expect(started).toBe(0)
  ends[0]!.resolve()
  await Bun.sleep(1)
  expect(await outcome(gate.run(work))).toBe(1)
  for (const end of ends) end.resolve()
})

test("a lost connection or a timeout is a connection problem, and a failed SQL statement is not", () => {
  const code = (code: string) => isConnectionProblem(Object.assign(new Error(), { code }))
  for (const errorCode of ["CONNECTION_CLOSED", "ECONNREFUSED", "57P01", "57014", "53300", "08006", "25006", "55P03"]) {
    expect([errorCode, code(errorCode)]).toEqual([errorCode, true])
  }
  for (const wrong of ["42601", "23505", "22012", "40001"]) expect([wrong, code(wrong)]).toEqual([wrong, false])
  expect(isConnectionProblem(null)).toBe(false)
  expect(isConnectionProblem(new DatabaseUnavailable("deadline", "late"))).toBe(true)
})
