import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { readFileSync, writeFileSync } from "node:fs"
import { createServer, type Socket } from "node:net"
import { isQuick, long } from "../long.ts"
import { removeFolders } from "./child.ts"
import { printed } from "./printed.ts"
import { checkConfig, hasProgram, PROXIES, startProxy, stopProxies } from "./proxy-process.ts"

setDefaultTimeout(60_000)
afterAll(stopProxies)
afterAll(removeFolders)

const THREE = ["10.0.0.1:8787", "10.0.0.2:8787", "[fd00::3]:8787"]
const CHECKS = { caddy: "health_uri /readyz", haproxy: "uri /readyz" }

describe.each(PROXIES)("%s", (proxy) => {
  const isInstalled = hasProgram(proxy)
  const installed = test.skipIf(isQuick || !isInstalled)
  const installedLong = isInstalled ? long : test.skip

  test("the proxy file forwards Host and the caller's address, and hides the metrics", async () => {
    const text = await printed(proxy)
    expect(text).toContain("TRUSTED_PROXIES=127.0.0.1 ")
    expect(text).toContain("/metrics")
    if (proxy === "caddy") expect(text).toContain("header_up Host {host}")
    if (proxy === "haproxy") expect(text).toContain("set-header X-Forwarded-For %[src]")
    if (proxy === "nginx") {
      expect(text).toContain("proxy_set_header Host $http_host;")
      expect(text).toContain("proxy_set_header X-Forwarded-For $remote_addr;")
    }
  })

  test("the proxy file lists each given upstream once, and 127.0.0.1:8787 by default", async () => {
    expect(await printed(proxy)).toMatch(/^\s*(reverse_proxy|server( appmeter1)?) 127\.0\.0\.1:8787\b/m)
    const text = await printed(proxy, { upstream: [...THREE, THREE[0]!] })
    for (const upstream of THREE) expect(text.split(upstream)).toHaveLength(2)
    expect(text).not.toContain("127.0.0.1:8787")
  })

  test("a proxy file for several upstreams checks /readyz, or states that the proxy has no health checks", async () => {
    const text = await printed(proxy, { upstream: THREE })
    const single = await printed(proxy)
    if (proxy === "nginx") {
      expect(text).toContain("has no active health checks")
      expect(text).toContain("fail_timeout=1s")
      expect(single).not.toContain("fail_timeout")
    } else {
      expect(text).toContain(CHECKS[proxy])
      expect(single).not.toContain(CHECKS[proxy])
    }
  })

  installed("the proxy accepts the printed files for one upstream and for several upstreams", async () => {
    for (const upstreams of [[], THREE]) {
      expect(await checkConfig(proxy, upstreams)).toEqual({ exitCode: 0, messages: expect.any(String) })
    }
  })

  installedLong(
    "the proxy sends a call once, even if the upstream closes its kept connection without an answer",
    async () => {
      const upstreams = [await closingUpstream(), await closingUpstream()]
      const proxied = await startProxy(proxy, addressesOf(upstreams))
      // HAProxy closes a kept HTTP/1.1 connection instead of answering 502, and fetch then repeats the call by itself
      const keepalive = proxy !== "haproxy"
      for (const method of ["GET", "POST"]) {
        for (let call = 0; call < 10; call++) await fetch(`${proxied.url}/fine`, { method, keepalive })
        const response = await fetch(`${proxied.url}/closes`, { method, keepalive })
        expect([method, response.status]).toEqual([method, 502])
        expect([method, upstreams.reduce((sum, { closed }) => sum + closed(), 0)]).toEqual([method, 1])
        for (const { forget } of upstreams) forget()
      }
      await proxied.stop()
      for (const { stop } of upstreams) stop()
    },
  )

  installedLong("the proxy sends every call exactly once while processes restart in turn", async () => {
    const upstreams = [drainingUpstream(), drainingUpstream(), drainingUpstream()]
    const proxied = await startProxy(proxy, addressesOf(upstreams))
    // health checks take a second to begin
    await Bun.sleep(1_500)
    const statuses = new Map<number, number>()
    let calls = 0
    let isOver = false
    const callers = Array.from({ length: 4 }, async () => {
      while (!isOver) {
        const { status } = await fetch(`${proxied.url}/v1/apps?call=${calls++}`)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        await Bun.sleep(5)
      }
    })
    for (const upstream of upstreams) {
      if (proxy === "nginx") await markDown(proxied, upstream.address, true)
      await upstream.restart()
      if (proxy === "nginx") await markDown(proxied, upstream.address, false)
      await Bun.sleep(2_000)
    }
    isOver = true
    await Promise.all(callers)
    await proxied.stop()
    expect([...statuses]).toEqual([[200, calls]])
    expect(upstreams.flatMap(({ urls }) => urls)).toHaveLength(calls)
    for (const { urls } of upstreams) expect(urls.length).toBeGreaterThan(0)
    for (const { stop } of upstreams) await stop()
  })
})

const addressesOf = (upstreams: readonly { address: string }[]) => upstreams.map(({ address }) => address)

/** The steps that the header of the nginx file describes. */
async function markDown(proxied: Awaited<ReturnType<typeof startProxy>>, address: string, isDown: boolean) {
  const text = readFileSync(proxied.file, "utf8")
  const line = new RegExp(`(server ${address.replaceAll(".", "\\.")}[^;]*?)( down)?;`)
  writeFileSync(proxied.file, text.replace(line, isDown ? "$1 down;" : "$1;"))
  proxied.reload()
  await Bun.sleep(500)
}

/** Restarts as the product does: /readyz answers 503 for DRAIN_MS, then the port closes, and opens again later. */
function drainingUpstream() {
  const urls: string[] = []
  let isReady = true
  const listen = (port: number) =>
    Bun.serve({
      port,
      hostname: "127.0.0.1",
      async fetch({ url }) {
        if (url.endsWith("/readyz")) return new Response("", { status: isReady ? 200 : 503 })
        urls.push(url)
        await Bun.sleep(20)
        return new Response("answered")
      },
    })
  let server = listen(0)
  const port = server.port!
  return {
    address: `127.0.0.1:${port}`,
    urls,
    async restart() {
      isReady = false
      await Bun.sleep(3_000)
      await server.stop()
      await Bun.sleep(1_000)
      isReady = true
      server = listen(port)
    },
    stop: () => server.stop(true),
  }
}

/**
 * An upstream that keeps connections open, but closes a connection without an answer when it receives a call to
 * /closes.
 */
async function closingUpstream() {
  const sockets = new Set<Socket>()
  let closed = 0
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on("error", () => {})
    socket.on("data", (bytes) => {
      if (!bytes.toString().includes("/closes"))
        return void socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
      closed++
      socket.destroy()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    address: `127.0.0.1:${(server.address() as { port: number }).port}`,
    closed: () => closed,
    forget: () => {
      closed = 0
    },
    stop() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
