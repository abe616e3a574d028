import { IOS_RIVALS, KETTLE, LEAF, TEA, TERMS } from "./readings.ts"
import { badValues, goodValues, type Operation, type Parameter, type Schema, typed, typical } from "./values.ts"

/**
 * One request, the same for both builds. `@{name}` is replaced by the id that the world of each build has for `name`.
 */
export interface Call {
  operation: string
  surface: "rest" | "sandbox" | "tool" | "write" | "page" | "document" | "command" | "import"
  /** Purpose of the call, for the report. */
  state: string
  method: string
  path: string
  /** Name of a key of the world. Null sends none. */
  key: string | null
  headers?: Record<string, string>
  body?: string
  /** The workspace or key whose totals of credits the answer shows. */
  account: string
  /** True for a page or a text. Only its status and headers are compared. */
  ignoresBody?: true
}

/** Keys that are refused, limited, or of another plan. */
const OTHER_KEYS = [
  "reader",
  "hive",
  "tracker",
  "limited",
  "budget",
  "elsewhere",
  "paused",
  "revoked",
  "leaked",
  "test",
  "free",
  "packed",
  "pro",
  "studio",
  "poor",
  "listed",
  "suspended",
  "deleted",
] as const
const NARROW_KEYS = ["reader", "limited", "test", "free", "pro", "revoked", "suspended"] as const
/** Workspaces that track an app of their own. */
const WITH_APP = new Set(["free", "packed", "pro", "studio", "poor"])

/** The parts of an OpenAPI document from which calls are derived. */
interface Document {
  paths: Record<string, Record<string, DocumentOperation>>
}

interface DocumentOperation {
  operationId: string
  parameters?: (Parameter | Reference)[]
  requestBody?: { content?: Record<string, { example?: unknown }> }
  responses?: Record<string, Record<string, unknown>>
}

interface Reference {
  $ref: string
}

export interface Tool {
  name: string
  inputSchema: { properties?: Record<string, Schema>; required?: string[] }
}

export function operationsIn(document: Document): Operation[] {
  const resolve = (part: Parameter | Reference) => ("$ref" in part ? (at(document, part.$ref) as Parameter) : part)
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      id: operation.operationId,
      method: method.toUpperCase(),
      path,
      parameters: (operation.parameters ?? []).map(resolve),
      hasBody: operation.requestBody !== undefined,
      example: operation.requestBody?.content?.["application/json"]?.example,
      hasTable: operation.responses?.["200"]?.["x-table"] !== undefined,
    })),
  )
}

function at(document: Document, reference: string): unknown {
  return reference
    .slice(2)
    .split("/")
    .reduce<unknown>((node, name) => (node as Record<string, unknown>)[name], document)
}

/** Derives all REST calls from an OpenAPI document. */
export function restCalls(operations: Operation[], now: Date): Call[] {
  return operations
    .filter(({ id }) => id !== "preview_action" && id !== "confirm_action")
    .flatMap((operation) => {
      const make = caller(operation, now)
      return [
        ...stateCalls(operation, make),
        ...parameterCalls(operation, make, now),
        ...OTHER_KEYS.map((key) => make({ state: `key ${key}`, key, ...(WITH_APP.has(key) && { app: `tea:${key}` }) })),
        make({ state: "no key", key: null }),
        ...edgeCalls(operation, make),
        ...sandboxCalls(operation, make, now),
      ]
    })
}

interface Choice {
  state: string
  key?: string | null
  app?: string
  values?: Record<string, string | undefined>
  query?: string
  method?: string
  headers?: Record<string, string>
  body?: string
  surface?: "rest" | "sandbox"
}

type MakeCall = (choice: Choice) => Call

