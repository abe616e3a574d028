import { parseTrustedProxies } from "./access/addresses.ts"
import { createChargeCall } from "./access/credits.ts"
import { createIdentify } from "./access/identify.ts"
import type { Limits } from "./access/limits/open.ts"
import { RESOURCE_METADATA_PATH } from "./access/oauth/metadata.ts"
import { resourceOf } from "./access/oauth/server.ts"
import type { OidcSettings } from "./access/oidc/provider.ts"
import { catalog as wholeCatalog } from "./catalog.ts"
import { documentsOf } from "./commands/process/documents.ts"
import { openRoutes } from "./commands/process/pages.ts"
import { createInvoke, type Invoke } from "./core/invoke.ts"
import type { Operation } from "./core/operation.ts"
import type { DiskWatch } from "./database/disk.ts"
import { createGate, type Gate, type GateOptions } from "./database/gate.ts"
import type { Sql } from "./database/types.ts"
import { ERRORS_POLICY } from "./docs/errors.ts"
import { faultPage } from "./docs/fault-page.ts"
import { offersOf } from "./http/assistants/offers.ts"
import { hungUp } from "./http/calls.ts"
import { createCors } from "./http/cors.ts"
import type { DoorParts } from "./http/door.ts"
import { createDoor } from "./http/door.ts"
import { createRest } from "./http/http.ts"
import { echoed, hasBody, type IncomingRequest, isRest, loggedIds, takeApart } from "./http/incoming.ts"
import { createKeyless } from "./http/keyless.ts"
import { afterBody } from "./http/leftover.ts"
import type { ReceiveMessage } from "./http/messages.ts"
import { createMeter, type InstanceFacts } from "./http/metrics.ts"
import { createReadiness, createShortfalls, type Shortfall } from "./http/readiness.ts"
import { keyedFault } from "./http/responses.ts"
import { createDispatch } from "./http/router.ts"
import type { Sandbox } from "./http/sandbox.ts"
import type { Answers } from "./http/tools/asking.ts"
import type { Offers } from "./http/tools/offers.ts"
import { createTools, type ToolsParts } from "./http/tools.ts"
import { NO_PLATFORMS, type Platforms } from "./lib/accounts/platform.ts"
import { inEncoding } from "./lib/compression.ts"
import { Fault } from "./lib/faults.ts"
import type { Measure } from "./lib/live-read.ts"
import type { Log } from "./lib/log.ts"
import { prepare } from "./lib/prepared.ts"
import { CallerGone } from "./lib/request-body.ts"
import { type AssistantChecks, NO_ASSISTANTS } from "./lib/writing/assistant-checks.ts"
import { NO_PICTURES, type ReadPictures } from "./lib/writing/picture-text.ts"
import { NO_WRITER, type Write } from "./lib/writing/written-text.ts"
import type { SafeFetch } from "./outbound/safe-fetch.ts"
import type { SettingsPorts } from "./pages/settings/sections.ts"
import type { PictureCache } from "./stores/pictures/picture-cache.ts"
import { trackedApps } from "./tracking/tracked-app.ts"
import { openQuestion, readAnswer, storeAnswer } from "./writes/answers.ts"

export interface AppParts {
  sql: Sql
  limits: Limits
  sandbox: Sandbox
  settings: AppSettings
  log: Log
  now: () => Date
  /** Requests addresses that callers supply. By default it reaches the public network only. */
  fetch?: SafeFetch
  /** Live reads. Omit to request nothing from the stores. */
  measure?: Measure
  /** Texts of a language model. Omit to disable it, including stored texts. */
  write?: Write
  /** OCR. Omit to disable it, including stored results. */
  pictures?: ReadPictures
  /** Handles messages that services send to /in/<account>. Omit to disable that route. */
  receive?: ReceiveMessage | undefined
  /** Icons and screenshots on pages. Omit to show none. */
  pictureCache?: PictureCache | undefined
  /** Access of the settings pages to the world outside the database. Omit to leave those settings out. */
  settingsPorts?: SettingsPorts | undefined
  /** AI assistants that can be queried. None by default. */
  assistants?: AssistantChecks
  /** Access to connected accounts of workspaces. Omit to disable writes to other platforms. */
  platforms?: Platforms
  /** Compares due reads with read capacity, for /readyz. Omit if nothing is measured. */
  budget?: () => Promise<readonly Shortfall[]>
  /** Replaces the catalog, for tests of features that no operation uses yet. */
  catalog?: readonly Operation[]
  /** Prompts and resources offered to assistants in addition to tools. Tests can replace them. */
  offers?: Offers
  /** Waiting times of the tool endpoint, for tests. */
  toolPace?: ToolsParts["pace"]
  /** Maximum time to hold a slot, and the time after which slots count as stuck, for tests. */
  slotLimits?: Pick<GateOptions, "maxHeldMs" | "stuckAfterMs">
  /** Watches whether the database has room to write. Omit if that cannot be measured. */
  disk?: DiskWatch | undefined
  /** Facts for /metrics. Omit to count nothing. */
  metered?: InstanceFacts | undefined
}

