import { describe, expect, test } from "bun:test"
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib"
import type { OutboundProblem } from "../../src/outbound/problem.ts"
import { safeFetch } from "../../src/outbound/safe-fetch.ts"
import { ask, codeOf, HERE, page, safeSite, site, text } from "./site.ts"

describe("an allowed site", () => {
  test("a request has the site's host name and the caller's path, query and headers", async () => {
    await using open = await site(page("hello", { "content-type": "text/plain" }))
    const answer = await ask(`http://Name.Test:${open.port}/a b?q=é#x`, open.port, {
      headers: { accept: "text/plain" },
    })
    expect([answer.status, text(answer), answer.url]).toEqual([
      200,
      "hello",
      `http://name.test:${open.port}/a%20b?q=%C3%A9#x`,
    ])
    expect(answer.headers.get("content-type")).toBe("text/plain")
    const [line, ...headers] = open.requests[0]!.trimEnd().split("\r\n")
    expect(line).toBe("GET /a%20b?q=%C3%A9 HTTP/1.1")
    expect(headers.sort()).toEqual([
      "accept-encoding: gzip, br, deflate",
      "accept: text/plain",
      "connection: close",
      `host: name.test:${open.port}`,
      "user-agent: Appmeter",
    ])
  })

  test("a request body is sent with its length", async () => {
    await using open = await site(page("got"))
    await ask(`http://a.test:${open.port}/hook`, open.port, { method: "POST", body: "é=1" })
    const [head, body] = open.requests[0]!.split("\r\n\r\n")
    expect(head).toStartWith("POST /hook HTTP/1.1\r\n")
    expect(head).toContain("content-length: 4")
    expect(Buffer.from(body!, "latin1").toString()).toBe("é=1")
  })

  test.each(["PUT", "PATCH", "DELETE"] as const)(
    "a %s request is sent, and its redirect is not followed",
    async (method) => {
      await using open = await site(page("", { location: "/elsewhere" }, 307))
      const options = { method, mayFollow: () => true, ...(method !== "DELETE" && { body: "{}" }) }
      expect((await ask(`http://a.test:${open.port}/v1/x`, open.port, options)).status).toBe(307)
      const [head, body] = open.requests[0]!.split("\r\n\r\n")
      expect(head).toStartWith(`${method} /v1/x HTTP/1.1\r\n`)
      expect([head!.includes("content-length: 2"), body]).toEqual(method === "DELETE" ? [false, ""] : [true, "{}"])
      expect(open.hits).toBe(1)
    },
  )

  test("a TLS request sends the site's name and checks the certificate against it", async () => {
    await using safe = await safeSite((url, socket) => socket.end(page(`said ${url}`)))
    const at = (host: string, options = {}) => ask(`https://${host}:${safe.port}/x`, safe.port, options)
    expect(text(await at("example.test"))).toBe("said /x")
    expect(text(await at("deep.example.test."))).toBe("said /x")
    expect(safe.names).toEqual(["example.test", "deep.example.test"])
    expect(safe.requests[0]).toBe(`GET /x example.test:${safe.port}`)
    expect(await codeOf(at("wrong.test"))).toBe("tls")
    expect(await codeOf(at("a.b.example.test"))).toBe("tls")
    expect(await codeOf(at("127.0.0.1"))).toBe("tls")
    expect(await codeOf(at("example.test", { ca: undefined }))).toBe("tls")
    expect(safe.requests).toHaveLength(2)
  })

  test("a TLS certificate is checked even if the environment disables the check", async () => {
    await using safe = await safeSite((_, socket) => socket.end(page("said")))
    const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0"
    try {
      expect(await codeOf(ask(`https://wrong.test:${safe.port}/`, safe.port))).toBe("tls")
    } finally {
      if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
      else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before
    }
  })

  test("if one address of a site does not answer, the next address is tried", async () => {
    await using open = await site(page("here"))
    const options = { resolve: async () => ["127.0.0.3", "127.0.0.1"], allowPrivate: { includes: () => true } }
    expect(text(await ask(`http://a.test:${open.port}/`, open.port, options))).toBe("here")
  })

  test("a host name is resolved by the operating system by default", async () => {
    await using open = await site(page("here"))
    const options = {
      ports: [open.port],
      allowPrivate: { includes: (address: string) => HERE.includes(address) || address === "::1" },
    }
    expect(text(await safeFetch(`http://localhost:${open.port}/`, options))).toBe("here")
    expect(await codeOf(safeFetch("http://nobody.invalid/"))).toBeOneOf(["no_such_host", "unreachable"])
  })

  test("an unreachable site and an unknown host have different codes", async () => {
    const notFound = Object.assign(new Error("x"), { code: "ENOTFOUND" })
    expect(await codeOf(ask("http://a.test:1/", 1))).toBe("unreachable")
    expect(await codeOf(ask("http://a.test/", 80, { resolve: () => Promise.reject(notFound) }))).toBe("no_such_host")
    expect(await codeOf(ask("http://a.test/", 80, { resolve: async () => [] }))).toBe("no_such_host")
    expect(await codeOf(ask("http://a.test/", 80, { resolve: () => Promise.reject(new Error("x")) }))).toBe(
      "unreachable",
    )
  })
})

