import { afterAll, beforeAll, expect, test } from "bun:test"
import * as modern from "@modelcontextprotocol/client"
import * as legacy from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import * as v from "valibot"
import { catalog } from "../../src/catalog.ts"
import { type Operation, operation } from "../../src/core/operation.ts"
import { readTree } from "../../src/database/assets.ts"
import type { Sql } from "../../src/database/types.ts"
import { Fault } from "../../src/lib/faults.ts"
import { freshDatabase } from "../database.ts"
import { slow } from "../long.ts"
import { openService, type Service } from "../service.ts"
import { request } from "./tools-messages.ts"
import { type Served, serve } from "./tools-server.ts"

const PROGRESS_MS = 20
/** A busy machine may take longer than PROGRESS_MS for any call. */
const LONGER_THAN_A_CALL_MS = 60_000

let sql: Sql
let service: Service
let served: Served
let key: string
/** Lets the slow tool continue. */
let go: () => void
let waits: Promise<void>

const slowTool: Operation = operation({
  id: "slow_tool",
  method: "GET",
  path: "/slow",
  group: "Account",
  toolset: "account",
  summary: "Waits until it is let go.",
  effect: "measures",
  scope: null,
  price: 3,
  faults: ["not_measured"],
  deadlineMs: 20_000,
  input: v.strictObject({ fails: v.optional(v.boolean()) }),
  output: v.strictObject({ done: v.boolean() }),
}).run(async ({ fails }) => {
  await waits
  if (fails) throw new Fault("not_measured")
  return { done: true }
})

beforeAll(async () => {
  const fixture = JSON.stringify({ input: {}, answer: { done: true } })
  sql = await freshDatabase()
  service = openService({
    sql,
    catalog: [...catalog, slowTool],
    fixtures: new Map([...readTree("fixtures/sandbox", ".json"), ["slow_tool.json", fixture]]),
    toolPace: { progressEveryMs: PROGRESS_MS },
  })
  served = serve(service)
  key = await service.key(await service.workspace())
})
afterAll(() => served.stop())

function hold(): void {
  const gate = Promise.withResolvers<void>()
  waits = gate.promise
  go = gate.resolve
}

const signed = () => ({ requestInit: { headers: new Headers({ authorization: `Bearer ${key}` }) } })
const INFO = { name: "test", version: "1" }

interface Client {
  callTool(
    call: object,
    ...rest: unknown[]
  ): Promise<{ structuredContent?: unknown; isError?: boolean; _meta?: object }>
  close(): Promise<void>
}
type Progress = { progress: number; message?: string }

const clients: [string, (onprogress: (progress: Progress) => void) => Promise<[Client, unknown[]]>][] = [
  [
    "sdk 1.32.2",
    async (onprogress) => {
      const client = new legacy.Client(INFO)
      await client.connect(new StreamableHTTPClientTransport(new URL(served.url), signed()))
      return [client as unknown as Client, [undefined, { onprogress }]]
    },
  ],
  [
    "client 2.4.0 on 2026-07-28",
    async (onprogress) => {
      const client = new modern.Client(INFO, { versionNegotiation: { mode: { pin: "2026-07-28" } } })
      await client.connect(new modern.StreamableHTTPClientTransport(new URL(served.url), signed()))
      return [client as unknown as Client, [{ onprogress }]]
    },
  ],
]

test.each(clients)("%s receives progress of a waiting call, then its answer and its cost", async (_, connect) => {
  hold()
  const messages: Progress[] = []
  const [client, rest] = await connect((progress) => {
    messages.push(progress)
    if (messages.length === 3) go()
  })
  const { structuredContent, _meta } = await client.callTool({ name: "slow_tool", arguments: {} }, ...rest)
  expect(structuredContent).toEqual({ done: true })
  expect(_meta).toMatchObject({ credits: { cost: 3 } })
  expect(messages.length).toBeGreaterThanOrEqual(3)
  expect(messages.map(({ progress }) => progress)).toEqual(
    messages.map(({ progress }) => progress).toSorted((a, b) => a - b),
  )
  expect(messages[0]?.message).toMatch(/^Waited \d+ s/)
  await client.close()
})

test.each(clients)("%s receives the fault of a waiting call like any other fault", async (_, connect) => {
  hold()
  const [client, rest] = await connect(() => go())
  const { isError } = await client.callTool({ name: "slow_tool", arguments: { fails: true } }, ...rest)
  expect(isError).toBe(true)
  await client.close()
})

async function send(params: object, accept: string, { url } = served): Promise<Response> {
  return await fetch(url, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", accept, "accept-encoding": "gzip" },
    body: JSON.stringify(request("tools/call", params)),
  })
}

const BOTH = "application/json, text/event-stream"

test("a call that ends before its first progress message gets one JSON message with its headers", async () => {
  const patient = serve(openService({ sql, toolPace: { progressEveryMs: LONGER_THAN_A_CALL_MS } }))
  const response = await send({ name: "whoami", arguments: {}, _meta: { progressToken: 1 } }, BOTH, patient)
  patient.stop()
  expect(response.headers.get("content-type")).toContain("application/json")
  expect(response.headers.get("x-credits-limit")).not.toBe("0")
})

slow("a client gets no stream if it accepts no stream or names no progress token", async () => {
  for (const [params, accept] of [
    [{ _meta: { progressToken: 1 } }, "application/json"],
    [{}, BOTH],
    [{ _meta: { progressToken: { a: 1 } } }, BOTH],
  ] as const) {
    hold()
    const sending = send({ name: "slow_tool", arguments: {}, ...params }, accept)
    setTimeout(go, 100)
    expect((await sending).headers.get("content-type")).toContain("application/json")
  }
})

test("a stream is sent without compression and without caching", async () => {
  hold()
  const response = await send({ name: "slow_tool", arguments: {}, _meta: { progressToken: "a" } }, BOTH)
  const shownHeaders = ["content-type", "content-encoding", "cache-control", "x-content-type-options"].map((name) =>
    response.headers.get(name),
  )
  expect(shownHeaders).toEqual(["text/event-stream", null, "private, no-store", "nosniff"])
  const reader = response.body!.getReader()
  expect(new TextDecoder().decode((await reader.read()).value)).toContain('"progressToken":"a"')
  go()
  await reader.cancel()
})

test("a call whose caller disconnects is logged and finishes", async () => {
  hold()
  const controller = new AbortController()
  const response = await fetch(served.url, {
    method: "POST",
    signal: controller.signal,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", accept: BOTH },
    body: JSON.stringify(request("tools/call", { name: "slow_tool", arguments: {}, _meta: { progressToken: 1 } })),
  })
  await response.body!.getReader().read()
  const before = service.logged.length
  controller.abort()
  const line = async (): Promise<string> =>
    service.logged.slice(before).find((entry) => entry.includes('"status":499')) ?? (await Bun.sleep(20).then(line))
  expect(JSON.parse(await line())).toMatchObject({ path: "/mcp", status: 499 })
  go()
})

test("a call that asks for a stream without a key is refused with status 401", async () => {
  const response = await fetch(served.url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: BOTH },
    body: JSON.stringify(request("tools/call", { name: "slow_tool", arguments: {}, _meta: { progressToken: 1 } })),
  })
  expect(response.status).toBe(401)
})
