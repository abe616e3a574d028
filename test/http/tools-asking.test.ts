import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test"
import * as modern from "@modelcontextprotocol/client"
import * as legacy from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js"
import type { Sql } from "../../src/database/types.ts"
import { freshDatabase } from "../database.ts"
import { slow } from "../long.ts"
import { openService, type Service } from "../service.ts"
import { trackOwn } from "../world/tracked.ts"
import { modern as anew, CAPABILITIES, ENVELOPE, MODERN, post, request } from "./tools-messages.ts"
import { type Served, serve } from "./tools-server.ts"

// Runs the official clients of both revisions against real servers. Their handler replaces the person who presses a
// button.

let sql: Sql
let service: Service
let servers: Served[]
let workspace: number
let key: string
let app: string

beforeAll(async () => {
  sql = await freshDatabase()
  service = openService({ sql })
  // two processes on one database, as behind a load balancer
  servers = [serve(service), serve(openService({ sql }))]
})
afterAll(() => {
  for (const { stop } of servers) stop()
})

beforeEach(async () => {
  workspace = await service.workspace()
  key = await service.key(workspace)
  app = await trackOwn(sql, { workspaceId: workspace, iosId: "1437843273", keywords: ["tea"] })
})

type Press = "accept" | "decline" | "cancel"
interface Person {
  press: Press
  read: string[]
}

interface Client {
  callTool(call: { name: string; arguments: object }): Promise<{
    isError?: boolean
    // biome-ignore lint/suspicious/noExplicitAny: answers of several tools
    structuredContent?: any
    content: { text?: string }[]
  }>
  close(): Promise<void>
}

const INFO = { name: "test", version: "1" }
const headers = () => ({ requestInit: { headers: new Headers({ authorization: `Bearer ${key}` }) } })

/** Sends calls to the first server, and the person's answers to the second. */
function toEither(url: string | URL | Request, init?: RequestInit): Promise<Response> {
  const answers = typeof init?.body === "string" && !init.body.includes('"method"')
  return fetch(answers ? servers[1]!.url : url, init)
}

async function older(person: Person): Promise<Client> {
  const client = new legacy.Client(INFO, { capabilities: { elicitation: {} } })
  client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
    person.read.push(params.message)
    return { action: person.press, ...(person.press === "accept" && { content: {} }) }
  })
  const transport = new StreamableHTTPClientTransport(new URL(servers[0]!.url), {
    ...headers(),
    fetch: toEither as never,
  })
  await client.connect(transport)
  return client as unknown as Client
}

async function newer(person: Person): Promise<Client> {
  const client = new modern.Client(INFO, {
    capabilities: { elicitation: { form: {} } },
    versionNegotiation: { mode: { pin: MODERN } },
  })
  client.setRequestHandler("elicitation/create", async ({ params }) => {
    person.read.push(params.message)
    return { action: person.press, ...(person.press === "accept" && { content: {} }) }
  })
  await client.connect(new modern.StreamableHTTPClientTransport(new URL(servers[0]!.url), headers()))
  return client as unknown as Client
}

async function previewed(): Promise<string> {
  const args = { appId: app, keywords: ["kettle", "teapot"] }
  const { body } = await service.call("/v1/actions", { key, method: "POST", body: { action: "add_keywords", args } })
  return body.confirmToken
}

async function terms(): Promise<string[]> {
  const rows = await sql<{ term: string }[]>`
    select term
    from tracked_term
    where app_id = ${app}
    order by term`
  return rows.map(({ term }) => term)
}

