import { beforeAll, describe, expect, test } from "bun:test"
import { catalog } from "../../src/catalog.ts"
import { versionOf } from "../../src/database/assets.ts"
import { freshDatabase } from "../database.ts"
import { openService, type Service } from "../service.ts"
import {
  CAPABILITIES,
  ENVELOPE,
  MODERN,
  modern,
  type Posted,
  type PostOptions,
  post,
  request,
  VERSION,
} from "./tools-messages.ts"

let service: Service
let key: string

beforeAll(async () => {
  service = openService({ sql: await freshDatabase() })
  key = await service.key(await service.workspace())
})

const send = (message: unknown, options: PostOptions = {}) => post(service, message, { key, ...options })
const sendModern = (...args: Parameters<typeof modern>) => {
  const { message, headers } = modern(...args)
  return send(message, { headers })
}
const errorOf = ({ status, body }: Posted) => [status, body?.error?.code, body?.id]

describe("the handshake before 2026-07-28", () => {
  const initialize = (protocolVersion: unknown) =>
    send(request("initialize", { protocolVersion, capabilities: {}, clientInfo: { name: "x", version: "1" } }))

  test("initialize answers with the requested revision if supported, otherwise with the newest", async () => {
    const answered = async (version: unknown) => (await initialize(version)).body.result.protocolVersion
    for (const spoken of ["2025-11-25", "2025-06-18", "2025-03-26"]) expect(await answered(spoken)).toBe(spoken)
    for (const other of ["2024-11-05", "2099-01-01", MODERN, undefined, 7])
      expect(await answered(other)).toBe("2025-11-25")
  })

  test("initialize returns the server's name, capabilities and instructions", async () => {
    const { result } = (await initialize("2025-11-25")).body
    expect(Object.keys(result).sort()).toEqual(["capabilities", "instructions", "protocolVersion", "serverInfo"])
    expect(result.capabilities).toEqual({ tools: {}, prompts: {}, resources: {}, completions: {} })
    expect(result.serverInfo).toEqual({ name: "appmeter", title: "Appmeter", version: versionOf() })
    for (const phrase of [
      "whoami",
      "list_apps",
      "three states",
      "confirm",
      "approved",
      "credits",
      "never an instruction",
    ])
      expect(result.instructions).toContain(phrase)
  })

  test("ping returns an empty result, whatever the id", async () => {
    for (const id of [0, 7, -1, "", "a", "💥"]) {
      const { status, body } = await send(request("ping", undefined, id))
      expect([status, body]).toEqual([200, { jsonrpc: "2.0", id, result: {} }])
    }
  })

  test("every supported revision is accepted in the header, and a missing header means the oldest one", async () => {
    for (const version of ["2025-11-25", "2025-06-18", "2025-03-26", undefined]) {
      const headers = version === undefined ? undefined : { "mcp-protocol-version": version }
      const { status, body } = await send(request("tools/list"), { ...(headers && { headers }) })
      expect([status, body.result.tools.length]).toEqual([200, catalog.length])
      expect(Object.keys(body.result)).toEqual(["tools"])
    }
  })

  test("an unsupported revision in the header is refused, except on initialize", async () => {
    for (const version of ["2024-11-05", "2025-12-01", "latest", ""]) {
      const headers = { "mcp-protocol-version": version }
      expect(errorOf(await send(request("tools/list"), { headers }))).toEqual([400, -32000, 7])
      expect((await send(request("initialize"), { headers })).status).toBe(200)
    }
  })

  test("an unknown or modern method is -32601 on 200", async () => {
    for (const method of [
      "resources/subscribe",
      "tasks/list",
      "logging/setLevel",
      "server/discover",
      "constructor",
      "",
    ])
      expect(errorOf(await send(request(method)))).toEqual([200, -32601, 7])
  })
})

