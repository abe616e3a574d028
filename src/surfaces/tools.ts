import type { TrustedProxies } from "../access/addresses.ts"
import { Fault } from "../faults.ts"
import type { Invoke, Reply, Target } from "../invoke.ts"
import type { Log } from "../log.ts"
import type { Operation } from "../operation.ts"
import { bodyJson } from "./body.ts"
import { callerOf, logCall } from "./calls.ts"
import type { Incoming } from "./incoming.ts"
import { rpcResponse } from "./responses.ts"
import { isModern } from "./tools/eras.ts"
import { errorOf, parseError, RpcError } from "./tools/errors.ts"
import { createGuard, type Guard } from "./tools/guard.ts"
import { type Id, idOf, readMessage } from "./tools/message.ts"
import { knownMethod, outcomeOf } from "./tools/methods.ts"
import { answered, errorText, failed, type Result, resultText } from "./tools/results.ts"
import { createToolboxes, type Toolbox } from "./tools/toolbox.ts"

export interface ToolsParts {
  invoke: Invoke
  catalog: readonly Operation[]
  publicUrl: string
  trustedProxies: TrustedProxies
  now: () => Date
  log: Log
}

/**
 * Every operation as a tool for AI assistants: JSON-RPC 2.0 by POST, without sessions or streams, in the revisions of
 * tools/eras.ts. Messages are read first, but nothing is answered to anybody without a valid key.
 */
export function createTools(parts: ToolsParts): (incoming: Incoming) => Promise<Response> {
  const { invoke, publicUrl, trustedProxies, now, log } = parts
  const guard = createGuard(publicUrl)
  const toolboxes = createToolboxes(parts.catalog)
  return async (incoming) => {
    const started = performance.now()
    const turnedAway = atTheDoor(incoming, guard, publicUrl)
    const asked = turnedAway ?? (await read(incoming, toolboxes, publicUrl))
    const reply = turnedAway
      ? NOBODY
      : await invoke({
          ...callerOf(incoming, trustedProxies),
          surface: "tools",
          target: async () => (isTarget(asked.outcome) ? asked.outcome : null),
        })
    const { status, text, error } = sentFor(asked, reply, publicUrl)
    const protocol = !reply.fault && error && { status, code: String(error.code) }
    const line = { method: asked.method, path: "/mcp", ...protocol }
    logCall(log, incoming, reply, line, performance.now() - started)
    const shown = { requestId: incoming.requestId, credits: reply.credits, now: now() }
    return rpcResponse(status, text, shown, reply.fault ?? asked.fault)
  }
}

/** What a request comes to before it is known who sends it. */
interface Asked {
  id: Id
  modern: boolean
  /** For the log: undefined unless it is a method that is known. */
  method: string | undefined
  /** What to invoke, to answer or to refuse; null where nothing is answered. */
  outcome: Target | Result | RpcError | null
  /** Where the refusal is a fault's: its headers go along. */
  fault?: Fault
}

const UNREAD = { id: null, modern: false, method: undefined }
const NOBODY: Reply = { status: 0, answer: undefined, credits: null, cost: 0 }

function atTheDoor({ request, keyInUrl }: Incoming, guard: Guard, publicUrl: string): Asked | undefined {
  const outcome = guard(request)
  if (outcome) return { ...UNREAD, outcome }
  // GET would open a stream and DELETE end a session: there are none
  if (request.method === "POST") return undefined
  const fault = keyInUrl ? new Fault("key_in_url") : new Fault("method_not_allowed", {}, { allow: "POST" })
  return { ...UNREAD, outcome: errorOf(fault, publicUrl), fault }
}

async function read(
  { request, query, keyInUrl }: Incoming,
  toolboxes: (query: string) => Toolbox,
  publicUrl: string,
): Promise<Asked> {
  const asked: Asked = { ...UNREAD, outcome: null }
  try {
    const body = await readBody(request)
    asked.id = idOf(body)
    // a key in the URL is said by invoke, and before anything else that is wrong with the query
    const toolbox = toolboxes(keyInUrl ? "" : query)
    const message = readMessage(body)
    if (!message) return asked
    asked.method = knownMethod(message.method)
    if (message.notification) return asked
    asked.modern = isModern(message, request.headers)
    asked.outcome = outcomeOf(message, toolbox, asked.modern)
  } catch (error) {
    asked.outcome = refusalFor(error, publicUrl)
  }
  return asked
}

async function readBody(request: Request): Promise<unknown> {
  try {
    return await bodyJson(request)
  } catch (error) {
    throw error instanceof Fault && error.code === "invalid_arguments" ? parseError() : error
  }
}

function refusalFor(error: unknown, publicUrl: string): RpcError {
  if (error instanceof RpcError) return error
  if (error instanceof Fault) return errorOf(error, publicUrl)
  throw error
}

interface Sent {
  status: number
  text: string | null
  error?: RpcError
}

/** Who calls comes before what is wrong with the message; a call's own fault is its result, save for a missing key. */
function sentFor({ id, modern, outcome }: Asked, reply: Reply, publicUrl: string): Sent {
  const { fault } = reply
  const called = isTarget(outcome)
  if (fault && called && fault.status !== 401) return { status: 200, text: resultText(id, failed(reply), modern) }
  const error = fault ? errorOf(fault, publicUrl) : outcome
  if (error instanceof RpcError) return { status: error.status, text: errorText(id, error), error }
  if (!outcome) return { status: 202, text: null }
  return { status: 200, text: resultText(id, called ? answered(reply) : (outcome as Result), modern) }
}

function isTarget(outcome: Asked["outcome"]): outcome is Target {
  return outcome !== null && "operation" in outcome
}
