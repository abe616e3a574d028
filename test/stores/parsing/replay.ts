import type { Upstream } from "../../../src/lib/upstreams.ts"
import type { SourceAccess } from "../../../src/measuring/source.ts"

/** A request to the replay server. `url` is the upstream's own, https://apps.apple.com/…. */
export interface ReplayRequest {
  method: string
  url: URL
  headers: Headers
  body: string
  at: number
}

export interface ReplayServer {
  /** The replay server's URL for an upstream, in the format of UPSTREAM_URLS. */
  address(upstream: Upstream): string
  requests: ReplayRequest[]
  /**
   * Answers requests to an upstream whose path begins with `path`. A handler that was added later is tried first. If it
   * returns undefined, the next handler is tried; after the last one the answer is 404.
   */
  on(upstream: Upstream, path: string, answer: Answering): void
  stop(): Promise<void>
}

export type Answering = (request: ReplayRequest) => Response | undefined | Promise<Response | undefined>

/** Starts a server on loopback that answers in place of the stores, with recorded bodies. */
export function replayServer(): ReplayServer {
  const requests: ReplayRequest[] = []
  const answers: { upstream: Upstream; path: string; answer: Answering }[] = []
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 60,
    async fetch(request) {
      const [, upstream = "", ...path] = new URL(request.url).pathname.split("/")
      const url = new URL(`https://${upstream}/${path.join("/")}${new URL(request.url).search}`)
      const received = {
        method: request.method,
        url,
        headers: request.headers,
        body: await request.text(),
        at: Date.now(),
      }
      requests.push(received)
      for (const registered of answers) {
        if (registered.upstream !== upstream || !url.pathname.startsWith(registered.path)) continue
        const response = await registered.answer(received)
        if (response) return response
      }
      return new Response("nothing is recorded here", { status: 404 })
    },
  })
  return {
    address: (upstream) => `http://127.0.0.1:${server.port}/${upstream}`,
    requests,
    on: (upstream, path, answer) => void answers.unshift({ upstream, path, answer }),
    stop: () => server.stop(true),
  }
}

/** Returns the access of a source to the replay server. */
export function reachOf(server: ReplayServer, rest: Partial<SourceAccess> = {}): SourceAccess {
  return {
    address: server.address,
    fetch: (url, init) => fetch(url, init),
    now: () => new Date(),
    egress: undefined,
    signal: new AbortController().signal,
    timeoutMs: 5_000,
    ...rest,
  }
}
