import { afterEach, expect, test } from "bun:test"
import { createServer, type Server, type Socket } from "node:net"
import { openLimits } from "../../../src/access/limits/open.ts"
import type { RedisWire } from "../../../src/access/limits/redis-wire.ts"
import { ioredisWire } from "../../../src/access/redis/ioredis-wire.ts"
import type { Sql } from "../../../src/database/types.ts"
import { silentLog } from "../../../src/lib/log.ts"
import { until } from "../../jobs/platform.ts"
import { slow } from "../../long.ts"

const REDIS_URL = process.env.REDIS_URL ?? ""
const withRedis = test.skipIf(!REDIS_URL)

const wires: RedisWire[] = []
const servers: Server[] = []
const sockets = new Set<Socket>()
afterEach(() => {
  for (const wire of wires.splice(0)) wire.close()
  for (const server of servers.splice(0)) server.close()
  for (const socket of sockets) socket.destroy()
})

function wireTo(url: string, silenceMs?: number): RedisWire {
  const wire = ioredisWire(url, silenceMs)
  wires.push(wire)
  return wire
}

const reachable = (wire: RedisWire) =>
  until(
    () =>
      wire.send("PING", []).then(
        (pong) => pong === "PONG",
        () => false,
      ),
    5_000,
  )

/** A fake Redis: `reply` is called for each received chunk. */
async function standIn(reply: (text: string, socket: Socket) => string | undefined, port = 0): Promise<string> {
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on("error", () => {})
    socket.on("data", (bytes) => {
      const text = reply(bytes.toString(), socket)
      if (text) socket.write(text)
    })
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve))
  return `redis://127.0.0.1:${(server.address() as { port: number }).port}`
}

/** Encodes a command. */
const encode = (words: string[]) =>
  `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join("")}`

withRedis("redis: a thousand concurrent commands get their own replies", async () => {
  const wire = wireTo(REDIS_URL)
  await reachable(wire)
  const echoed = await Promise.all(Array.from({ length: 1_000 }, (_, i) => wire.send("ECHO", [`${i} ü\r\n`])))
  expect(echoed).toEqual(Array.from({ length: 1_000 }, (_, i) => `${i} ü\r\n`))
  const refusal = await wire.send("EVALSHA", ["0".repeat(40), "0"]).catch(({ message }) => message)
  expect(refusal).toStartWith("NOSCRIPT ")
})

withRedis("redis: a limit of 10 allows 10 of 100 concurrent calls over two connections", async () => {
  const both = [wireTo(REDIS_URL), wireTo(REDIS_URL)]
  await Promise.all(both.map(reachable))
  const now = () => new Date("2026-03-01T12:00:00.250Z")
  const prefix = `test-${process.pid}-${Date.now()}`
  const open = (wire: RedisWire) => openLimits({ sql: null as unknown as Sql, log: silentLog, prefix, now, wire }).rate
  const rates = both.map(open)
  const answers = await Promise.all(Array.from({ length: 100 }, (_, i) => rates[i % 2]!.take("subject", 10)))
  expect(answers.filter(({ allowed }) => allowed)).toHaveLength(10)
  expect(answers.filter(({ degraded }) => degraded)).toEqual([])
})

test("a new connection sends user, password and database before the first command", async () => {
  const received: string[] = []
  const answers = (text: string) => {
    received.push(text)
    return "+OK\r\n".repeat(text.match(/^\*\d/gm)?.length ?? 0)
  }
  const url = await standIn(answers)
  const wire = wireTo(`${url.replace("redis://", "redis://me:p%40ss@")}/3`)
  await until(() =>
    wire.send("GET", ["k"]).then(
      () => true,
      () => false,
    ),
  )
  expect(received.join("")).toBe(
    [
      ["auth", "me", "p@ss"],
      ["select", "3"],
      ["GET", "k"],
    ]
      .map(encode)
      .join(""),
  )
})

test("a user name without a password is not sent to Redis", async () => {
  const received: string[] = []
  const url = await standIn((text) => {
    received.push(text)
    return "+PONG\r\n".repeat(text.match(/^\*\d/gm)?.length ?? 0)
  })
  const wire = wireTo(url.replace("redis://", "redis://default@"))
  await until(() =>
    wire.send("GET", ["k"]).then(
      () => true,
      () => false,
    ),
  )
  expect(received.join("")).toBe(encode(["GET", "k"]))
})

test("commands fail with Redis's reason when the password is refused, and the error hides the password", async () => {
  const url = await standIn(() => "-WRONGPASS invalid username-password pair\r\n-NOAUTH x\r\n")
  const wire = wireTo(url.replace("redis://", "redis://:canary@"))
  const refusalText = async () => String(await wire.send("GET", ["k"]).catch((error) => error))
  await until(
    async () => (await refusalText()) === "Error: no connection to Redis: WRONGPASS invalid username-password pair",
  )
  expect(await refusalText()).not.toContain("canary")
})

slow("commands fail immediately while Redis is down, and succeed once it is up", async () => {
  const url = await standIn(() => undefined)
  servers.splice(0)[0]!.close()
  const wire = wireTo(url)
  const startedAt = performance.now()
  expect(await wire.send("GET", ["k"]).catch((error) => error)).toBeInstanceOf(Error)
  expect(performance.now() - startedAt).toBeLessThan(100)
  await Bun.sleep(600)
  await standIn((text) => "+PONG\r\n".repeat(text.split("PING").length - 1), Number(new URL(url).port))
  await reachable(wire)
})

slow("a broken connection fails its pending commands and is replaced by a new connection", async () => {
  let connections = 0
  const seenSockets = new Set<Socket>()
  const url = await standIn((text, socket) => {
    if (!seenSockets.has(socket)) connections++
    seenSockets.add(socket)
    if (text.includes("BREAK")) return void socket.end("$100\r\nhalf a re")
    return "+PONG\r\n".repeat(text.split("PING").length - 1)
  })
  const wire = wireTo(url)
  await reachable(wire)
  const pending = [wire.send("BREAK", []), wire.send("PING", [])].map((sent) => sent.catch((error) => error))
  for (const error of await Promise.all(pending)) expect(error).toBeInstanceOf(Error)
  await reachable(wire)
  expect(connections).toBe(2)
})

slow("a connection that stops replying, or never replies, is replaced", async () => {
  let silent = false
  const url = await standIn((text) => (silent ? undefined : "+PONG\r\n".repeat(text.split("PING").length - 1)))
  const wire = wireTo(url, 200)
  await reachable(wire)
  silent = true
  const pending = wire.send("PING", []).catch((error) => error)
  await Bun.sleep(250)
  await wire.send("PING", []).catch(() => {})
  expect(await pending).toBeInstanceOf(Error)
  // Waits longer than a new connection may take.
  await Bun.sleep(700)
  silent = false
  await reachable(wire)
})
