/** A request that the receiver got. */
export interface Got {
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
  got: Got[]
  /** Returns the requests to a path. */
  at(path: string): Got[]
  /** Sets the response of a path. Default: 204. */
  on(path: string, act: (got: Got, before: number) => Response | Promise<Response>): void
  stop(): Promise<void>
}

/** Starts an HTTP server on loopback that records all requests. */
export function receiver(): Receiver {
  const got: Got[] = []
  const acts = new Map<string, (got: Got, before: number) => Response | Promise<Response>>()
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 120,
    async fetch(request) {
      const { pathname: path, search } = new URL(request.url)
      const one = {
        path,
        search,
        headers: Object.fromEntries(request.headers),
        body: await request.text(),
        at: performance.now(),
      }
      const before = got.filter((other) => other.path === path).length
      got.push(one)
      return (await acts.get(path)?.(one, before)) ?? new Response(null, { status: 204 })
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    got,
    at: (path) => got.filter((one) => one.path === path),
    on: (path, act) => void acts.set(path, act),
    stop: () => server.stop(true),
  }
}

export const idOf = ({ headers }: Got) => headers["webhook-id"]!
export const distinct = <T>(values: readonly T[]) => [...new Set(values)]
