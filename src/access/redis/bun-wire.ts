import type { RedisWire } from "../limits/redis-wire.ts"

/** Bun's own client. It reconnects in the background; one silent for `silenceMs` with commands waiting is replaced. */
export function bunRedisWire(url: string, silenceMs = 5_000): RedisWire {
  let waiting = 0
  let heardAt = 0
  let retry: Timer | undefined
  let client = connect(url, later)

  // Bun's own reconnecting gives up for good when a connection times out while it is being made (1.4.5)
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
    // a host that vanished without a word would otherwise be waited for as long as TCP retries, some 15 minutes
    if (waiting > 0 && performance.now() - heardAt > silenceMs) replace()
    const asked = client
    if (waiting === 0) heardAt = performance.now()
    waiting += 1
    try {
      return await asked.send(command, args)
    } finally {
      if (asked === client) {
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
  // RESP2 replies, as the Upstash client expects them
  client.onconnect = () => void client.send("HELLO", ["2"]).catch(() => {})
  client.onclose = onclose
  client.connect().catch(() => {})
  return client
}
