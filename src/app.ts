import { parseTrustedProxies } from "./access/addresses.ts"
import { createChargeCall } from "./access/credits.ts"
import { createIdentify } from "./access/identify.ts"
import type { Limits } from "./access/limits/open.ts"
import { RESOURCE_METADATA_PATH } from "./access/oauth/metadata.ts"
import { resourceOf } from "./access/oauth/server.ts"
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
import { trackedApps } from "./tracking/tracked-app.ts"
import { openQuestion, readAnswer, storeAnswer } from "./writes/answers.ts"

export interface AppParts {
  sql: Sql
  limits: Limits
  sandbox: Sandbox
  settings: AppSettings
  log: Log
  now: () => Date
  /** Asks addresses that strangers name; without it those on the public network. */
  fetch?: SafeFetch
  /** Live reads; without it no store is asked. */
  measure?: Measure
  /** Texts of a model; without it there is no writer, and what is stored is not found. */
  write?: Write
  /** Words in pictures; without it none is read, and what is kept is not found. */
  pictures?: ReadPictures
  /** Takes what services send to /in/<account>; left out where none can. */
  receive?: ReceiveMessage | undefined
  /** Assistants that can be asked; none when left out. */
  assistants?: AssistantChecks
  /** Ways to accounts of workspaces; without them nothing is written to other platforms. */
  platforms?: Platforms
  /** What is due against what can be read, for /readyz; left out where nothing is measured. */
  budget?: () => Promise<readonly Shortfall[]>
  /** Another catalogue, for tests of what no built operation does yet. */
  catalog?: readonly Operation[]
  /** What assistants are offered besides tools; also for tests. */
  offers?: Offers
  /** How long what waits at the tool endpoint waits, in tests. */
  toolPace?: ToolsParts["pace"]
  /** How long a slot may be held and when slots count as stuck, in tests. */
  slotLimits?: Pick<GateOptions, "maxHeldMs" | "stuckAfterMs">
  /** Whether the database has room to write; left out where nobody can tell. */
  disk?: DiskWatch | undefined
  /** What /metrics tells; without it nothing is counted. */
  metered?: InstanceFacts | undefined
}

export interface AppSettings {
  publicUrl: string
  trustedProxies: readonly string[]
  /** Sandbox calls a second from one address. */
  sandboxPerSecond: number
  requestDeadlineMs: number
  /** Calls that may wait for the database at once. */
  maxWaiting: number
  /** Connections to the database; 10 when left out. */
  databaseConnections?: number
  /** Origins whose pages may call with a key; none when left out. */
  corsOrigins?: readonly string[]
  /** What /metrics asks for; without it the path is not there. */
  metricsToken?: string | undefined
}

export interface App {
  /** Answers a request; never throws. `peer` is the address of the other end of the connection. */
  fetch(request: Request, peer: string | null): Response | Promise<Response>
  /** The same path for other surfaces and tests. */
  invoke: Invoke
  /** Before a stop: /readyz answers 503, everything else goes on, but each answer ends its connection. */
  setReady(ready: boolean): void
  /** /metrics for a port of its own, where nothing else is answered; null where nothing is counted. */
  metrics: ((request: Request, peer: string | null) => Promise<Response>) | null
}

export function createApp(parts: AppParts): App {
  const { sandbox, settings, now, catalog = wholeCatalog, budget = async () => [] } = parts
  const { publicUrl, corsOrigins = [] } = settings
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
    routes: openRoutes({ ...parts, gate, trustedProxies, publicUrl, log, invoke, catalog }),
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

/** Answers of people, which any process on this database may take. */
function answersOf(sql: Sql, gate: Gate): Answers {
  return {
    open: (id, keyId) => gate.run(() => openQuestion(sql, id, keyId), ANSWERS_MS),
    put: (id, keyId, action) => gate.run(() => storeAnswer(sql, id, keyId, action), ANSWERS_MS),
    read: (id) => gate.run(() => readAnswer(sql, id), ANSWERS_MS),
  }
}

const ANSWERS_MS = 2_000

/** What is answered anew each time, in the encoding that its caller takes. */
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

/** Before a stop connections end with an answer: one closed while idle fails the call that is on its way through it. */
function lastOfItsConnection(answer: Response): Response {
  answer.headers.set("connection", "close")
  return answer
}

function gateOf({ sql, settings, log, slotLimits }: AppParts): Gate {
  const { requestDeadlineMs: deadlineMs, maxWaiting, databaseConnections = 10 } = settings
  // the embedded database works on one statement at a time, and one more may be on its way to it; on a server two connections
  // are left for identifying and charging calls
  const slots = worksAtOnce(sql) ? Math.max(2, databaseConnections - 2) : 2
  return createGate({ ...slotLimits, slots, deadlineMs, maxWaiting, log })
}

/** Whether the database runs several statements at once; the embedded one, named in embeddedOptions (options.ts), does not. */
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

/** True of a standby too. */
async function askReadOnly(sql: Sql): Promise<boolean> {
  const [row] = await sql<[{ readOnly: boolean }]>`
    select current_setting('transaction_read_only')::bool as "readOnly"`
  return row.readOnly
}
