import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib"
import fc from "fast-check"
import { encodingFor, inEncoding, MIN_BYTES, textResponse } from "../../src/lib/compression.ts"
import { freshDatabase } from "../database.ts"
import { openService, type Service } from "../service.ts"

const DECODED = { gzip: gunzipSync, br: brotliDecompressSync, zstd: zstdDecompressSync }

let service: Service
let key: string
let server: Bun.Server<undefined>

beforeAll(async () => {
  service = openService({ sql: await freshDatabase() })
  key = await service.key(await service.workspace())
  const fetch = (request: Request) => service.app.fetch(request, "127.0.0.1")
  server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch })
})
afterAll(() => server.stop(true))

/** Returns a response as it is sent, without decompression. */
async function sent(path: string, { accept = "identity", ...init }: RequestInit & { accept?: string } = {}) {
  const headers = new Headers(init.headers)
  headers.set("accept-encoding", accept)
  headers.set("authorization", `Bearer ${key}`)
  const response = await fetch(`${server.url.origin}${path}`, {
    ...init,
    headers,
    decompress: false,
    redirect: "manual",
  })
  return { status: response.status, headers: response.headers, bytes: await response.bytes() }
}

const LIST = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" })
const asTool = {
  method: "POST",
  body: LIST,
  headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
}
const LONG: [path: string, init?: RequestInit][] = [
  ["/docs"],
  ["/docs/errors"],
  ["/v1/openapi.json"],
  ["/llms.txt"],
  ["/docs/operate"],
  ["/v1/sandbox/alerts"],
  ["/v1/apps/none/keywords?a=1&b=2&c=3&d=4&e=5&f=6&g=7&h=8"],
  ["/mcp", asTool],
]

describe.each(LONG)("%s", (path, init) => {
  test("an encoded response decompresses to the same bytes, is smaller, and varies by Accept-Encoding", async () => {
    const plain = await sent(path, init)
    expect(plain.bytes.length).toBeGreaterThan(MIN_BYTES)
    expect([plain.headers.get("content-encoding"), plain.headers.get("vary")]).toEqual([null, "accept-encoding"])
    for (const [encoding, decoded] of Object.entries(DECODED)) {
      const { status, headers, bytes } = await sent(path, { ...init, accept: encoding })
      expect([encoding, status, headers.get("content-encoding"), headers.get("vary")]).toEqual([
        encoding,
        plain.status,
        encoding,
        "accept-encoding",
      ])
      expect(bytes.length).toBeLessThan(plain.bytes.length)
      expect(headers.get("content-length")).toBe(String(bytes.length))
      expect(decoded(bytes).equals(Buffer.from(plain.bytes))).toBe(true)
    }
  })
})

test("each encoding has its own ETag, and a request that sends this ETag gets 304", async () => {
  const tags = new Set<string>()
  for (const accept of ["identity", "gzip", "br", "zstd"]) {
    const etag = (await sent("/docs", { accept })).headers.get("etag") as string
    expect(etag).toMatch(/^"[0-9a-f]{32}(-\w+)?"$/)
    tags.add(etag)
    const conditional = await sent("/docs", { accept, headers: { "if-none-match": etag } })
    expect([conditional.status, conditional.headers.get("etag"), conditional.bytes.length]).toEqual([304, etag, 0])
    const other = await sent("/docs", { accept: accept === "gzip" ? "br" : "gzip", headers: { "if-none-match": etag } })
    expect(other.status).toBe(200)
  }
  expect(tags.size).toBe(4)
})

test("a short response is not compressed", async () => {
  for (const path of ["/livez", "/v1/account", "/nothing"]) {
    const { headers } = await sent(path, { accept: "gzip, br, zstd" })
    expect([headers.get("content-encoding"), headers.get("vary")]).toEqual([null, null])
  }
})

test("a body is compressed from a minimum size in bytes; an uncompressed response is returned unchanged", async () => {
  const [ascii, wide] = ["a".repeat(MIN_BYTES - 1), "é".repeat(MIN_BYTES / 2)]
  for (const [text, isLong] of [
    [ascii, false],
    [`${ascii}a`, true],
    [wide.slice(1), false],
    [wide, true],
  ] as const)
    for (const accept of [null, "gzip"])
      for (const answer of [new Response(text), textResponse(text, { headers: { "content-type": "text/event" } })]) {
        const sent = await inEncoding(accept, answer)
        expect(sent.headers.get("vary")).toBe(isLong ? "accept-encoding" : null)
        expect(sent.headers.get("content-encoding")).toBe(isLong ? accept : null)
        const bytes = await sent.bytes()
        expect(Buffer.from(isLong && accept ? gunzipSync(bytes) : bytes).toString()).toBe(text)
      }
  const written = textResponse(wide, {})
  expect(await inEncoding(null, written)).toBe(written)
})

test("the encoding with the highest weight is used; equal weights prefer zstd, then br, then gzip", () => {
  const cases: [string | null, string | null][] = [
    [null, null],
    ["", null],
    ["identity", null],
    ["gzip", "gzip"],
    ["GZIP", "gzip"],
    ["gzip, deflate, br, zstd", "zstd"],
    ["gzip, deflate, br", "br"],
    ["gzip;q=1.0, br;q=0.5", "gzip"],
    ["br;q=0", null],
    ["zstd;q=0, gzip", "gzip"],
    ["*", "gzip"],
    ["*;q=0", null],
    ["gzip;q=0, *", null],
    ["identity, gzip;q=0.5", null],
    ["gzip;q=2", null],
    ["gzip;q=x", null],
    ["deflate", null],
    ["br ; q=0.9 , gzip ; q=0.8", "br"],
  ]
  for (const [accepted, encoding] of cases)
    expect([accepted, encodingFor(accepted)]).toEqual([accepted, encoding as never])
  fc.assert(
    fc.property(fc.string(), (accepted) => {
      expect([null, "gzip", "br", "zstd"]).toContain(encodingFor(accepted))
    }),
    { seed: 14 },
  )
})

test("HEAD returns the headers of GET without a body, on documents, health and pages", async () => {
  for (const path of ["/docs", "/v1/openapi.json", "/livez", "/readyz"]) {
    const [get, head] = [await sent(path), await sent(path, { method: "HEAD" })]
    expect([path, head.status, head.bytes.length]).toEqual([path, 200, 0])
    for (const name of ["content-type", "etag", "cache-control"])
      expect([name, head.headers.get(name)]).toEqual([name, get.headers.get(name)])
  }
})

test("HEAD of a keyed read is refused with Allow and costs nothing", async () => {
  const used = async (path: string) => Number((await sent(path)).headers.get("x-credits-used"))
  const before = await used("/v1/apps")
  for (const path of ["/v1/account", "/v1/apps", "/v1/usage"]) {
    const { status, bytes, headers } = await sent(path, { method: "HEAD" })
    expect([path, status, bytes.length, headers.get("allow")]).toEqual([path, 405, 0, "GET"])
    expect(headers.get("x-credits-used")).toBe(String(before))
  }
  expect(await used("/v1/apps")).toBe(before + 1)
})

test("/ redirects to the apps; /docs/, /v1 and /v1/ redirect to the reference", async () => {
  const led = { "/": "/app", "/docs/": "/docs", "/v1": "/docs", "/v1/": "/docs" }
  for (const [path, to] of Object.entries(led)) {
    const { status, headers } = await sent(path)
    expect([path, status, headers.get("location")]).toEqual([path, 302, to])
  }
})
