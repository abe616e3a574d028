import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import * as modern from "@modelcontextprotocol/client"
import * as legacy from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { catalog } from "../../src/catalog.ts"
import { readTree } from "../../src/database/assets.ts"
import { freshDatabase } from "../database.ts"
import { errorOf } from "../error-of.ts"
import { slow } from "../long.ts"
import { openService, type Service } from "../service.ts"
import { trackOwn } from "../world/tracked.ts"
import { type Served, serve } from "./tools-server.ts"

// Uses the official clients of both major versions as assistants do. They check every message against the protocol's
// schemas, and structured content against the tool's output schema.

let service: Service
let served: Served
let key: string
let testKey: string
let appId: string

beforeAll(async () => {
  const sql = await freshDatabase()
  service = openService({ sql })
  served = serve(service)
  const workspace = await service.workspace()
  key = await service.key(workspace)
  testKey = await service.key(workspace, { kind: "test" })
  appId = await trackOwn(sql, {
    workspaceId: workspace,
    iosId: "1437843273",
    keywords: ["tea app"],
  })
})
afterAll(() => served.stop())

interface Result {
  isError?: boolean
  structuredContent?: unknown
  content: { type: string; text?: string }[]
  _meta?: Record<string, unknown>
}

interface Client {
  listTools(): Promise<{ tools: { name: string }[]; nextCursor?: string }>
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<Result>
  getServerVersion(): { name: string } | undefined
  getInstructions(): string | undefined
  close(): Promise<void>
}

const INFO = { name: "test", version: "1" }
const signed = (secret: string | undefined) => ({
  requestInit: { headers: new Headers(secret ? { authorization: `Bearer ${secret}` } : {}) },
})

async function sdk(secret?: string): Promise<Client> {
  const client = new legacy.Client(INFO)
  await client.connect(new StreamableHTTPClientTransport(new URL(served.url), signed(secret)))
  return client as unknown as Client
}

const client = (mode?: modern.VersionNegotiationMode) => async (secret?: string) => {
  const client = new modern.Client(INFO, mode ? { versionNegotiation: { mode } } : {})
  await client.connect(new modern.StreamableHTTPClientTransport(new URL(served.url), signed(secret)))
  return client as unknown as Client
}

const clients: [string, (secret?: string) => Promise<Client>][] = [
  ["sdk 1.32.2", sdk],
  ["client 2.4.0", client()],
  ["client 2.4.0, auto", client("auto")],
  ["client 2.4.0, pinned to 2026-07-28", client({ pin: "2026-07-28" })],
]

describe.each(clients)("%s", (_, connect) => {
  test("the client connects and receives the server's name and instructions", async () => {
    const connected = await connect(key)
    expect(connected.getServerVersion()).toMatchObject({ name: "appmeter" })
    expect(connected.getInstructions()).toContain("whoami")
    await connected.close()
  })

  slow("the client lists every tool on one page and calls each of them", async () => {
    const connected = await connect(testKey)
    const { tools, nextCursor } = await connected.listTools()
    expect([tools.map(({ name }) => name), nextCursor]).toEqual([catalog.map(({ id }) => id).sort(), undefined])
    const fixtures = readTree("fixtures/sandbox", ".json")
    for (const { id, effect } of catalog) {
      const { input } = JSON.parse(fixtures.get(`${id}.json`) as string)
      const result = await connected.callTool({ name: id, arguments: input })
      const text = JSON.parse(result.content[0]?.text ?? "")
      const writes = effect === "writes" || effect === "previews"
      if (writes) expect([id, result.isError, text.error]).toEqual([id, true, "test_key_read_only"])
      else expect([id, result.isError, result.structuredContent]).toEqual([id, undefined, text])
    }
    await connected.close()
  })

  test("the client gets the answers for a live key, with their cost", async () => {
    const connected = await connect(key)
    await connected.listTools()
    for (const name of ["get_app", "list_keyword_ranks", "list_rivals"]) {
      const { structuredContent, _meta } = await connected.callTool({ name, arguments: { appId } })
      expect(structuredContent).toBeObject()
      expect(_meta).toMatchObject({ credits: { cost: 1 } })
    }
    await connected.close()
  })

  test("the client reads a fault as a result, and an unknown tool as -32602", async () => {
    const connected = await connect(key)
    await connected.listTools()
    const result = await connected.callTool({ name: "get_app", arguments: { appId: "app_none" } })
    expect([result.isError, JSON.parse(result.content[0]?.text ?? "").error]).toEqual([true, "not_found"])
    const bad = await connected.callTool({ name: "get_app", arguments: { nonsense: 1 } })
    expect([bad.isError, JSON.parse(bad.content[0]?.text ?? "").error]).toEqual([true, "invalid_arguments"])
    expect(await errorOf(connected.callTool({ name: "nonsense", arguments: {} }))).toMatchObject({ code: -32602 })
    await connected.close()
  })

  test("the client does not connect without a key, and its error explains sign-in or names 401", async () => {
    const error = String(await errorOf(connect()))
    expect(error).toMatch(/appmeter key create|requires authorization \(HTTP 401\)/)
  })
})
