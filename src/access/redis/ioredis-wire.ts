import { Redis } from "ioredis"
import type { RedisWire } from "../limits/redis-wire.ts"

/** Uses ioredis, for runtimes without a Redis client. Connects like bun-wire.ts. */
export function ioredisWire(url: string, silenceMs = 5_000): RedisWire {
  const address = new URL(url)
  // A user name without a password cannot log in. Bun's client sends neither.
  if (address.password === "") address.username = ""
  let problem = "it has not been reached yet"
  const client = new Redis(address.href, {
    // The Upstash client expects RESP2 replies.
    protocol: 2,
    disableClientInfo: true,
    // Some managed servers refuse INFO.
    enableReadyCheck: false,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: CONNECT_MS,
    // Limits the wait for replies, so it applies only while commands wait.
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
