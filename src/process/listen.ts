import http from "node:http"
import type { Listening, ListenOptions } from "../commands/cli/command.ts"

/**
 * What Bun takes of a request line and headers (16 KiB unless said). It refuses more with a bare 431, as it does more than
 * 200 headers; up to it the refusal is that of surfaces/door.ts. One connection can hold this much memory.
 */
const MOST_HEAD_BYTES = 128 * 1024

/**
 * Opens a port with Bun's server. What Bun 1.4.5 answers by itself, with a bare status and a closed connection: bytes that
 * are no HTTP/1.1 request (400, 505), and heads over its limits (431). A second request on a connection whose first is not
 * answered yet closes it without a word: node:http would answer both in order, at four times the processor time a call.
 */
export function listen({ host, port, fetch }: ListenOptions): Listening {
  // a setter that the types do not show; there is no option of the server's own
  Object.assign(http, { maxHeaderSize: MOST_HEAD_BYTES })
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