function caller(operation: Operation, now: Date): MakeCall {
  return ({ state, key = "full", app = "tea", values = {}, query = "", method, headers, body, surface = "rest" }) => {
    const value = (parameter: Parameter) =>
      parameter.name in values ? values[parameter.name] : typical(operation, parameter, { app, now })
    const path = operation.path.replace(/\{(\w+)\}/g, (_, name) => {
      const parameter = operation.parameters.find((candidate) => candidate.name === name)!
      return encoded(value(parameter) ?? "")
    })
    const pairs = operation.parameters
      .filter((parameter) => parameter.in === "query" && (parameter.required || parameter.name in values))
      .flatMap((parameter) => {
        const chosen = value(parameter)
        return chosen === undefined ? [] : [`${parameter.name}=${encoded(chosen)}`]
      })
    const search = [...pairs, ...(query === "" ? [] : [query])].join("&")
    const isPost = (method ?? operation.method) === "POST"
    const sent = body ?? (isPost && operation.hasBody ? JSON.stringify(withoutPathFields(operation)) : undefined)
    return {
      operation: operation.id,
      surface,
      state,
      method: method ?? operation.method,
      path: `/v1${surface === "sandbox" ? "/sandbox" : ""}${path}${search === "" ? "" : `?${search}`}`,
      key: surface === "sandbox" ? null : key,
      ...(headers && { headers }),
      ...(sent !== undefined && { body: sent }),
      account: accountOf(key),
    }
  }
}

function withoutPathFields({ example, path }: Operation): unknown {
  const fields = Object.entries((example as Record<string, unknown>) ?? {})
  return Object.fromEntries(fields.filter(([name]) => !path.includes(`{${name}}`)))
}

/** Returns the workspace whose credits a key's answers show. A key with a budget shows its own. */
export function accountOf(key: string | null): string {
  const isOfMain = ["full", "reader", "hive", "tracker", "limited", "test"].includes(key ?? "")
  return isOfMain ? "main" : (key ?? "none")
}

/** Encodes a value except its aliases. */
function encoded(value: string): string {
  return value
    .split(/(@\{[^}]+\})/)
    .map((part) => (part.startsWith("@{") ? part : encodeURIComponent(part)))
    .join("")
}

/**
 * Calls for each state (not measured; measured and absent; measured and present), by app, storefront, store, keyword
 * and id.
 */
function* stateCalls(operation: Operation, make: MakeCall): Generator<Call> {
  const has = (name: string) => operation.parameters.some((parameter) => parameter.name === name)
  const storefront = has("country") ? "country" : has("cc") ? "cc" : null
  const storefronts = storefront === null ? [undefined] : [undefined, "us", "gb", "de", "fr"]
  const platforms = has("platform") || has("store") ? [undefined, "android"] : [undefined]
  const places = storefronts.flatMap((country) =>
    platforms.map((platform) => ({
      ...(storefront && country && { [storefront]: country }),
      ...(platform && { [has("platform") ? "platform" : "store"]: platform }),
    })),
  )
  const words = Object.values(TERMS).map((terms) => terms[0]!)
  const stateOf = (subject: string, place: object) => [subject, ...Object.values(place)].join(" ")
  if (operation.path.startsWith("/apps/{appId}")) {
    for (const app of ["tea", "kettle", "leaf", "unread"])
      for (const place of app === "tea" ? places : places.slice(0, 4))
        yield make({ state: stateOf(app, place), app, values: place })
    for (const app of ["demo:0", "demo:1", "demo:4"]) yield make({ state: app, key: "studio", app })
    yield make({ state: "an app of another workspace", app: "tea:pro" })
    yield make({ state: "unknown app", values: { appId: "app_nothere00000" } })
    yield make({ state: "malformed app", values: { appId: "%" } })
  } else if (has("term") || has("seed")) {
    const name = has("term") ? "term" : "seed"
    for (const term of words)
      for (const place of places) yield make({ state: stateOf(term, place), values: { [name]: term, ...place } })
  } else if (has("id") || has("appId")) {
    const name = has("id") ? "id" : "appId"
    const ids =
      operation.id === "fetch"
        ? ["app:@{tea}", "kw:@{tea}:green tea", `rival:@{tea}:${IOS_RIVALS[2]}`, "kw:@{tea}:nothing", "app:app_nothere"]
        : [TEA.id, IOS_RIVALS[3]!, KETTLE.id, "699999999", "888888888", TEA.pkg, LEAF.pkg]
    for (const id of ids)
      for (const place of places.slice(0, 6))
        yield make({ state: stateOf(id, place), values: { [name]: id, ...place } })
  } else for (const place of places) yield make({ state: stateOf("base", place), values: place })
  const rival = operation.parameters.find(({ name }) => name === "rivalId")
  if (rival)
    for (const rivalId of [IOS_RIVALS[0]!, KETTLE.id, "888888888", "com.rival.app1", `ios:${IOS_RIVALS[2]}`])
      for (const place of places.slice(0, 4))
        yield make({ state: stateOf(`rival ${rivalId}`, place), values: { rivalId, ...place } })
}

