import { expect } from "bun:test"
import { randomBytes } from "node:crypto"
import * as v from "valibot"
import { createKey } from "../src/access/key-register.ts"
import { memoryLimiter } from "../src/access/limits/limiter.ts"
import { openLimits } from "../src/access/limits/open.ts"
import { createWorkspace } from "../src/access/workspaces.ts"
import { type App, type AppParts, type AppSettings, createApp } from "../src/app.ts"
import { catalog as wholeCatalog } from "../src/catalog.ts"
import { FaultShape } from "../src/core/fault-shapes.ts"
import { answerSchema, type Operation } from "../src/core/operation.ts"
import { readTree } from "../src/database/assets.ts"
import type { Sql } from "../src/database/types.ts"
import type { ReceiveMessage } from "../src/http/messages.ts"
import { prepareSandbox } from "../src/http/sandbox.ts"
import type { Offers } from "../src/http/tools/offers.ts"
import type { Platforms } from "../src/lib/accounts/platform.ts"
import type { Measure } from "../src/lib/live-read.ts"
import { createLog } from "../src/lib/log.ts"
import { once } from "../src/lib/prepared.ts"
import type { Schema } from "../src/lib/schema.ts"
import type { AssistantChecks } from "../src/lib/writing/assistant-checks.ts"
import type { ReadPictures } from "../src/lib/writing/picture-text.ts"
import type { Write } from "../src/lib/writing/written-text.ts"
import type { SafeFetch } from "../src/outbound/safe-fetch.ts"
import { checkedAgainstSchema } from "./checked-answer.ts"
import { LONG } from "./long.ts"

export const PUBLIC_URL = "http://127.0.0.1:8787"

export interface Service {
  sql: Sql
  app: App
  /** All log lines so far. */
  logged: string[]
  /** Calls a path by REST. Checks every response: credit headers, content type and the served document. */
  call(path: string, options?: CallOptions): Promise<Answer>
  /**
   * Calls a tool as an assistant does. Checks every response: headers, and the schema of the operation's output or of
   * the fault.
   */
  tool(name: string, args?: object, options?: { key?: string }): Promise<ToolAnswer>
  /** Creates a workspace with a unique name. */
  workspace(options?: WorkspaceOptions): Promise<number>
  /** Creates a key and returns its secret. */
  key(workspaceId: number, options?: Partial<Parameters<typeof createKey>[1]>): Promise<string>
}

export interface CallOptions {
  key?: string
  method?: string
  headers?: Record<string, string>
  body?: unknown
  /** Peer address. */
  from?: string
}

export interface Answer {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of every operation
  body: any
  text: string
  headers: Headers
  credits: { used: number; limit: number; remaining: number; reset: string }
}

export interface ToolAnswer {
  /** Status of the HTTP response. It is 200 for a fault that the model can read. */
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests read results of every operation
  result: any
  /** The answer or the body of the fault. For a protocol error, its data. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of every operation
  body: any
  isError: boolean
  headers: Headers
  credits: Answer["credits"]
}

type WorkspaceOptions = Partial<Parameters<typeof createWorkspace>[1]>

interface ServiceOptions {
  sql: Sql
  settings?: Partial<AppSettings>
  catalog?: readonly Operation[]
  fixtures?: ReadonlyMap<string, string>
  now?: () => Date
  /** Fetches the metadata documents of clients. */
  fetch?: SafeFetch
  /** Live reads. None by default. */
  measure?: Measure
  /** Texts of a model. None by default. */
  write?: Write
  /** Assistants for checks. None by default. */
  assistants?: AssistantChecks
  /** OCR. None by default. */
  pictures?: ReadPictures
  /** Icons and screenshots on pages. None by default. */
  pictureCache?: AppParts["pictureCache"]
  /** Access of the settings pages to the outside. By default those settings are left out. */
  settingsPorts?: AppParts["settingsPorts"]
  /** Handles messages of services. By default /in/ does not exist. */
  receive?: ReceiveMessage
  /** Access to accounts. None by default. */
  platforms?: Platforms
  offers?: Offers
  toolPace?: { progressEveryMs?: number; patienceMs?: number }
  slotLimits?: AppParts["slotLimits"]
}

/** Opens the whole service over a database, without a socket. */
export function openService(options: ServiceOptions): Service {
  const {
    sql,
    settings,
    catalog,
    fixtures,
    fetch,
    measure,
    write,
    pictures,
    receive,
    settingsPorts,
    pictureCache,
    platforms,
    assistants,
    offers,
    toolPace,
    slotLimits,
  } = options
  const { now = () => new Date() } = options
  const publicUrl = settings?.publicUrl ?? PUBLIC_URL
  const usual = publicUrl === PUBLIC_URL && !catalog && !fixtures
  const logged: string[] = []
  const log = createLog((line) => void logged.push(line), "debug")
  const app = createApp({
    sql,
    limits: { ...openLimits({ sql, log, now }), rate: memoryLimiter(now) },
    sandbox: usual ? builtSandbox() : prepareSandbox(catalog ?? wholeCatalog, fixtures ?? samples(), publicUrl),
    settings: { ...SETTINGS, ...settings },
    log,
    now,
    catalog,
    ...(offers && { offers }),
    ...(toolPace && { toolPace }),
    ...(slotLimits && { slotLimits }),
    ...(fetch && { fetch }),
    ...(measure && { measure }),
    ...(write && { write }),
    ...(pictures && { pictures }),
    ...(receive && { receive }),
    ...(settingsPorts && { settingsPorts }),
    ...(pictureCache && { pictureCache }),
    ...(assistants && { assistants }),
    ...(platforms && { platforms }),
  })
  const names = new Map<number, string>()
  return {
    sql,
    app,
    logged,
    call: (path, options) => call(app, path, options, catalog === undefined),
    tool: (name, args, options) => tool(app, catalog ?? wholeCatalog, { name, arguments: args }, options),
    async workspace(options) {
      const { id, name } = await createWorkspace(sql, { name: unique("workspace"), plan: "pro", ...FAST, ...options })
      names.set(id, name)
      return id
    },
    async key(workspaceId, options) {
      const keyOptions = {
        workspace: names.get(workspaceId) as string,
        kind: "live" as const,
        name: "test",
        ...options,
      }
      return (await createKey(sql, keyOptions, randomBytes)).secret
    },
  }
}