describe.each([
  ["revisions before 2026-07-28, with the answer sent to another process", older],
  ["revisions from 2026-07-28 on", newer],
])("%s", (_, connect) => {
  slow("an accepted change is written once, after the person was shown the change and its cost", async () => {
    const person: Person = { press: "accept", read: [] }
    const client = await connect(person)
    const confirmToken = await previewed()
    const { structuredContent, isError } = await client.callTool({
      name: "confirm_action",
      arguments: { confirmToken },
    })
    expect([isError, structuredContent?.status]).toEqual([undefined, "applied"])
    expect(person.read).toEqual([expect.stringMatching(/kettle.*\n(.*\n)*It costs \d+ credit/)])
    expect(await terms()).toEqual(["kettle", "tea", "teapot"])
    const repeated = await client.callTool({ name: "confirm_action", arguments: { confirmToken } })
    expect(JSON.parse(repeated.content[0]!.text!).error).toBe("confirm_token_invalid")
    // a caller without the right causes no question
    expect(person.read.length).toBe(1)
    await client.close()
  })

  slow.each(["decline", "cancel"] as const)(
    "after %s nothing is written or charged, and the token stays valid",
    async (press) => {
      const person: Person = { press, read: [] }
      const client = await connect(person)
      const confirmToken = await previewed()
      const refused = await client.callTool({ name: "confirm_action", arguments: { confirmToken } })
      const body = JSON.parse(refused.content[0]!.text!)
      expect([refused.isError, body.error]).toEqual([true, "write_limit_reached"])
      expect(body.reason).toContain("did not approve")
      expect(await terms()).toEqual(["tea"])
      expect((await service.call("/v1/account", { key })).body.credits.used).toBe(0)
      person.press = "accept"
      await client.callTool({ name: "confirm_action", arguments: { confirmToken } })
      expect([await terms(), person.read.length]).toEqual([["kettle", "tea", "teapot"], 2])
      await client.close()
    },
  )

  test("a target that changed after the preview causes confirm_token_mismatch without a question", async () => {
    const person: Person = { press: "accept", read: [] }
    const client = await connect(person)
    const [stale, first] = [await previewed(), await previewed()]
    await service.call("/v1/actions/confirm", { key, method: "POST", body: { confirmToken: first } })
    const { content } = await client.callTool({ name: "confirm_action", arguments: { confirmToken: stale } })
    expect([JSON.parse(content[0]!.text!).error, person.read]).toEqual(["confirm_token_mismatch", []])
    await client.close()
  })

  test("a tool that only reads sends no question", async () => {
    const person: Person = { press: "decline", read: [] }
    const client = await connect(person)
    const { structuredContent } = await client.callTool({ name: "list_apps", arguments: {} })
    expect([structuredContent.apps.length, person.read]).toEqual([1, []])
    await client.close()
  })
})

describe("a client that cannot ask", () => {
  test("a client that cannot ask confirms without a question, in both revisions", async () => {
    for (const send of [
      async (params: object) => await post(service, request("tools/call", params), { key }),
      async (params: object) => {
        const { message, headers } = anew("tools/call", params as Record<string, unknown>)
        return await post(service, message, { key, headers })
      },
    ]) {
      const { body, headers } = await send({ name: "confirm_action", arguments: { confirmToken: await previewed() } })
      expect(["applied", "unchanged"]).toContain(body.result.structuredContent.status)
      expect(headers.get("content-type")).toContain("application/json")
    }
  })

  test("a client that does not support forms gets no session, even if it supports URLs", async () => {
    for (const elicitation of [undefined, { url: {} }, null, "yes"]) {
      const capabilities = { ...(elicitation !== undefined && { elicitation }) }
      const { headers } = await post(service, request("initialize", { capabilities }), { key })
      expect(headers.get("mcp-session-id")).toBeNull()
    }
    const { headers } = await post(service, request("initialize", { capabilities: { elicitation: {} } }), { key })
    expect(headers.get("mcp-session-id")).toMatch(/^asks-[\w-]{22}$/)
  })

  test("a client with an invented session id confirms without a question if it accepts no stream", async () => {
    const headers = { "mcp-session-id": "asks-me", accept: "application/json" }
    const params = { name: "confirm_action", arguments: { confirmToken: await previewed() } }
    const { body } = await post(service, request("tools/call", params), { key, headers })
    expect(body.result.structuredContent.status).toBe("applied")
  })
})

