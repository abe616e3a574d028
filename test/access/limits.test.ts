import { afterAll, beforeAll, expect, test } from "bun:test"
import { createServer, type Socket, connect as tcpConnect } from "node:net"
import fc from "fast-check"
import { checkLimit, memoryLimiter } from "../../src/access/limits/limiter.ts"
import { type Limits, type LimitsOptions, openLimits } from "../../src/access/limits/open.ts"
import { WireRequester } from "../../src/access/limits/redis-requester.ts"
import type { RedisWire } from "../../src/access/limits/redis-wire.ts"
import { bunRedisWire } from "../../src/access/redis/bun-wire.ts"
import type { Sql } from "../../src/database/types.ts"
import { silentLog } from "../../src/lib/log.ts"
import { errorOf } from "../error-of.ts"
import { slow } from "../long.ts"
import { slowness } from "../unit.ts"
import { upstashRest } from "../upstash-rest.ts"

const REDIS_URL = process.env.REDIS_URL ?? ""
const withRedis = test.skipIf(!REDIS_URL)
const prefix = `test-${process.pid}-${Date.now()}`
const unusedSql = null as unknown as Sql

let subjects = 0
const someone = () => `subject-${subjects++}`

function open(options: Partial<LimitsOptions>): Limits {
  return openLimits({ sql: unusedSql, log: silentLog, prefix, ...options })
}

async function untilReachable(limits: Limits): Promise<void> {
  const deadline = Date.now() + 5_000
  while (!(await limits.ping())) {
    if (Date.now() > deadline) throw new Error("the store did not become reachable in 5 s")
    await Bun.sleep(20)
  }
}

let wire: RedisWire
let rest: Bun.Server<undefined>
beforeAll(async () => {
  if (!REDIS_URL) return
  wire = bunRedisWire(REDIS_URL)
  rest = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: upstashRest(wire, "token") })
  await untilReachable(open({ wire }))
})
afterAll(async () => {
  await rest?.stop(true)
  wire?.close()
})
const upstash = () => ({ url: `http://127.0.0.1:${rest.port}`, token: "token" })

const stores: [name: string, test: typeof withRedis, options: () => Partial<LimitsOptions>][] = [
  ["process", test, () => ({})],
  ["redis: wire", withRedis, () => ({ wire })],
  ["redis: upstash", withRedis, () => ({ upstash: upstash() })],
]

