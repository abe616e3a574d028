import type { Service } from "../service.ts"

export interface Served {
  url: string
  stop(): void
}

/** Serves the service on a separate loopback port. */
export function serve(service: Service): Served {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request, server) => service.app.fetch(request, server.requestIP(request)?.address ?? null),
  })
  return { url: `http://127.0.0.1:${server.port}/mcp`, stop: () => void server.stop(true) }
}

/** A proxy that adds the key to every request, for clients that cannot. Host and Origin are unchanged. */
export function signedIn(served: Served, key: string): Served {
  const proxy = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ method, headers, body }) => {
      const signed = new Headers(headers)
      signed.set("authorization", `Bearer ${key}`)
      return fetch(served.url, { method, headers: signed, body, decompress: false })
    },
  })
  return { url: `http://127.0.0.1:${proxy.port}/mcp`, stop: () => void proxy.stop(true) }
}
