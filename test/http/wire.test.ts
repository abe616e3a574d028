import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { connect, type Socket } from "node:net"
import type { ListeningProcess } from "../../src/commands/cli/command.ts"
import { listen } from "../../src/commands/process/listen.ts"
import { freshDatabase } from "../database.ts"
import { slow } from "../long.ts"
import { checkedHeaders, openService, type Service } from "../service.ts"

setDefaultTimeout(60_000)

let service: Service
let server: ListeningProcess
let url: string
let key: string

beforeAll(async () => {
  service = openService({ sql: await freshDatabase() })
  key = await service.key(await service.workspace({ plan: "enterprise", overrides: { credits: 1_000 } }))
  server = listen({ host: "127.0.0.1", port: 0, fetch: service.app.fetch })
  url = `http://127.0.0.1:${server.port}`
})

beforeEach(() => void service.logged.splice(0))
afterAll(() => server.stop(true))

const MIB = 1024 * 1024
const json = { "content-type": "application/json" }
const events = () => service.logged.map((line) => JSON.parse(line))

/** Returns a body of this size, with its length announced or in chunks. */
function bodyOf(bytes: number, chunked: boolean): BodyInit {
  const text = "x".repeat(bytes)
  return chunked ? new Blob([text]).stream() : text
}

describe("a body larger than the limit", () => {
  for (const chunked of [false, true])
    for (const mebibytes of [0.5, 2, 6])
      test(`a body of ${mebibytes} MiB, ${chunked ? "in chunks" : "by length"}, is refused with credits`, async () => {
        const headers = { ...json, authorization: `Bearer ${key}` }
        const send = (path: string) =>
          fetch(`${url}${path}`, { method: "POST", headers, body: bodyOf(mebibytes * MIB, chunked) })
        const rest = await send("/v1/actions")
        expect([rest.status, checkedHeaders(rest).limit]).toEqual([413, 1_000])
        const { error } = (await rest.json()) as { error: string }
        const tools = await send("/mcp")
        expect([error, tools.status, checkedHeaders(tools).limit]).toEqual(["body_too_large", 413, 1_000])
        expect(await tools.json()).toMatchObject({ jsonrpc: "2.0", error: { data: { error: "body_too_large" } } })
      })

  test("a large body without a key, or to an address that reads no body, is answered like a small body", async () => {
    const send = async (path: string) => {
      const answer = await fetch(`${url}${path}`, { method: "POST", headers: json, body: bodyOf(2 * MIB, true) })
      checkedHeaders(answer)
      return ((await answer.json()) as { error: string }).error
    }
    expect(await send("/v1/actions")).toBe("missing_api_key")
    expect(await send("/v1/nowhere")).toBe("missing_api_key")
    expect(await send("/v1/sandbox/apps")).toBe("method_not_allowed")
    expect(await send("/nowhere")).toBe("unknown_endpoint")
  })

  slow("the connection of a 400 MB body is closed early, and the body is not held in memory", async () => {
    Bun.gc(true)
    const before = process.memoryUsage().rss
    const { sent, answer } = await poured(400)
    expect(process.memoryUsage().rss - before).toBeLessThan(150e6)
    expect(sent).toBeLessThan(100)
    expect(answer).toMatch(/^HTTP\/1\.1 413 |^$/)
  })
})

/** Sends this many megabytes to a POST, as fast as the server reads, until the connection ends. */
async function poured(megabytes: number): Promise<{ sent: number; answer: string }> {
  const socket = connect(server.port, "127.0.0.1")
  const ended = over(socket)
  socket.write(
    `POST /v1/actions HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\n`,
  )
  socket.write(`content-length: ${megabytes * 1e6}\r\n\r\n`)
  const block = Buffer.alloc(1e6, "x")
  let sent = 0
  for (; sent < megabytes && !socket.destroyed; sent++)
    if (!socket.write(block)) await Promise.race([new Promise((resolve) => socket.once("drain", resolve)), ended])
  return { sent, answer: await ended }
}

/** Returns the data received until the connection ended. */
function over(socket: Socket): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  let text = ""
  socket.on("data", (data) => {
    text += data
  })
  socket.on("error", () => {})
  socket.on("close", () => resolve(text))
  return promise
}

describe("a head larger than 16 KiB", () => {
  const long = "x".repeat(20_000)
  const oversized: [what: string, path: string, headers: Record<string, string>][] = [
    ["in its address", `/v1/apps?a=${long}`, {}],
    ["in a header", "/v1/apps", { "x-note": long }],
    ["of 100 KB", "/v1/apps", { "x-note": long.repeat(5) }],
    ["in the key", "/v1/apps", { authorization: `Bearer ${long}` }],
    ["in the sandbox", `/v1/sandbox/apps?a=${long}`, {}],
    ["of a document", `/docs?a=${long}`, {}],
    ["of a shared page", "/share/x", { cookie: long }],
  ]
  for (const [what, path, headers] of oversized)
    test(`a request head over 16 KiB is refused with headers_too_large: ${what}`, async () => {
      const answer = await fetch(`${url}${path}`, { headers })
      checkedHeaders(answer)
      expect([answer.status, await answer.json()]).toEqual([
        431,
        expect.objectContaining({ error: "headers_too_large", docs: expect.stringContaining("#headers_too_large") }),
      ])
      expect(events()).toContainEqual(
        expect.objectContaining({ event: "call", status: 431, code: "headers_too_large" }),
      )
    })

  test("a head over 16 KiB is a JSON-RPC error to a tool's caller", async () => {
    const headers = { ...json, "x-note": long }
    const answer = await fetch(`${url}/mcp`, { method: "POST", headers, body: "{}" })
    checkedHeaders(answer)
    expect([answer.status, await answer.json()]).toMatchObject([
      431,
      { jsonrpc: "2.0", id: null, error: { code: -32000, data: { error: "headers_too_large" } } },
    ])
  })

  test("a head over 16 KiB with a key in its address is reported as a key in the URL", async () => {
    const answer = await fetch(`${url}/v1/apps?key=svc_live_${long}`)
    expect([answer.status, await answer.json()]).toMatchObject([400, { error: "key_in_url" }])
  })

  test("a head of 15 KB is accepted", async () => {
    const answer = await fetch(`${url}/v1/sandbox/apps`, { headers: { "x-note": "x".repeat(15_000) } })
    expect(answer.status).toBe(200)
  })
})

describe("a client that disconnects before its body is complete", () => {
  for (const path of ["/v1/actions", "/v1/actions/confirm", "/mcp"])
    test(`${path}: a request with an incomplete body is logged with status 499 and is not charged`, async () => {
      for (const head of ["content-length: 100\r\n\r\n{", "transfer-encoding: chunked\r\n\r\n5\r\n{"]) {
        const socket = connect(server.port, "127.0.0.1")
        const ended = over(socket)
        const who = `host: 127.0.0.1\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\n`
        socket.write(`POST ${path} HTTP/1.1\r\n${who}${head}`)
        await Bun.sleep(100)
        socket.destroy()
        await ended
      }
      while (events().length < 2) await Bun.sleep(10)
      expect(events()).toMatchObject([
        { level: "info", event: "call", status: 499 },
        { level: "info", event: "call", status: 499 },
      ])
      expect(await service.sql`select from ledger limit 1`).toHaveLength(0)
    })
})
