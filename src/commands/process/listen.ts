import http from "node:http"
import type { ListeningProcess, ListenOptions } from "../cli/command.ts"

/** Maximum size of request line and headers in Bun. Smaller requests are checked in http/door.ts. */
const MAX_HEAD_BYTES = 128 * 1024

/**
 * Bun 1.4.5 itself refuses requests that are not HTTP/1.1 (400, 505) or exceed its limits (431), and closes pipelined
 * connections. node:http accepts both but takes four times the processor time.
 */
export function listen({ host, port, fetch }: ListenOptions): ListeningProcess {
  // the types lack this setter, and Bun.serve has no such option
  Object.assign(http, { maxHeaderSize: MAX_HEAD_BYTES })
  const server = Bun.serve({
    hostname: host,
    port,
    // no limit here, because Bun would answer a bare 413; the service counts bodies while it reads them
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    // with a shorter timeout, Bun drops connections with slow answers; a connection that sends its body byte by byte is
    // closed soon after the timeout
    idleTimeout: 30,
    development: false,
    // the default is true (Bun 1.4.5), and a second process would silently get half of the calls
    reusePort: false,
    fetch: (request, server) => fetch(request, server.requestIP(request)?.address ?? null),
  })
  return { port: server.port ?? port, stop: (now = false) => server.stop(now) }
}