const samples = once(() => readTree("fixtures/sandbox", ".json"))
/** The sandbox that most tests share; tests open the service a thousand times. */
const builtSandbox = once(() => prepareSandbox(wholeCatalog, samples(), PUBLIC_URL))

const SETTINGS: AppSettings = {
  publicUrl: PUBLIC_URL,
  trustedProxies: [],
  sandboxPerSecond: 100_000,
  // no timeout, not even on a busy machine
  requestDeadlineMs: 20_000,
  maxWaiting: 500,
}

/** Prevents rate limits in tests that are not about rate limits. */
const FAST = { overrides: { ratePerSecond: 100_000 } }

/**
 * Compiling the document's schemas takes a tenth of the time of these tests. So `run test` compares answers with the
 * operations' own schemas, and only a long run or a run on a server compares them with the document.
 */
const comparesDocument = LONG || process.env.DATABASE_URL !== undefined

/**
 * Loaded on first use, because loading takes half a second of processor time, and processes that are started to be
 * killed must end earlier.
 */
const servedDocument = once(() => import("./document.ts"))

let count = 0
const unique = (what: string) => `${what} ${process.pid} ${++count}`

async function call(app: App, path: string, options: CallOptions = {}, documented: boolean): Promise<Answer> {
  const headers = new Headers(options.headers)
  if (options.key) headers.set("authorization", `Bearer ${options.key}`)
  const method = options.method ?? "GET"
  const init: RequestInit = { method, headers }
  if (options.body !== undefined) {
    if (!headers.has("content-type")) headers.set("content-type", "application/json")
    init.body = typeof options.body === "string" ? options.body : JSON.stringify(options.body)
  }
  const response = await app.fetch(new Request(`${PUBLIC_URL}${path}`, init), options.from ?? "127.0.0.1")
  const text = await response.text()
  const credits = checkedHeaders(response)
  const json = response.headers.get("content-type") === "application/json; charset=utf-8" && text !== ""
  const body = json ? JSON.parse(text) : undefined
  if (documented && body !== undefined) {
    if (comparesDocument) (await servedDocument()).checkedAgainstDocument(method, path, response.status, body)
    else checkedAgainstSchema(method, path, response.status, body)
  }
  return { status: response.status, body, text, headers: response.headers, credits }
}

async function tool(
  app: App,
  catalog: readonly Operation[],
  params: { name: string; arguments: object | undefined },
  { key }: { key?: string } = {},
): Promise<ToolAnswer> {
  const headers = new Headers({ "content-type": "application/json", accept: "application/json, text/event-stream" })
  headers.set("mcp-protocol-version", "2025-11-25")
  if (key) headers.set("authorization", `Bearer ${key}`)
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params })
  const response = await app.fetch(new Request(`${PUBLIC_URL}/mcp`, { method: "POST", headers, body }), "127.0.0.1")
  const credits = checkedHeaders(response)
  expect(response.headers.get("cache-control")).toBe("private, no-store")
  const { result, error, ...envelope }: ToolMessage = await response.json()
  expect(envelope).toEqual({ jsonrpc: "2.0", id: 1 })
  return {
    status: response.status,
    result,
    body: result ? answerOf(result, schemaOf(catalog, params)) : error.data,
    isError: result === undefined || result.isError === true,
    headers: response.headers,
    credits,
  }
}

// biome-ignore lint/suspicious/noExplicitAny: tests read results of every operation
type ToolMessage = Record<"result" | "error", any>

/** Returns the schema of a tool's answer, with optional fields only if the call selected fields. */
function schemaOf(
  catalog: readonly Operation[],
  { name, arguments: args }: { name: string; arguments?: object | undefined },
): Schema {
  const operation = catalog.find(({ id }) => id === name) as Operation
  return args && "fields" in args ? answerSchema(operation) : operation.output
}

/** Returns the answer. The text must equal the structured content or a fault's body, and match its schema. */
function answerOf({ content, structuredContent, isError }: ToolMessage["result"], output: Schema): unknown {
  const body = JSON.parse(content[0].text)
  expect(structuredContent).toEqual(isError ? undefined : body)
  return v.parse(isError ? FaultShape : output, body)
}

/** Checks the headers that every response has. Returns the credits in them. */
export function checkedHeaders(response: Response): Answer["credits"] {
  expect(response.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/)
  expect(response.headers.get("x-content-type-options")).toBe("nosniff")
  if (response.status === 429 || response.status === 503)
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0)
  return creditsOf(response)
}

function creditsOf({ headers }: Response): Answer["credits"] {
  const number = (name: string) => {
    const value = headers.get(`x-credits-${name}`)
    expect(value).toMatch(/^\d+$/)
    return Number(value)
  }
  const reset = headers.get("x-credits-reset") ?? ""
  expect(reset).toMatch(/^\d{4}-\d\d-01T00:00:00\.000Z$/)
  return { used: number("used"), limit: number("limit"), remaining: number("remaining"), reset }
}
