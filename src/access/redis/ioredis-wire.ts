import { Redis } from "ioredis"
import type { RedisWire } from "../limits/redis-wire.ts"

/** ioredis, for runtimes without a Redis client of their own. It connects as bun-wire.ts does. */
export function ioredisWire(url: string, silenceMs = 5_000): RedisWire {
  const address = new URL(url)
  // a name without a password logs nobody in: Bun's client sends nothing either
  if (address.password === "") address.username = ""
  let problem = "it was not reached yet"
  const client = new Redis(address.href, {
    // RESP2 replies, as the Upstash client expects them
    protocol: 2,
    disableClientInfo: true,
    // some managed servers refuse INFO
    enableReadyCheck: false,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: CONNECT_MS,
    // counts only while commands wait
    socketTimeout: silenceMs,
    retryStrategy: () => RETRY_MS,
  })
  client.on("error", ({ message }: Error) => {
    problem = message
  })
  return {
    async send(command, args) {
      if (client.status !== "ready") throw new Error(`no connection to Redis: ${problem}`)
      return await client.call(command, ...args)
    },
    close: () => client.disconnect(),
  }
}

const RETRY_MS = 250
const CONNECT_MS = 500
