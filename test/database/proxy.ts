import { createConnection, createServer, type Socket } from "node:net"

/**
 * Starts a proxy to a server. The proxy can freeze: it then accepts bytes but returns none, as with SIGSTOP or a cut
 * network.
 */
export async function proxyTo(url: URL) {
  let frozen = false
  const sockets = new Set<Socket>()
  const server = createServer((nearSocket) => {
    const far = createConnection(Number(url.port || 5432), url.hostname)
    for (const socket of [nearSocket, far]) {
      sockets.add(socket)
      socket.on("error", () => {})
      socket.on("close", () => {
        nearSocket.destroy()
        far.destroy()
      })
    }
    nearSocket.on("data", (bytes) => frozen || far.write(bytes))
    far.on("data", (bytes) => frozen || nearSocket.write(bytes))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const proxied = new URL(url)
  proxied.port = String((server.address() as { port: number }).port)
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  const close = () => {
    cut()
    server.close()
  }
  return { url: proxied.href, freeze: (isFrozen: boolean) => (frozen = isFrozen), cut, close }
}
