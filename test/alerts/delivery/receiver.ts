/** A request that the receiver got. */
export interface ReceivedRequest {
  path: string
  /** The query, with its question mark. */
  search: string
  headers: Record<string, string>
  body: string
  /** Milliseconds of the monotonic clock. */
  at: number
}

export interface Receiver {
  url: string
  requests: ReceivedRequest[]
  /** Returns the requests to a path. */
  at(path: string): ReceivedRequest[]
  /** Sets the response of a path. Default: 204. */
  on(path: string, act: (request: ReceivedRequest, before: number) => Response | Promise<Response>): void
  stop(): Promise<void>
}

/** Starts an HTTP server on loopback that records all requests. */
export function receiver(): Receiver {
  const requests: ReceivedRequest[] = []
  const acts = new Map<string, (request: ReceivedRequest, before: number) => Response | Promise<Response>>()
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 120,
    async fetch(request) {
      const { pathname: path, search } = new URL(request.url)
      const received = {
        path,
        search,
        headers: Object.fromEntries(request.headers),
        body: await request.text(),
        at: performance.now(),
      }
      const before = requests.filter((other) => other.path === path).length
      requests.push(received)
      return (await acts.get(path)?.(received, before)) ?? new Response(null, { status: 204 })
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    requests,
    at: (path) => requests.filter((request) => request.path === path),
    on: (path, act) => void acts.set(path, act),
    stop: () => server.stop(true),
  }
}

export const idOf = ({ headers }: ReceivedRequest) => headers["webhook-id"]!
export const distinct = <T>(values: readonly T[]) => [...new Set(values)]
