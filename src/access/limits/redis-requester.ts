import type { Requester, UpstashRequest, UpstashResponse } from "@upstash/redis"
import type { RedisWire } from "./redis-wire.ts"

/** Lets the Upstash client use an ordinary Redis. Single commands only: a pipeline or a subscription throws. */
export class WireRequester implements Requester {
  readonly #wire: RedisWire

  constructor(wire: RedisWire) {
    this.#wire = wire
  }

  /** Returns every reply of Redis, including errors. Throws only when the connection fails. */
  async request<T>(request: UpstashRequest): Promise<UpstashResponse<T>> {
    if (request.path?.length) throw new Error(`${request.path[0]} is not supported over a Redis connection`)
    const [command, ...args] = (request.body as unknown[]).map(String)
    try {
      return { result: (await this.#wire.send(command!, args)) as T }
    } catch (error) {
      const reply = error instanceof Error ? error.message : String(error)
      if (!ERROR_REPLY.test(reply)) throw error
      return { error: reply }
    }
  }
}

// Every error reply of Redis begins with a code word in capitals: ERR, NOSCRIPT, WRONGTYPE, OOM.
const ERROR_REPLY = /^[A-Z][A-Z0-9]+ /
