import type { RedisWire } from "../limits/redis-wire.ts"

/**
 * Uses Bun's client. Reconnects in the background, and replaces a connection that is silent for `silenceMs` while
 * commands wait.
 */
export function bunRedisWire(url: string, silenceMs = 5_000): RedisWire {
  let waiting = 0
  let heardAt = 0
  let retry: Timer | undefined
  let client = connect(url, later)

  // Bun's automatic reconnect gives up permanently when a connection times out while connecting (1.4.5).
  function later() {
    clearTimeout(retry)
    retry = setTimeout(replace, RETRY_MS)
  }

  function replace() {
    end()
    waiting = 0
    client = connect(url, later)
  }

  function end() {
    clearTimeout(retry)
    client.onclose = null
    client.close()
  }

  const send = async (command: string, args: string[]) => {
    // otherwise a command to a host that vanished would wait for as long as TCP retries, about 15 minutes
    if (waiting > 0 && performance.now() - heardAt > silenceMs) replace()
    const usedClient = client
    if (waiting === 0) heardAt = performance.now()
    waiting += 1
    try {
      return await usedClient.send(command, args)
    } finally {
      if (usedClient === client) {
        waiting -= 1
        heardAt = performance.now()
      }
    }
  }
  return { send, close: end }
}

const RETRY_MS = 250

function connect(url: string, onclose: () => void): Bun.RedisClient {
  const client = new Bun.RedisClient(url, { enableOfflineQueue: false, autoReconnect: false, connectionTimeout: 500 })
  // The Upstash client expects RESP2 replies.
  client.onconnect = () => void client.send("HELLO", ["2"]).catch(() => {})
  client.onclose = onclose
  client.connect().catch(() => {})
  return client
}