describe("the stateless revision 2026-07-28", () => {
  test("server/discover returns revisions, capabilities, instructions and the server's identity", async () => {
    const { status, body } = await sendModern("server/discover")
    expect(status).toBe(200)
    expect(body.result).toMatchObject({
      resultType: "complete",
      supportedVersions: [MODERN],
      capabilities: { tools: {} },
      ttlMs: expect.any(Number),
      cacheScope: "public",
      _meta: { "io.modelcontextprotocol/serverInfo": { name: "appmeter" } },
    })
    expect(body.result.instructions).toContain("whoami")
  })

  test("tools/list is the same as in older revisions, and has cache metadata", async () => {
    const [old, { body }] = [await send(request("tools/list")), await sendModern("tools/list")]
    expect(body.result.tools).toEqual(old.body.result.tools)
    expect(body.result).toMatchObject({ resultType: "complete", cacheScope: "public", ttlMs: expect.any(Number) })
  })

  test("a call's result is marked as complete and has the server's identity and the cost", async () => {
    const { body } = await sendModern("tools/call", { name: "whoami" })
    expect(body.result).toMatchObject({
      resultType: "complete",
      _meta: { "io.modelcontextprotocol/serverInfo": { name: "appmeter" }, credits: { cost: 0 } },
    })
  })

  test("a removed or unknown method is -32601 on 404", async () => {
    for (const method of [
      "initialize",
      "ping",
      "resources/subscribe",
      "subscriptions/listen",
      "logging/setLevel",
      "nonsense",
    ])
      expect(errorOf(await sendModern(method))).toEqual([404, -32601, 7])
  })

  const headers = { "mcp-protocol-version": MODERN, "mcp-method": "tools/list" }
  const envelopes: [string, unknown][] = [
    ["no params", undefined],
    ["no _meta", {}],
    ["a _meta that is not an object", { _meta: "x" }],
    ["no revision", { _meta: { [CAPABILITIES]: {} } }],
    ["a revision that is not text", { _meta: { [VERSION]: 7, [CAPABILITIES]: {} } }],
    ["no capabilities", { _meta: { [VERSION]: MODERN } }],
    ["capabilities that are not an object", { _meta: { [VERSION]: MODERN, [CAPABILITIES]: [] } }],
  ]
  test.each(envelopes)("an envelope with %s is -32602 on 400", async (_, params) => {
    expect(errorOf(await send(request("tools/list", params), { headers }))).toEqual([400, -32602, 7])
  })

  test("client info is optional, and other metadata is ignored", async () => {
    const _meta = { ...ENVELOPE, "example.com/extra": 1, progressToken: "p" }
    expect((await sendModern("tools/list", { _meta })).status).toBe(200)
  })

  test("an unsupported revision is -32022 with the supported revisions and the requested one", async () => {
    for (const version of ["2099-01-01", "2025-11-25", "x".repeat(100)]) {
      const _meta = { ...ENVELOPE, [VERSION]: version }
      const answer = await sendModern("tools/list", { _meta }, { "mcp-protocol-version": version })
      expect(errorOf(answer)).toEqual([400, -32022, 7])
      expect(answer.body.error.data).toEqual({ supported: [MODERN], requested: version.slice(0, 32) })
    }
  })

  const mismatches: [string, Record<string, string | null>][] = [
    ["no revision", { "mcp-protocol-version": null }],
    ["another revision", { "mcp-protocol-version": "2025-11-25" }],
    ["no method", { "mcp-method": null }],
    ["another method", { "mcp-method": "tools/list" }],
    ["the method in another case", { "mcp-method": "Tools/Call" }],
    ["no name", { "mcp-name": null }],
    ["another name", { "mcp-name": "list_apps" }],
    ["the name in another case", { "mcp-name": "WhoAmI" }],
    ["a name in broken base64", { "mcp-name": "=?base64?d2hvYW1p_?=" }],
    ["a name in base64 of another length", { "mcp-name": "=?base64?d2hvYW1pp?=" }],
    ["a name in base64 that is no UTF-8", { "mcp-name": "=?base64?/w==?=" }],
  ]
  test.each(mismatches)("headers with %s are -32020 on 400", async (_, changed) => {
    expect(errorOf(await sendModern("tools/call", { name: "whoami" }, changed))).toEqual([400, -32020, 7])
  })

  test("a name in the header may be base64 or surrounded by spaces", async () => {
    for (const spelled of [`=?base64?${btoa("whoami")}?=`, "  whoami "])
      expect((await sendModern("tools/call", { name: "whoami" }, { "mcp-name": spelled })).status).toBe(200)
  })

  test("the first of two errors is reported, in the order envelope, headers, method", async () => {
    const bad = { "mcp-method": "other" }
    expect(errorOf(await sendModern("nonsense", { _meta: { [VERSION]: MODERN } }, bad))[1]).toBe(-32602)
    expect(errorOf(await sendModern("nonsense", {}, bad))[1]).toBe(-32020)
  })
})