describe("a response", () => {
  const zip = (bytes: Buffer, coding: string) => page(bytes.toString("latin1"), { "content-encoding": coding })
  test.each([
    ["with a length", page("hello"), "hello"],
    ["to the end of the connection", "HTTP/1.1 200 OK\r\n\r\nhello", "hello"],
    ["of HTTP/1.0", "HTTP/1.0 200 OK\r\n\r\nhello", "hello"],
    ["without a reason", "HTTP/1.1 200\r\ncontent-length: 5\r\n\r\nhello", "hello"],
    ["with bare line feeds", "HTTP/1.1 200 OK\ncontent-length: 5\n\nhello", "hello"],
    [
      "in chunks",
      "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nhel\r\n002;a=b\r\nlo\r\n0\r\nx: y\r\n\r\n",
      "hello",
    ],
    [
      "after interim responses",
      `HTTP/1.1 103 Early\r\nlink: x\r\n\r\nHTTP/1.1 100 Go\r\n\r\n${page("hello")}`,
      "hello",
    ],
    ["longer than its length", `${page("hello")}more`, "hello"],
    ["without a body", "HTTP/1.1 204 None\r\ncontent-length: 5\r\n\r\n", ""],
    ["of length 0 with a coding", page("", { "content-encoding": "gzip" }), ""],
    ["of gzip", zip(gzipSync("hello"), "gzip"), "hello"],
    ["of gzip by another name", zip(gzipSync("hello"), "X-GZIP"), "hello"],
    ["of Brotli", zip(brotliCompressSync("hello"), "br"), "hello"],
    ["of deflate", zip(deflateSync("hello"), "deflate"), "hello"],
    ["of deflate without a head", zip(deflateRawSync("hello"), "deflate"), "hello"],
    ["of no coding", page("hello", { "content-encoding": "identity" }), "hello"],
  ])("a response %s is read", async (_, response, body) => {
    await using open = await site(response)
    expect(text(await ask(`http://a.test:${open.port}/`, open.port))).toBe(body)
  })

  test.each([
    ["of another protocol", "220 mail.example.com ESMTP\r\n\r\n"],
    ["without a status", "HTTP/1.1 OK\r\n\r\n"],
    ["of HTTP/2", "HTTP/2 200\r\n\r\n"],
    ["that changes the protocol", `HTTP/1.1 101 Switching\r\nupgrade: x\r\n\r\n${page("hello")}`],
    ["without any bytes", ""],
    ["with a truncated head", "HTTP/1.1 200 OK\r\ncontent-le"],
    ["whose head is too long", `HTTP/1.1 200 OK\r\nx: ${"y".repeat(20_000)}\r\n\r\n`],
    [
      "with too long interim heads",
      `HTTP/1.1 103 Early\r\nlink: ${"y".repeat(1_000)}\r\n\r\n`.repeat(17) + page("hello"),
    ],
    ["with a header without a name", "HTTP/1.1 200 OK\r\n: x\r\n\r\n"],
    ["with a header over two lines", "HTTP/1.1 200 OK\r\nx: a\r\n b\r\n\r\n"],
    ["with a NUL in a header", "HTTP/1.1 200 OK\r\nx: a\0b\r\n\r\n"],
    ["of two lengths", "HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello"],
    ["of a length below zero", "HTTP/1.1 200 OK\r\ncontent-length: -5\r\n\r\nhello"],
    ["with a truncated body", "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhello"],
    ["with a truncated chunk", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\nhello"],
    ["without a last chunk", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n"],
    [
      "with a chunk longer than its size",
      "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nhello\r\n0\r\n\r\n",
    ],
    ["with a chunk without a size", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nx\r\n"],
    ["of an unknown transfer coding", "HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n"],
    ["of an unknown coding", zip(gzipSync("hello"), "zstd")],
    ["of two codings", zip(gzipSync(gzipSync("hello")), "gzip, gzip")],
    ["that does not match its coding", page("hello", { "content-encoding": "gzip" })],
    ["with truncated compressed data", zip(gzipSync("hello".repeat(100)).subarray(0, 20), "gzip")],
  ])("a response %s is refused", async (_, response) => {
    await using open = await site(response)
    expect(await codeOf(ask(`http://a.test:${open.port}/`, open.port))).toBe("bad_answer")
  })

  test("a connection is closed after its response was read or refused", async () => {
    for (const response of [
      page("hello"),
      page("hello", { "content-encoding": "zstd" }),
      page("", { location: "/" }, 302),
      "x\r\n",
    ]) {
      const closed = Promise.withResolvers<void>()
      await using open = await site((_, socket) => {
        socket.on("close", () => closed.resolve())
        socket.write(response)
      })
      await codeOf(ask(`http://a.test:${open.port}/`, open.port))
      await closed.promise
      expect(open.hits).toBe(1)
    }
  })

  test("a response with any status is returned to the caller", async () => {
    for (const status of [200, 206, 304, 400, 404, 410, 429, 500, 503, 599]) {
      await using open = await site(page(status === 304 ? "" : "said", {}, status))
      expect((await ask(`http://a.test:${open.port}/`, open.port)).status).toBe(status)
    }
  })
})

describe("a redirect", () => {
  const redirects = (times: number) => (head: string, socket: { end(response: string): void }) => {
    const at = Number(/GET \/(\d+)/.exec(head)?.[1])
    socket.end(at < times ? page("", { location: `/${at + 1}` }, 302) : page("there"))
  }

  test("a redirect that may not be followed is returned as the response", async () => {
    await using open = await site(page("", { location: "/x" }, 302))
    const answer = await ask(`http://a.test:${open.port}/`, open.port)
    expect([answer.status, answer.headers.get("location"), open.hits]).toEqual([302, "/x", 1])
    const post = await ask(`http://a.test:${open.port}/`, open.port, { method: "POST", mayFollow: () => true })
    expect([post.status, open.hits]).toEqual([302, 2])
  })

  test("a redirect without a location is returned, and a redirect with an invalid location is refused", async () => {
    await using nowhere = await site(page("", {}, 301))
    await using wrong = await site(page("", { location: "http://[/" }, 301))
    const follow = { mayFollow: () => true }
    expect((await ask(`http://a.test:${nowhere.port}/`, nowhere.port, follow)).status).toBe(301)
    expect(await codeOf(ask(`http://a.test:${wrong.port}/`, wrong.port, follow))).toBe("bad_redirect")
  })

  test("at most five redirects are followed, and only if the caller allows each of them", async () => {
    await using five = await site(redirects(5))
    const trails: string[][] = []
    const mayFollow = (to: URL, trail: readonly URL[]) =>
      trails.push([...trail, to].map(({ pathname }) => pathname)) < 9
    const answer = await ask(`http://a.test:${five.port}/0`, five.port, { mayFollow })
    expect([text(answer), answer.url]).toEqual(["there", `http://a.test:${five.port}/5`])
    expect(trails.at(-1)).toEqual(["/0", "/1", "/2", "/3", "/4", "/5"])
    await using six = await site(redirects(6))
    expect(await codeOf(ask(`http://a.test:${six.port}/0`, six.port, { mayFollow: () => true }))).toBe("bad_redirect")
    expect(await codeOf(ask(`http://a.test:${five.port}/0`, five.port, { mayFollow: () => false }))).toBe(
      "bad_redirect",
    )
  })
})

describe("isSent of an outbound error", () => {
  const isSent = (request: Promise<unknown>) => request.catch(({ code, isSent }: OutboundProblem) => [code, isSent])

  test("isSent is false if the connection or its TLS handshake failed", async () => {
    await using safe = await safeSite((_, socket) => socket.end(page("said")))
    const notFound = Object.assign(new Error("x"), { code: "ENOTFOUND" })
    expect(await isSent(ask("http://a.test:1/", 1))).toEqual(["unreachable", false])
    expect(await isSent(ask("http://10.0.0.1/", 80))).toEqual(["blocked", false])
    expect(await isSent(ask("ftp://a.test/", 80))).toEqual(["bad_address", false])
    expect(await isSent(ask("http://a.test/", 80, { resolve: () => Promise.reject(notFound) }))).toEqual([
      "no_such_host",
      false,
    ])
    expect(await isSent(ask(`https://wrong.test:${safe.port}/`, safe.port))).toEqual(["tls", false])
    const hangs = { totalMs: 50, resolve: () => new Promise<string[]>(() => {}) }
    expect(await isSent(ask("http://a.test/", 80, hangs))).toEqual(["timeout", false])
    expect(safe.requests).toEqual([])
  })

  test("isSent is true if the connection was opened, whatever the response", async () => {
    await using cut = await site((_, socket) => void socket.destroy())
    await using silent = await site(() => {})
    await using broken = await site(page("x", { "content-length": 9 }))
    await using large = await site(page("x".repeat(20)))
    const at = ({ port }: { port: number }, options = {}) =>
      isSent(ask(`http://a.test:${port}/`, port, { method: "PUT", body: "{}", ...options }))
    expect(await at(cut)).toEqual(["bad_answer", true])
    expect(await at(silent, { totalMs: 50 })).toEqual(["timeout", true])
    expect(await at(broken)).toEqual(["bad_answer", true])
    expect(await at(large, { mostBytes: 19 })).toEqual(["too_large", true])
  })
})
