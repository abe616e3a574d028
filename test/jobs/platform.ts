import type { OutsideWrites, Port } from "../../src/jobs/outside.ts"
import { Fault } from "../../src/lib/faults.ts"

/** A request received by the stand-in. */
export interface Recorded {
  method: string
  target: string
  idempotencyKey: string | null
}

export interface Platform {
  url: string
  /** Bid by target. */
  bids: Map<string, number>
  requests: Recorded[]
  /** Returns the writes to one target, or to all. */
  writes(target?: string): Recorded[]
  /** Replaces the behaviour of a method; `answer` is the normal response. Undefined restores it. */
  on(method: "GET" | "PUT", act?: (target: string, answer: () => Response) => Response | Promise<Response>): void
  stop(): Promise<void>
}

/** Starts a stand-in for an outside platform that records requests: a local server that stores bids. */
export function standIn(): Platform {
  const bids = new Map<string, number>()
  const requests: Recorded[] = []
  const acts = new Map<string, (target: string, answer: () => Response) => Response | Promise<Response>>()
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 60,
    async fetch(request) {
      const target = new URL(request.url).pathname.slice(1)
      const { method } = request
      requests.push({ method, target, idempotencyKey: request.headers.get("idempotency-key") })
      const body = method === "PUT" ? await request.json() : undefined
      const answer = () => {
        if (body) bids.set(target, body.bid)
        return Response.json({ bid: bids.get(target) ?? 1 })
      }
      return (await acts.get(method)?.(target, answer)) ?? answer()
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    bids,
    requests,
    writes: (target) => requests.filter((r) => r.method === "PUT" && (target === undefined || r.target === target)),
    on(method, act) {
      if (act) acts.set(method, act)
      else acts.delete(method)
    },
    stop: () => server.stop(true),
  }
}

/** Returns set_bid as a real action would do it: reads the bid and writes it in one request. */
export function bidding(url: string): OutsideWrites {
  const ask = (args: Record<string, unknown>, { signal, idempotencyKey }: Port, init: RequestInit = {}) =>
    fetch(`${url}/${args.target}`, { ...init, signal, headers: { "idempotency-key": idempotencyKey } })
  return new Map([
    [
      "set_bid",
      {
        async read(args: Record<string, unknown>, port: Port) {
          const response = await ask(args, port).catch(() => null)
          if (!response || response.status >= 500) throw new Fault("asc_unavailable")
          if (response.status === 404) throw new Fault("not_connected")
          return await response.json()
        },
        async send(args: Record<string, unknown>, port: Port) {
          const response = await ask(args, port, { method: "PUT", body: JSON.stringify({ bid: args.bid }) })
          if (response.status === 422) throw new Fault("asc_rejected", { detail: "The bid is too low." })
          if (!response.ok) throw new Error(`HTTP ${response.status}`)
          return (await response.json()) as Record<string, unknown>
        },
      },
    ],
  ])
}

/** Resolves once the condition holds. */
export async function until(so: () => boolean | Promise<boolean>, withinMs = 30_000): Promise<void> {
  const last = performance.now() + withinMs
  for (let waitMs = 10; !(await so()); waitMs = Math.min(50, waitMs * 1.5)) {
    if (performance.now() > last) throw new Error(`not within ${withinMs} ms: ${so}`)
    await Bun.sleep(waitMs)
  }
}

/** Returns a promise that waits until it is released. */
export function gateway(): { open: () => void; opened: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { open: resolve, opened: promise }
}