describe("messages", () => {
  const malformed: [string, unknown, number, number, unknown][] = [
    ["no JSON", "{", 400, -32700, null],
    ["no content", "", 400, -32700, null],
    ["invalid UTF-8", new Uint8Array([0x22, 0xff, 0x22]), 400, -32700, null],
    [
      "nesting deeper than 32 levels",
      `{"jsonrpc":"2.0","id":1,"method":"ping","params":${"[".repeat(40)}${"]".repeat(40)}}`,
      400,
      -32700,
      null,
    ],
    ["a batch", [request("ping")], 400, -32600, null],
    ["an empty batch", [], 400, -32600, null],
    ["null", null, 400, -32600, null],
    ["a text", '"ping"', 400, -32600, null],
    ["no version", { id: 7, method: "ping" }, 400, -32600, 7],
    ["another version", { jsonrpc: "1.0", id: 7, method: "ping" }, 400, -32600, 7],
    ["no method", { jsonrpc: "2.0", id: 7 }, 400, -32600, 7],
    ["a method that is no text", { jsonrpc: "2.0", id: 7, method: 1 }, 400, -32600, 7],
    ["the id null", request("ping", undefined, null), 400, -32600, null],
    ["a fraction as id", request("ping", undefined, 1.5), 400, -32600, null],
    ["an id too large to give back", '{"jsonrpc":"2.0","id":1e300,"method":"ping"}', 400, -32600, null],
    ["an object as id", request("ping", undefined, {}), 400, -32600, null],
    ["params in a list", request("ping", []), 400, -32600, 7],
    ["params null", request("ping", null), 400, -32600, 7],
    ["a tool without a name", request("tools/call", {}), 200, -32602, 7],
    ["a tool's name that is no text", request("tools/call", { name: 1 }), 200, -32602, 7],
    ["an unknown tool", request("tools/call", { name: "nonsense" }), 200, -32602, 7],
    ["a prototype's name as tool", request("tools/call", { name: "constructor" }), 200, -32602, 7],
    ["arguments in a list", request("tools/call", { name: "whoami", arguments: [] }), 200, -32602, 7],
    ["arguments null", request("tools/call", { name: "whoami", arguments: null }), 200, -32602, 7],
    ["a cursor", request("tools/list", { cursor: "x" }), 200, -32602, 7],
  ]
  test.each(malformed)("a message with %s is refused", async (_, message, status, code, id) => {
    const answer = await send(message === null ? "null" : message)
    expect(errorOf(answer)).toEqual([status, code, id])
    expect(answer.credits.limit).toBeGreaterThan(0)
  })

  test("the name of an unknown tool is returned shortened, and no other text of the caller is returned", async () => {
    const { body } = await send(request("tools/call", { name: "n".repeat(5_000), arguments: { secret: "s3cr3t" } }))
    expect(body.error.message).toBe(`Unknown tool: ${"n".repeat(64)}`)
    for (const message of [
      request("m3thod"),
      { jsonrpc: "v3rsion", id: 7 },
      request("tools/list", { cursor: "curs0r" }),
    ])
      expect((await send(message)).body.error.message).not.toMatch(/m3thod|v3rsion|curs0r/)
  })

  test("a notification gets 202 without a body, and so does an answer to an unknown question", async () => {
    const accepted = [
      { jsonrpc: "2.0", method: "notifications/initialized" },
      { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } },
      { jsonrpc: "2.0", method: "nonsense" },
      { jsonrpc: "2.0", id: 3, result: {} },
      { jsonrpc: "2.0", id: 3, error: { code: 1, message: "x" } },
    ]
    for (const message of accepted) {
      const answer = await send(message)
      expect([answer.status, answer.text, answer.headers.get("content-type")]).toEqual([202, "", null])
    }
    expect((await send(accepted[0], { headers: { "mcp-protocol-version": MODERN } })).status).toBe(202)
  })

  test("a call sent as a notification is not executed", async () => {
    const before = service.logged.length
    expect((await send({ jsonrpc: "2.0", method: "tools/call", params: { name: "list_apps" } })).status).toBe(202)
    const [line] = service.logged.slice(before).map((text) => JSON.parse(text))
    expect(line).toMatchObject({ event: "call", method: "tools/call", cost: 0 })
    expect(line).not.toHaveProperty("operation")
  })

  const bodies: [string, PostOptions & { message: string }, number, string][] = [
    [
      "a form",
      { message: "a=1", headers: { "content-type": "application/x-www-form-urlencoded" } },
      415,
      "unsupported_media_type",
    ],
    ["plain text", { message: "{}", headers: { "content-type": "text/plain" } }, 415, "unsupported_media_type"],
    ["a compressed body", { message: "{}", headers: { "content-encoding": "gzip" } }, 415, "unsupported_media_type"],
    [
      "more than 64 KiB",
      { message: JSON.stringify(request("ping", { x: "x".repeat(65_536) })) },
      413,
      "body_too_large",
    ],
  ]
  test.each(bodies)("a body with %s is refused", async (_, { message, ...options }, status, code) => {
    const answer = await send(message, options)
    expect(errorOf(answer)).toEqual([status, -32000, null])
    expect(answer.body.error.data.error).toBe(code)
  })

  test("a body of exactly 64 KiB is accepted", async () => {
    const empty = JSON.stringify(request("ping", { x: "" }))
    expect((await send(JSON.stringify(request("ping", { x: "x".repeat(65_536 - empty.length) })))).status).toBe(200)
    expect((await send(JSON.stringify(request("ping", { x: "x".repeat(65_537 - empty.length) })))).status).toBe(413)
  })
})
