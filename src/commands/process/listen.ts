import http from "node:http"
import type { ListeningProcess, ListenOptions } from "../cli/command.ts"

/** What Bun takes of request line and headers; up to it the refusal is that of http/door.ts. */
const MAX_HEAD_BYTES = 128 * 1024

/**
 * Bun 1.4.5 itself answers no HTTP/1.1 (400, 505) and heads over its limits (431), and closes a connection with a
 * pipelined request; node:http takes both, at four times the processor time.
 */
export function listen({ host, port, fetch }: ListenOptions): ListeningProcess {
  // a setter that the types do not show; there is no option of the server's own
  Object.assign(http, { maxHeaderSize: MAX_HEAD_BYTES })
  const server = Bun.serve({
    hostname: host,
    port,
    // none of its own, which would be answered with a bare 413: bodies are counted as they come, and Bun reads no faster
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    // below it, Bun drops a connection whose answer takes long; a body dripped byte by byte is closed soon after
    idleTimeout: 30,
    development: false,
    // without development it is on (Bun 1.4.5), and a second process takes half of the calls unnoticed
    reusePort: false,
    fetch: (request, server) => fetch(request, server.requestIP(request)?.address ?? null),
  })
  return { port: server.port ?? port, stop: (now = false) => server.stop(now) }
}