describe("the answer to a question", () => {
  /** Sends the confirm of a client that can ask. Returns the question's id and the pending answer. */
  async function question(confirmToken: string) {
    const message = request("tools/call", { name: "confirm_action", arguments: { confirmToken } })
    const response = await fetch(servers[0]!.url, {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-session-id": "asks-test",
      },
      body: JSON.stringify(message),
    })
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream"])
    const events = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    const first = JSON.parse(/^data: (.*)$/m.exec((await events.read()).value!)![1]!)
    return { id: first.id as string, events, first }
  }

  slow("a missing answer counts as a refusal after the timeout, and the token stays valid", async () => {
    const impatient = serve(openService({ sql, toolPace: { patienceMs: 100 } }))
    servers.unshift(impatient)
    const confirmToken = await previewed()
    const { result } = await last((await question(confirmToken)).events)
    servers.shift()
    impatient.stop()
    expect(JSON.parse(result.content[0].text).reason).toContain("did not answer")
    const late = await service.call("/v1/actions/confirm", { key, method: "POST", body: { confirmToken } })
    expect(late.body.status).toBe("applied")
  })

  async function last(events: ReadableStreamDefaultReader<string>) {
    let all = ""
    for (let part = await events.read(); !part.done; part = await events.read()) all += part.value
    return JSON.parse(/^data: (.*)$/m.exec(all)![1]!)
  }

  slow("an answer with a key of another workspace, or to an unknown question, is ignored", async () => {
    const { id, events } = await question(await previewed())
    const stranger = await service.key(await service.workspace())
    const answerTo = (id: unknown, action: string) => ({ jsonrpc: "2.0", id, result: { action, content: {} } })
    expect((await post(service, answerTo(id, "accept"), { key: stranger })).status).toBe(202)
    expect((await post(service, answerTo("ask_nobody", "accept"), { key })).status).toBe(202)
    expect((await post(service, answerTo(7, "accept"), { key })).status).toBe(202)
    expect((await post(service, answerTo(id, "accept"))).status).toBe(401)
    expect(await terms()).toEqual(["tea"])
    expect((await post(service, answerTo(id, "decline"), { key })).status).toBe(202)
    // the first answer counts
    expect((await post(service, answerTo(id, "accept"), { key })).status).toBe(202)
    expect((await last(events)).result.isError).toBe(true)
    expect(await terms()).toEqual(["tea"])
  })

  slow("an error as the answer counts as a refusal", async () => {
    const { id, events, first } = await question(await previewed())
    expect(first).toMatchObject({ method: "elicitation/create", params: { requestedSchema: { type: "object" } } })
    await post(service, { jsonrpc: "2.0", id, error: { code: -1, message: "closed" } }, { key })
    expect((await last(events)).result.isError).toBe(true)
  })

  slow("an answer that arrives after the caller disconnected writes nothing", async () => {
    const { id, events } = await question(await previewed())
    await events.cancel()
    await post(service, { jsonrpc: "2.0", id, result: { action: "accept", content: {} } }, { key })
    await Bun.sleep(1_000)
    expect(await terms()).toEqual(["tea"])
  })

  test("an answer to the question of one call does not confirm a different call", async () => {
    const meta = { _meta: { ...ENVELOPE, [CAPABILITIES]: { elicitation: {} } } }
    const ask = async (confirmToken: string, more: object = {}) => {
      const params = { name: "confirm_action", arguments: { confirmToken }, ...meta, ...more }
      const { message, headers } = anew("tools/call", params)
      return (await post(service, message, { key, headers })).body.result
    }
    const [preview, other] = [await previewed(), await previewed()]
    const { inputRequests, requestState, resultType } = await ask(preview)
    expect([resultType, Object.keys(inputRequests)]).toEqual(["input_required", ["approval"]])
    const inputResponses = { approval: { action: "accept", content: {} } }
    for (const state of [{ requestState }, {}, { requestState: `${requestState}x` }])
      expect((await ask(other, { inputResponses, ...state })).resultType).toBe("input_required")
    expect(await terms()).toEqual(["tea"])
    expect((await ask(preview, { inputResponses, requestState })).structuredContent.status).toBe("applied")
  })
})

test("a test key, and a key without the right, are refused before a question is sent", async () => {
  const confirmToken = await previewed()
  const meta = { _meta: { ...ENVELOPE, [CAPABILITIES]: { elicitation: {} } } }
  const { message, headers } = anew("tools/call", { name: "confirm_action", arguments: { confirmToken }, ...meta })
  const testing = await service.key(workspace, { kind: "test" })
  const errorFor = async (key: string) =>
    JSON.parse((await post(service, message, { key, headers })).body.result.content[0].text).error
  expect(await errorFor(testing)).toBe("test_key_read_only")
  expect(await errorFor(await service.key(workspace))).toBe("confirm_token_invalid")
})