/** Calls with valid and invalid values of every parameter. */
function* parameterCalls(operation: Operation, make: MakeCall, now: Date): Generator<Call> {
  for (const parameter of operation.parameters) {
    const { name } = parameter
    if (parameter.in === "header") continue
    for (const value of goodValues(operation, parameter, now))
      yield make({ state: `${name}=${value}`, values: { [name]: value } })
    if (parameter.in === "path" && name === "appId") continue
    for (const value of badValues(parameter)) yield make({ state: `bad ${name}`, values: { [name]: value } })
    if (parameter.in !== "query") continue
    if (parameter.required) yield make({ state: `without ${name}`, values: { [name]: undefined } })
    yield make({ state: `${name} twice`, values: { [name]: undefined }, query: `${name}=us&${name}=gb` })
  }
  if (!operation.hasBody) return
  const fields = Object.keys(withoutPathFields(operation) as object)
  for (const body of ["", "{", "[]", "null", '{"unknown":1}', `{"${fields[0]}":7}`, `{"${fields[0]}":""}`, "{}"])
    yield make({ state: "bad body", body })
  for (const field of fields.slice(0, 6)) {
    const { [field]: _, ...rest } = withoutPathFields(operation) as Record<string, unknown>
    yield make({ state: `body without ${field}`, body: JSON.stringify(rest) })
  }
  yield make({ state: "body of another type", headers: { "content-type": "text/plain" } })
}

/** Calls with unknown parameters, other methods, tables, conditional requests and keys in unusual places. */
function* edgeCalls({ method, hasTable, path }: Operation, make: MakeCall): Generator<Call> {
  yield make({ state: "unknown parameter", query: "nothing=1" })
  yield make({ state: "broken encoding", query: "a=%zz" })
  yield make({ state: "key in the URL", query: "api_key=@{key:full}" })
  yield make({
    state: "wrong key",
    headers: { authorization: "Bearer svc_live_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" },
    key: null,
  })
  yield make({ state: "x-api-key", headers: { "x-api-key": "@{key:full}" }, key: null })
  yield make({ state: "two keys", headers: { "x-api-key": "@{key:reader}" } })
  for (const other of ["DELETE", method === "GET" ? "POST" : "GET"]) yield make({ state: other, method: other })
  if (method === "GET") yield make({ state: "conditional", headers: { "if-none-match": '"nothing"' } })
  if (hasTable)
    for (const accept of ["text/csv", "application/jsonl"]) yield make({ state: accept, headers: { accept } })
  else yield make({ state: "accept csv", headers: { accept: "text/csv" } })
  if (path.includes("{appId}")) yield make({ state: "trailing slash", headers: { accept: "*/*" }, query: "/" })
}

function* sandboxCalls(operation: Operation, make: MakeCall, now: Date): Generator<Call> {
  if (operation.method !== "GET") return
  const values = operation.path.startsWith("/apps/{appId}") ? { appId: "app_lumenjournal" } : {}
  yield make({ state: "sandbox", surface: "sandbox", values })
  yield make({ state: "sandbox, other id", surface: "sandbox", values: { appId: "app_nothere00000" } })
  yield make({ state: "sandbox, unknown parameter", surface: "sandbox", values, query: "nothing=1" })
  const [optional] = operation.parameters.filter(({ required, in: place }) => !required && place === "query")
  if (!optional) return
  const [good] = goodValues(operation, optional, now)
  yield make({ state: `sandbox ${optional.name}`, surface: "sandbox", values: { ...values, [optional.name]: good } })
  yield make({ state: `sandbox bad ${optional.name}`, surface: "sandbox", values: { ...values, [optional.name]: "" } })
}

/** Calls of tools, from the list that a build gives to the full key. */
export function toolCalls(tools: Tool[], now: Date): Call[] {
  return tools
    .filter(({ name }) => !/^(preview|confirm)_action$/.test(name))
    .flatMap((tool) => [...callsOfTool(tool, now)])
}