for (const [name, check, options] of stores) {
  let nowMs = Date.parse("2026-03-01T12:00:00.250Z")
  const openRate = () => open({ ...options(), now: () => new Date(nowMs) }).rate

  check(`${name}: calls above the limit are refused until the next second begins`, async () => {
    const rate = openRate()
    const subject = someone()
    nowMs = Date.parse("2026-03-01T12:00:00.250Z")
    const first = { limit: 2, resetMs: 750, retryAfterSeconds: 1 }
    expect(await rate.take(subject, 2)).toEqual({ ...first, allowed: true, remaining: 1 })
    expect(await rate.take(subject, 2)).toEqual({ ...first, allowed: true, remaining: 0 })
    expect(await rate.take(subject, 2)).toEqual({ ...first, allowed: false, remaining: 0 })
    nowMs = Date.parse("2026-03-01T12:00:00.999Z")
    expect(await rate.take(subject, 2)).toMatchObject({ allowed: false, resetMs: 1, retryAfterSeconds: 1 })
    nowMs = Date.parse("2026-03-01T12:00:01.000Z")
    expect(await rate.take(subject, 2)).toMatchObject({ allowed: true, remaining: 1, resetMs: 1_000 })
  })

  check(`${name}: a refused call does not count, and each call may have a different limit`, async () => {
    const rate = openRate()
    const subject = someone()
    for (const allowed of [true, true, false, false, false]) {
      expect(await rate.take(subject, 2)).toMatchObject({ allowed })
    }
    expect(await rate.take(subject, 3)).toMatchObject({ allowed: true, limit: 3, remaining: 0 })
    expect(await rate.take(subject, 1)).toMatchObject({ allowed: false, limit: 1, remaining: 0 })
    expect(await rate.take(someone(), 1)).toMatchObject({ allowed: true })
    expect(await rate.take(someone(), 0)).toMatchObject({ allowed: false, limit: 0, remaining: 0 })
  })

  check(`${name}: a limit of 10 allows exactly 10 of 100 concurrent calls`, async () => {
    const rate = openRate()
    const subject = someone()
    const answers = await Promise.all(Array.from({ length: 100 }, () => rate.take(subject, 10)))
    expect(answers.filter((answer) => answer.allowed)).toHaveLength(10)
    expect(answers.filter((answer) => answer.degraded)).toHaveLength(0)
  })

  check(`${name}: a negative, fractional or infinite limit throws a RangeError`, async () => {
    const rate = openRate()
    for (const limit of [Number.NaN, -1, 2.5, Number.POSITIVE_INFINITY]) {
      expect(await errorOf(rate.take(someone(), limit))).toBeInstanceOf(RangeError)
    }
  })

  check(`${name}: 250 different limits of one caller are each applied`, async () => {
    const rate = openRate()
    const subject = someone()
    for (let limit = 1; limit <= 250; limit++) {
      expect(await rate.take(subject, limit)).toEqual(expect.objectContaining({ allowed: true, limit, remaining: 0 }))
    }
  })

  check(`${name}: random calls are decided like a simple count per second`, async () => {
    const step = fc.record({ waitMs: fc.integer({ min: 0, max: 600 }), caller: fc.nat(2), limit: fc.nat(4) })
    const runs = name === "process" ? 2_000 : 20
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 60 }), async (steps) => {
        const rate = openRate()
        const run = someone()
        const counted = new Map<string, number>()
        for (const { waitMs, caller, limit } of steps) {
          nowMs += waitMs
          const second = `${Math.floor(nowMs / 1_000)} ${caller}`
          const before = counted.get(second) ?? 0
          const { allowed, degraded } = await rate.take(`${run}-${caller}`, limit)
          expect([allowed, degraded]).toEqual([before < limit, undefined])
          if (allowed) counted.set(second, before + 1)
        }
      }),
      { seed: 20261121, numRuns: runs },
    )
  })
}

test("the process drops a second's counters when the second ends", async () => {
  let nowMs = 0
  const rate = memoryLimiter(() => new Date(nowMs))
  for (let i = 0; i < 1_000; i++) await rate.take(`address-${i}`, 1)
  expect(await rate.take("address-7", 1)).toMatchObject({ allowed: false })
  nowMs = 1_000
  expect(await rate.take("address-7", 1)).toMatchObject({ allowed: true })
  expect(() => checkLimit(0)).not.toThrow()
})

withRedis("redis: 4 processes together allow 10 of 100 calls of one caller within a second", async () => {
  const subject = someone()
  const children = Array.from({ length: 4 }, () =>
    Bun.spawn([process.execPath, `${import.meta.dir}/../bench/limits.ts`, "burst", prefix, subject, "10", "25"], {
      env: { ...process.env, REDIS_URL },
      stdin: "pipe",
      stdout: "pipe",
    }),
  )
  const outputs = children.map((child) => child.stdout.pipeThrough(new TextDecoderStream()).getReader())
  for (const output of outputs) expect((await output.read()).value).toBe("ready\n")
  const at = Math.ceil((Date.now() + 300) / 1_000) * 1_000 + 20
  for (const child of children) {
    child.stdin.write(String(at))
    child.stdin.end()
  }
  const results = await Promise.all(outputs.map(async (output) => JSON.parse((await output.read()).value ?? "{}")))
  process.stdout.write(`4 processes, 100 calls, limit 10: ${JSON.stringify(results)}\n`)
  expect(Math.min(...results.map((result) => result.startedMs))).toBeGreaterThanOrEqual(0)
  expect(Math.max(...results.map((result) => result.endedMs))).toBeLessThan(980)
  expect(results.reduce((sum, result) => sum + result.degraded, 0)).toBe(0)
  expect(results.reduce((sum, result) => sum + result.passed, 0)).toBe(10)
})

