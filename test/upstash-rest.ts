import { WireRequester } from "../src/access/limits/redis-requester.ts"
import type { RedisWire } from "../src/access/limits/redis-wire.ts"

/**
 * Returns a stand-in for the Upstash REST API (single commands): `Bun.serve({ port: 0, fetch: upstashRest(wire, token)
 * })`.
 */
export function upstashRest(wire: RedisWire, token: string): (request: Request) => Promise<Response> {
  const requester = new WireRequester(wire)
  return async (request) => {
    if (request.headers.get("authorization") !== `Bearer ${token}`) {
      return Response.json({ error: "WRONGPASS invalid or missing auth token" }, { status: 401 })
    }
    const base64 = request.headers.get("upstash-encoding") === "base64"
    try {
      const { result, error } = await requester.request({ body: await request.json() })
      if (error) return Response.json({ error }, { status: 400 })
      return Response.json({ result: base64 ? encoded(result) : result })
    } catch (error) {
      return Response.json({ error: `ERR ${error}` }, { status: 500 })
    }
  }
}

function encoded(reply: unknown, top = true): unknown {
  if (Array.isArray(reply)) return reply.map((part) => encoded(part, false))
  if (typeof reply !== "string" || (top && reply === "OK")) return reply
  return Buffer.from(reply).toString("base64")
}
