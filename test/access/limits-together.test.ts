import { expect, test } from "bun:test"
import { openLimits } from "../../src/access/limits/open.ts"
import type { RedisWire } from "../../src/access/limits/redis-wire.ts"
import { bunRedisWire } from "../../src/access/redis/bun-wire.ts"
import type { Sql } from "../../src/database/types.ts"
import { silentLog } from "../../src/lib/log.ts"
import { slow } from "../long.ts"

const REDIS_URL = process.env.REDIS_URL ?? ""
const prefix = `test-together-${process.pid}-${Date.now()}`

const open = (wire: RedisWire, now = () => new Date()) =>
  openLimits({ sql: null as unknown as Sql, log: silentLog, prefix, wire, now })

let subjects = 0
const someone = () => `subject-${subjects++}`

test.skipIf(!REDIS_URL)(
  "redis: calls that arrive during a command share the next command, and each call is decided separately",
  async () => {
    const commands: string[][] = []
    const wire = bunRedisWire(REDIS_URL)
    const counted: RedisWire = {
      send(command, args) {
        if (command === "evalsha") commands.push(args.slice(2, 2 + Number(args[1])))
        return wire.send(command, args)
      },
      close() {},
    }
    const limits = open(counted, () => new Date("2026-03-01T12:00:00Z"))
    while (!(await limits.ping())) await Bun.sleep(20)
    const { rate } = limits
    await rate.take(someone(), 1)
    commands.length = 0
    const [first, second] = [someone(), someone()]
    const requests = Array.from({ length: 600 }, (_, i) =>
      i % 3 ? { caller: first, limit: 300 } : { caller: second, limit: i % 9 },
    )
    const answers = await Promise.all(requests.map(({ caller, limit }) => rate.take(caller, limit)))
    const used = { [first]: 0, [second]: 0 }
    for (const [at, { caller, limit }] of requests.entries()) {
      const allowed = (used[caller] as number) < limit
      if (allowed) used[caller]!++
      expect(answers[at]).toMatchObject({ allowed, limit, remaining: Math.max(0, limit - (used[caller] as number)) })
    }
    expect(commands.length).toBeLessThan(10)
    expect(commands.flat()).toHaveLength(used[first]! + used[second]!)
    wire.close()
  },
)

slow("redis: a command without a reply does not delay later commands", async () => {
  let silent = true
  const send = (_: string, args: string[]) =>
    silent ? new Promise(() => {}) : Promise.resolve(Array(Number(args[1])).fill([1, 1]).flat())
  const { rate } = open({ send, close() {} })
  const first = await Promise.all(Array.from({ length: 5 }, () => rate.take(someone(), 2)))
  expect(first.map(({ degraded }) => degraded)).toEqual(Array(5).fill(true))
  silent = false
  await Bun.sleep(1_000)
  expect(await rate.take(someone(), 2)).toMatchObject({ allowed: true, remaining: 1 })
  expect((await rate.take(someone(), 2)).degraded).toBeUndefined()
})