withRedis(
  "redis: calls are answered within 300 ms while Redis is frozen, and Redis is used again once it responds",
  async () => {
    const proxy = await proxyTo(REDIS_URL)
    const wire = bunRedisWire(proxy.url)
    const { rate, ping } = open({ wire })
    await untilReachable(open({ wire }))
    await rate.take("warm-up", 1)

    proxy.freeze()
    const frozen = await time(() => rate.take(someone(), 5))
    expect(frozen.answer).toMatchObject({ allowed: true, limit: 5, remaining: 4, degraded: true })
    const next = await time(() => rate.take(someone(), 5))
    expect(next.answer.degraded).toBe(true)
    const pinged = await time(ping)
    expect(pinged.answer).toBe(false)
    expect(Math.max(frozen.ms, pinged.ms)).toBeLessThan(300 * (await slowness()))
    expect(next.ms).toBeLessThan(20)

    proxy.thaw()
    const recovery = await time(() => waitUntilShared(rate))
    process.stdout.write(`frozen: ${frozen.ms} ms, next call ${next.ms} ms, shared again after ${recovery.ms} ms\n`)
    expect(recovery.ms).toBeLessThan(500 * (await slowness()))
    const results = await Promise.all(Array.from({ length: 20 }, () => rate.take(someone(), 1)))
    expect(results.filter((answer) => answer.degraded)).toEqual([])
    wire.close()
    proxy.stop()
  },
)

withRedis(
  "redis: local counts replace a stopped Redis immediately, and Redis is used again after its restart",
  async () => {
    const proxy = await proxyTo(REDIS_URL)
    const wire = bunRedisWire(proxy.url)
    const { rate, ping } = open({ wire })
    await untilReachable(open({ wire }))

    proxy.stop()
    await Bun.sleep(50)
    const dead = await time(() => rate.take(someone(), 5))
    expect(dead.answer).toMatchObject({ allowed: true, remaining: 4, degraded: true })
    expect(dead.ms).toBeLessThan(20)
    expect(await ping()).toBe(false)

    await Bun.sleep(1_000)
    await proxy.start()
    const recovery = await time(() => waitUntilShared(rate))
    process.stdout.write(`dead: ${dead.ms} ms, shared again ${recovery.ms} ms after the restart\n`)
    wire.close()
    proxy.stop()
  },
)

withRedis("redis: a Redis that is down at the start is used as soon as it is reachable", async () => {
  const proxy = await proxyTo(REDIS_URL)
  proxy.stop()
  const wire = bunRedisWire(proxy.url)
  const { rate } = open({ wire })
  expect(await rate.take(someone(), 5)).toMatchObject({ degraded: true })
  await Bun.sleep(500)
  await proxy.start()
  await waitUntilShared(rate)
  wire.close()
  proxy.stop()
})

withRedis("redis: a connection that stops replying, or never replies, is replaced", async () => {
  const proxy = await proxyTo(REDIS_URL)
  const wire = bunRedisWire(proxy.url, 300)
  await untilReachable(open({ wire }))
  proxy.freeze()
  const pending = wire.send("PING", []).catch((error) => error)
  await Bun.sleep(350)
  await wire.send("PING", []).catch(() => {})
  expect(await pending).toBeInstanceOf(Error)
  // Waits longer than a new connection may take.
  await Bun.sleep(700)
  proxy.forwardNew()
  await untilReachable(open({ wire }))
  wire.close()
  proxy.stop()
})

slow("an Upstash server that is down, hangs, sends nonsense or refuses the token is bypassed", async () => {
  const answers: Record<string, (request: Request) => Response | Promise<Response>> = {
    nonsense: () => new Response("<html>"),
    "no count": () => Response.json({ result: ["x"] }),
    null: () => Response.json({ result: null }),
    broken: () => new Response("oops", { status: 500 }),
    "no token": () => Response.json({ error: "WRONGPASS" }, { status: 401 }),
    hangs: () => Bun.sleep(2_000).then(() => new Response()),
  }
  for (const [name, fetch] of Object.entries(answers)) {
    const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch })
    const { rate } = open({ upstash: { url: `http://127.0.0.1:${server.port}`, token: "token" } })
    const { answer, ms } = await time(() => rate.take(someone(), 1))
    expect([name, answer]).toEqual([name, expect.objectContaining({ allowed: true, degraded: true })])
    // The server that hangs does so for 2 s, so a wait for it would take longer than this.
    expect(ms).toBeLessThan(Math.min(1_900, 300 * (await slowness())))
    await server.stop(true)
    expect(await rate.take(someone(), 0)).toMatchObject({ allowed: false })
  }
})