export interface AppSettings {
  publicUrl: string
  trustedProxies: readonly string[]
  /** Maximum sandbox calls per second from one address. */
  sandboxPerSecond: number
  requestDeadlineMs: number
  /** Maximum number of calls that wait for the database at the same time. */
  maxWaiting: number
  /** Connections to the database. Default: 10. */
  databaseConnections?: number
  /** How many days a person stays signed in without use. Default: 30. */
  sessionDays?: number
  /** The header in which a trusted proxy names the person at the browser. Undefined: no proxy signs people in. */
  authProxyHeader?: string | undefined
  /** The OpenID provider that signs people in. Null by default. */
  oidc?: OidcSettings | null
  /** Origins whose pages may call with a key. None by default. */
  corsOrigins?: readonly string[]
  /** Bearer token of /metrics. Without it the path does not exist. */
  metricsToken?: string | undefined
}

export interface App {
  /** Responds to a request. Never throws. `peer` is the address at the other end of the connection. */
  fetch(request: Request, peer: string | null): Response | Promise<Response>
  /** Runs an operation like a request does, for other surfaces and tests. */
  invoke: Invoke
  /** Prepares a stop: /readyz returns 503. Other requests still work, but each response closes its connection. */
  setReady(ready: boolean): void
  /** Serves /metrics, and nothing else, on a separate port. Null if nothing is counted. */
  metrics: ((request: Request, peer: string | null) => Promise<Response>) | null
}

export function createApp(parts: AppParts): App {
  const { sandbox, settings, now, catalog = wholeCatalog, budget = async () => [] } = parts
  const { publicUrl, corsOrigins = [], sessionDays = 30, authProxyHeader, oidc = null } = settings
  const trustedProxies = parseTrustedProxies(settings.trustedProxies)
  const gate = gateOf(parts)
  const shortfalls = createShortfalls(() => gate.run(budget, READY_MS), now)
  const meter = parts.metered ? createMeter({ ...parts, gate, shortfalls }, parts.metered) : null
  const { log, limits } = meter ?? parts
  const dispatch = createDispatch(catalog)
  let ready = true

  const invoke = invokeOf({ ...parts, log, limits }, gate)
  const rest = encoded(createRest({ invoke, dispatch, trustedProxies, now, log }))
  const tools = toolsOf({ ...parts, log }, { invoke, gate, trustedProxies })
  const keyless = createKeyless({
    sandbox,
    dispatch,
    documents: documentsOf(catalog, sandbox, publicUrl),
    faultPage: (fault) => ({ ...prepare(faultPage(fault)), type: "html", policy: ERRORS_POLICY }),
    routes: openRoutes({
      ...parts,
      gate,
      trustedProxies,
      publicUrl,
      sessionDays,
      authProxyHeader,
      oidc,
      log,
      invoke,
      catalog,
    }),
    unready: readinessOf(parts, gate, () => !ready),
    shortfalls,
    publicUrl,
    trustedProxies,
    sandboxPerSecond: settings.sandboxPerSecond,
    now,
  })
  const open = meter ? meter.open(keyless) : keyless

  const door = createDoor({ publicUrl, log, now })
  const failed = (incoming: IncomingRequest, error: unknown) => failure(incoming, error, { log, publicUrl, now })
  const cors = createCors(corsOrigins, now)
  const parting = (incoming: IncomingRequest, answer: Response): Response => {
    cors?.open(incoming, answer)
    return echoed(incoming.sentIds, ready ? answer : lastOfItsConnection(answer))
  }
  const surfaceOf = (path: string) => (path === "/mcp" ? tools : isRest(path) ? rest : open)
  const surfaced = (incoming: IncomingRequest) =>
    door(incoming) ?? cors?.preflight(incoming) ?? surfaceOf(incoming.path)(incoming)
  const fetch = (request: Request, peer: string | null): Response | Promise<Response> => {
    const incoming = takeApart(request, peer)
    const answer = caught(
      () => surfaced(incoming),
      (error) => failed(incoming, error),
    )
    const whole = hasBody(request) ? settled(request, answer) : answer
    return whole instanceof Promise ? whole.then((sent) => parting(incoming, sent)) : parting(incoming, whole)
  }
  const setReady = (value: boolean) => {
    ready = value
  }
  const metrics = meter && ((request: Request, peer: string | null) => meter.page(takeApart(request, peer)))
  return { fetch, invoke, setReady, metrics }
}