function* callsOfTool({ name: tool, inputSchema }: Tool, now: Date): Generator<Call> {
  const properties = Object.entries<Schema>(inputSchema.properties ?? {}).map(([name, schema]) => ({ name, schema }))
  const required = new Set<string>(inputSchema.required ?? [])
  const isOfApp = properties.some(({ name }) => name === "appId") && !tool.startsWith("hive_")
  const path = isOfApp ? "/apps/{appId}" : "/"
  const base = (app: string) =>
    Object.fromEntries(
      properties
        .filter(({ name }) => required.has(name))
        .map(({ name, schema }) => {
          const value = typical({ id: tool, path } as Operation, { name, schema } as Parameter, { app, now })
          return [name, typed(value, schema)]
        }),
    )
  const call = (state: string, args: unknown, key: string | null = "full") => toolCall(tool, state, args, key)
  for (const app of isOfApp ? ["tea", "kettle", "leaf", "unread", "tea:pro"] : ["tea"]) yield call(app, base(app))
  for (const { name, schema } of properties) {
    if (name === "appId" && isOfApp) continue
    const values = goodValues({ id: tool }, { name, schema } as Parameter, now)
    for (const value of values.slice(0, 3))
      yield call(`${name}=${value}`, { ...base("tea"), [name]: typed(value, schema) })
    yield call(`bad ${name}`, { ...base("tea"), [name]: schema.type === "string" ? 7 : "bogus" })
    const { [name]: _, ...rest } = base("tea")
    if (required.has(name)) yield call(`without ${name}`, rest)
  }
  yield call("unknown argument", { ...base("tea"), nothing: 1 })
  for (const key of NARROW_KEYS) yield call(`key ${key}`, base(WITH_APP.has(key) ? `tea:${key}` : "tea"), key)
  if (isOfApp) yield call("demo", base("demo:4"), "studio")
}

export function toolCall(tool: string, state: string, args: unknown, key: string | null): Call {
  return message(tool, state, "tools/call", { name: tool, arguments: args }, key)
}

export function message(operation: string, state: string, method: string, params: unknown, key: string | null): Call {
  return {
    operation,
    surface: "tool",
    state,
    method: "POST",
    path: "/mcp",
    key,
    headers: {
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      "mcp-protocol-version": "2025-11-25",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    account: accountOf(key),
  }
}

/** Calls outside operations: documents, health, protocol messages of the tool server, pages without a session. */
export function otherCalls(): Call[] {
  const get = (path: string, options: Partial<Call> = {}): Call => ({
    operation: path,
    surface: "document",
    state: options.method ?? "GET",
    method: "GET",
    path,
    key: null,
    account: "none",
    ...options,
  })
  const documents = [
    "/v1/openapi.json",
    "/healthz",
    "/readyz",
    "/.well-known/oauth-protected-resource",
    "/.well-known/oauth-authorization-server",
    "/v1",
    "/v1/nothing",
    "/v1/sandbox",
    "/v1/sandbox/nothing",
    "/nothing",
  ]
  const pages = [
    "/",
    "/docs",
    "/docs/errors",
    "/docs/operate",
    "/docs/operate/import",
    "/llms.txt",
    "/app",
    "/sign-in",
    "/app/keywords",
    "/share/nothing",
    "/approve",
    "/oauth/authorize",
    "/robots.txt",
    "/favicon.ico",
  ]
  return [
    ...documents.flatMap((path) => [
      get(path),
      get(path, { method: "HEAD" }),
      get(path, { method: "POST", body: "{}" }),
    ]),
    ...pages.flatMap((path) => [
      get(path, { surface: "page", ignoresBody: true }),
      get(path, { surface: "page", ignoresBody: true, method: "HEAD" }),
    ]),
    ...["full", "reader", "limited", "test", "free", null].map((key) =>
      message("tools/list", `key ${key}`, "tools/list", {}, key),
    ),
    ...["prompts/list", "resources/list", "resources/templates/list", "ping", "nothing"].map((method) =>
      message(method, "message", method, {}, "full"),
    ),
    message(
      "initialize",
      "message",
      "initialize",
      { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "replay", version: "1" } },
      "full",
    ),
  ]
}
