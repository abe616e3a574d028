import { expect, test } from "bun:test"
import { type Limits, type LimitsOptions, openLimits } from "../../src/access/limits/open.ts"
import type { RedisWire } from "../../src/access/limits/redis-wire.ts"
import type { Sql } from "../../src/database/types.ts"
import { type Log, type LogFields, silentLog } from "../../src/lib/log.ts"
import { errorOf } from "../error-of.ts"

const unusedSql = null as unknown as Sql

let subjects = 0
const someone = () => `subject-${subjects++}`

function open(options: Partial<LimitsOptions>): Limits {
  return openLimits({ sql: unusedSql, log: silentLog, ...options })
}

test("a process enforces the rate limit while Redis is down, and logs the outage once a minute", async () => {
  const lines: [string, string, LogFields | undefined][] = []
  const log: Log = (level, event, fields) => lines.push([level, event, fields])
  const deadWire: RedisWire = { send: () => Promise.reject(new Error("connection closed")), close() {} }
  let nowMs = Date.parse("2026-03-01T12:00:00Z")
  const { rate } = open({ wire: deadWire, log, now: () => new Date(nowMs) })
  const subject = someone()
  const answers = await Promise.all(Array.from({ length: 20 }, () => rate.take(subject, 3)))
  expect(answers.filter((answer) => answer.allowed)).toHaveLength(3)
  nowMs += 59_999
  await rate.take(subject, 3)
  expect(lines).toEqual([["warn", "limits_degraded", { count: 1, reason: "Error: connection closed" }]])
  nowMs += 1
  await rate.take(subject, 3)
  expect(lines.slice(1)).toEqual([["warn", "limits_degraded", { count: 4, reason: "Error: connection closed" }]])
})

test("a process allows no more calls than the rate limit while Redis answers only some requests", async () => {
  let commands = 0
  let counted = 0
  const flapping: RedisWire = {
    async send() {
      if (commands++ % 2 === 0) throw new Error("connection closed")
      return [1, ++counted]
    },
    close() {},
  }
  for (const isConcurrent of [true, false]) {
    const { rate } = open({ wire: flapping, now: () => new Date("2026-03-01T12:00:00Z") })
    const subject = someone()
    counted = 0
    const answers: boolean[] = []
    for (let round = 0; round < 10; round++) {
      const pending = Array.from({ length: isConcurrent ? 4 : 1 }, () => rate.take(subject, 3))
      answers.push(...(await Promise.all(pending)).map(({ allowed }) => allowed))
    }
    expect([isConcurrent, answers.filter(Boolean).length]).toEqual([isConcurrent, 3])
  }
})

test("without Redis each process allows calls up to the rate limit, but grants no daily allowance", async () => {
  const deadWire: RedisWire = { send: () => Promise.reject(new Error("connection closed")), close() {} }
  const now = () => new Date("2026-03-01T12:00:00Z")
  const processes = Array.from({ length: 3 }, () => open({ wire: deadWire, now }))
  const subject = someone()
  const pending = processes.flatMap(({ rate }) => Array.from({ length: 20 }, () => rate.take(subject, 5)))
  expect((await Promise.all(pending)).filter(({ allowed }) => allowed)).toHaveLength(15)
  for (const { hive } of processes)
    expect(await errorOf(hive.take(1, 500))).toMatchObject({ name: "AllowanceUnavailable" })
})

test("a call above the rate limit is refused by the process without a request to Redis", async () => {
  let units = 0
  const send = async (_: string, args: string[]) => {
    const keys = Number(args[1])
    units += keys
    return Array.from({ length: keys }, (_, at) => [1, at + 1]).flat()
  }
  const { rate } = open({ wire: { send, close() {} }, now: () => new Date("2026-03-01T12:00:00Z") })
  const subject = someone()
  const answers = await Promise.all(Array.from({ length: 50 }, () => rate.take(subject, 5)))
  expect([units, answers.filter(({ allowed }) => allowed).length]).toEqual([5, 5])
})

test("a call that Redis refuses does not count towards the process's own limit", async () => {
  let nowMs = Date.parse("2026-03-01T12:00:00Z")
  let isFull = true
  const send = async () => (isFull ? [0, 2] : [1, 1])
  const { rate } = open({ wire: { send, close() {} }, now: () => new Date(nowMs) })
  const subject = someone()
  for (let call = 0; call < 5; call++)
    expect(await rate.take(subject, 2)).toMatchObject({ allowed: false, remaining: 0 })
  // The store's second may begin earlier than this process's.
  isFull = false
  nowMs += 999
  expect(await rate.take(subject, 2)).toMatchObject({ allowed: true })
})