function invokeOf(parts: AppParts, gate: Gate): Invoke {
  const {
    sql,
    limits,
    sandbox,
    settings,
    now,
    log,
    disk,
    measure,
    write = NO_WRITER,
    pictures = NO_PICTURES,
    assistants = NO_ASSISTANTS,
    platforms = NO_PLATFORMS,
  } = parts
  return createInvoke({
    sql,
    apps: trackedApps,
    identify: createIdentify({ sql, resource: resourceOf(settings.publicUrl), now, log }),
    charge: createChargeCall(sql),
    limits,
    gate,
    deadlineMs: settings.requestDeadlineMs,
    sandboxAnswer: sandbox.answer,
    now,
    log,
    publicUrl: settings.publicUrl,
    disk,
    write,
    pictures,
    assistants,
    platforms,
    measure: measure ?? (async () => ({ state: "failed", why: "off" })),
  })
}

function toolsOf(
  { sql, catalog = wholeCatalog, offers = offersOf(catalog), toolPace: pace, settings, now, log }: AppParts,
  { invoke, gate, trustedProxies }: Pick<ToolsParts, "invoke" | "trustedProxies"> & { gate: Gate },
) {
  const { publicUrl, corsOrigins = [] } = settings
  const answers = answersOf(sql, gate)
  return encoded(
    createTools({
      invoke,
      catalog,
      offers,
      answers,
      publicUrl,
      resourceMetadata: `${publicUrl}${RESOURCE_METADATA_PATH}`,
      trustedProxies,
      corsOrigins,
      now,
      log,
      pace,
    }),
  )
}

/** Returns the store of people's answers. They are in the database, so that any process can receive them. */
function answersOf(sql: Sql, gate: Gate): Answers {
  return {
    open: (id, keyId) => gate.run(() => openQuestion(sql, id, keyId), ANSWERS_MS),
    put: (id, keyId, action) => gate.run(() => storeAnswer(sql, id, keyId, action), ANSWERS_MS),
    read: (id) => gate.run(() => readAnswer(sql, id), ANSWERS_MS),
  }
}

const ANSWERS_MS = 2_000

/** Compresses responses that are created for each request, in an encoding that the caller accepts. */
function encoded(surface: (incoming: IncomingRequest) => Promise<Response>) {
  return async (incoming: IncomingRequest): Promise<Response> =>
    await inEncoding(incoming.request.headers.get("accept-encoding"), await surface(incoming))
}

function caught(work: () => Response | Promise<Response>, failed: (error: unknown) => Response) {
  try {
    const answer = work()
    return answer instanceof Promise ? answer.catch(failed) : answer
  } catch (error) {
    return failed(error)
  }
}

async function settled(request: Request, answer: Response | Promise<Response>): Promise<Response> {
  return afterBody(request, await answer)
}

/** Closes the connection with the response. Closing an idle connection would fail a call that is already on its way. */
function lastOfItsConnection(answer: Response): Response {
  answer.headers.set("connection", "close")
  return answer
}

function gateOf({ sql, settings, log, slotLimits }: AppParts): Gate {
  const { requestDeadlineMs: deadlineMs, maxWaiting, databaseConnections = 10 } = settings
  // The embedded database runs one statement at a time, while a second one may wait for it. On a server, two
  // connections stay free to identify and charge calls.
  const slots = worksAtOnce(sql) ? Math.max(2, databaseConnections - 2) : 2
  return createGate({ ...slotLimits, slots, deadlineMs, maxWaiting, log })
}

/**
 * Returns whether the database runs several statements at once. The embedded database (embeddedOptions in options.ts)
 * does not.
 */
function worksAtOnce(sql: Sql): boolean {
  return sql.options?.host[0] !== "embedded"
}

function failure(incoming: IncomingRequest, error: unknown, { log, publicUrl, now }: DoorParts): Response {
  if (error instanceof CallerGone) return hungUp(log, incoming)
  const { requestId, sentIds } = incoming
  const { message, stack } = error instanceof Error ? error : new Error(String(error))
  log("error", "internal_error", { requestId, ...loggedIds(sentIds), reason: message, stack })
  const fault = new Fault("internal_error")
  return keyedFault(fault, fault.body(publicUrl), { requestId, credits: null, now: now() })
}

const READY_MS = 1_000

function readinessOf({ sql, disk }: AppParts, gate: Gate, isStopping: () => boolean) {
  const isReadOnly = () => gate.run(() => askReadOnly(sql), READY_MS)
  const isStuck = () => gate.isStuck
  return createReadiness({ isReadOnly, isDiskFull: () => disk?.isFull() ?? false, isStopping, isStuck })
}

/** Returns whether the database refuses writes. Also true for a standby. */
async function askReadOnly(sql: Sql): Promise<boolean> {
  const [row] = await sql<[{ readOnly: boolean }]>`
    select current_setting('transaction_read_only')::bool as "readOnly"`
  return row.readOnly
}