test("a call sends a single Redis command whose key has the configured prefix", async () => {
  const sent: string[][] = []
  const send = async (command: string, args: string[]) => {
    sent.push([command, ...args])
    return [1, 1]
  }
  const now = () => new Date("2026-03-01T00:00:00.5Z")
  const { rate, hive } = open({ wire: { send, close() {} }, prefix: "p", now })
  expect(await rate.take("7", 10)).toMatchObject({ allowed: true, remaining: 9 })
  await hive.take(3, 500)
  expect(sent.map(([command, , ...rest]) => [command, ...rest])).toEqual([
    ["evalsha", "1", "p:rate:7:1772323200", "10", "2000"],
    ["evalsha", "1", "p:hive:3:20513", "500", "172800000"],
  ])
})

test("requests to Upstash contain no telemetry", async () => {
  const headers: Headers[] = []
  const fetch = (request: Request) => {
    headers.push(request.headers)
    return Response.json({ result: [1, 1] })
  }
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch })
  await open({ upstash: { url: `http://127.0.0.1:${server.port}`, token: "token" } }).rate.take(someone(), 1)
  expect(headers).toHaveLength(1)
  expect([...headers[0]!.keys()].filter((name) => name.includes("telemetry"))).toEqual([])
  await server.stop(true)
})

test("a failed request to Upstash is not sent again", async () => {
  let connections = 0
  const server = createServer((socket) => {
    connections += 1
    socket.destroy()
  })
  const port = await listen(server, 0)
  const { rate } = open({ upstash: { url: `http://127.0.0.1:${port}`, token: "token" } })
  expect(await rate.take(someone(), 1)).toMatchObject({ degraded: true })
  expect(connections).toBe(1)
  server.close()
})

test("the Redis wire refuses pipelines, and distinguishes error replies from connection failures", async () => {
  const requestFailing = (message: string) =>
    new WireRequester({ send: () => Promise.reject(new Error(message)), close() {} }).request({ body: ["GET", "k"] })
  expect(await requestFailing("NOSCRIPT No matching script.")).toEqual({ error: "NOSCRIPT No matching script." })
  expect(String(await errorOf(requestFailing("Connection closed")))).toMatch("Connection closed")
  const requester = new WireRequester({ send: async () => 1, close() {} })
  expect(String(await errorOf(requester.request({ path: ["pipeline"], body: [] })))).toMatch("pipeline")
})

async function time<T>(run: () => Promise<T>): Promise<{ answer: T; ms: number }> {
  const startedAt = performance.now()
  const answer = await run()
  return { answer, ms: Math.round((performance.now() - startedAt) * 10) / 10 }
}

async function waitUntilShared(rate: Limits["rate"]): Promise<void> {
  const deadline = Date.now() + 5_000
  while ((await rate.take(someone(), 1)).degraded) {
    if (Date.now() > deadline) throw new Error("still degraded after 5 s")
    await Bun.sleep(20)
  }
}

/** A TCP proxy that can stop forwarding (frozen host), go away (dead host) and come back on the same port. */
async function proxyTo(redisUrl: string) {
  const target = new URL(redisUrl)
  const sockets = new Set<Socket>()
  let frozen = false
  const accept = (nearSocket: Socket) => {
    const far = tcpConnect(Number(target.port || 6379), target.hostname)
    for (const [from, to] of [
      [nearSocket, far],
      [far, nearSocket],
    ] as const) {
      sockets.add(from)
      from.on("data", (bytes) => to.write(bytes))
      from.on("error", () => {})
      from.on("close", () => to.destroy())
      if (frozen) from.pause()
    }
  }
  let server = createServer(accept)
  const port = await listen(server, 0)
  return {
    url: `redis://127.0.0.1:${port}`,
    freeze() {
      frozen = true
      for (const socket of sockets) socket.pause()
    },
    forwardNew() {
      frozen = false
    },
    thaw() {
      frozen = false
      for (const socket of sockets) socket.resume()
    },
    stop() {
      server.close()
      for (const socket of sockets) socket.destroy()
      sockets.clear()
    },
    async start() {
      server = createServer(accept)
      await listen(server, port)
    },
  }
}

async function listen(server: ReturnType<typeof createServer>, port: number): Promise<number> {
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve))
  return (server.address() as { port: number }).port
}
