import type { TrustedProxies } from "../access/addresses.ts"
import type { Invoke, Reply, Target } from "../core/invoke.ts"
import { deprecationIn, type Operation } from "../core/operation.ts"
import type { Log } from "../lib/log.ts"
import { callerOf, hungUp, logCall } from "./calls.ts"
import type { IncomingRequest } from "./incoming.ts"
import { rpcResponse, rpcStream } from "./responses.ts"
import type { Answers } from "./tools/asking.ts"
import { type Exchange, type ExchangeEnd, exchange, type Pace } from "./tools/exchange.ts"
import { createGuard } from "./tools/guard.ts"
import type { Offers } from "./tools/offers.ts"
import { sentFor, type ToolReply } from "./tools/sent.ts"
import { readToolRequest, refuseUnread, type ToolRequest } from "./tools/tool-request.ts"
import { createToolboxes } from "./tools/toolbox.ts"

export interface ToolsParts {
  invoke: Invoke
  catalog: readonly Operation[]
  offers: Offers
  answers: Answers
  publicUrl: string
  /** Address of the metadata that clients need to sign in. */
  resourceMetadata: string
  trustedProxies: TrustedProxies
  /** Other origins whose pages may call. */
  corsOrigins: readonly string[]
  now: () => Date
  log: Log
  /** Waiting times. Only tests change them. */
  pace?: Partial<Pace> | undefined
}

/**
 * JSON-RPC 2.0 by POST, in the revisions of tools/eras.ts. The server stores no client state between requests and
 * requires a valid key for every response, which is one message or a stream.
 */
export function createTools(parts: ToolsParts): (incoming: IncomingRequest) => Promise<Response> {
  const { publicUrl } = parts
  const guard = createGuard(publicUrl, parts.corsOrigins)
  const reading = { toolboxes: createToolboxes(parts.catalog), offers: parts.offers, publicUrl }
  return async (incoming) => {
    const started = performance.now()
    const refused = refuseUnread(incoming, guard, publicUrl)
    if (refused)
      return (await end(parts, { incoming, toolRequest: refused, started }, { reply: NOBODY, askedMs: 0 })).response()
    const toolRequest = await readToolRequest(incoming, reading)
    const call = { incoming, toolRequest, started }
    const messages = messagesOf(parts, call)
    const first = await messages.next()
    return first.done ? (await end(parts, call, first.value)).response() : stream(parts, call, first.value, messages)
  }
}

const NOBODY: Reply = { status: 0, answer: undefined, credits: null, cost: 0 }

const PACE: Pace = { progressEveryMs: 1_000, patienceMs: 5 * 60_000 }

interface ToolCall {
  incoming: IncomingRequest
  toolRequest: ToolRequest
  started: number
}

/** Yields the messages before the answer and returns the result of the call. */
async function* messagesOf(parts: ToolsParts, { incoming, toolRequest }: ToolCall): Exchange {
  const { answers, publicUrl, trustedProxies } = parts
  const caller = callerOf(incoming, trustedProxies)
  const invoke = (target: Target | null) => parts.invoke({ ...caller, surface: "tools", target: async () => target })
  const { outcome } = toolRequest
  if (outcome && "calling" in outcome) {
    return yield* exchange(outcome, { invoke, answers, docsBase: publicUrl, ...PACE, ...parts.pace })
  }
  const reply = await invoke(null)
  if (reply.caller && outcome && "answerTo" in outcome && typeof outcome.answerTo === "string")
    await answers.put(outcome.answerTo, reply.caller.keyId, outcome.action ?? "cancel")
  return { reply, askedMs: 0 }
}

/** Logs a call and returns its last message. */
async function end(
  { log, publicUrl, resourceMetadata, now }: ToolsParts,
  { incoming, toolRequest, started }: ToolCall,
  ended: ExchangeEnd,
) {
  const { reply, askedMs } = ended
  const sent: ToolReply = await sentFor(toolRequest, ended, { publicUrl, resourceMetadata })
  const { status, text, error, challenge } = sent
  const protocol = !reply.fault && error && { status, code: String(error.code) }
  const line = { method: toolRequest.method, path: "/mcp", ...protocol }
  logCall(log, incoming, reply, line, performance.now() - started - askedMs)
  const { outcome, session = null } = toolRequest
  const calling = outcome && "calling" in outcome ? outcome.calling : null
  const deprecation = calling ? deprecationIn(calling.operation, calling.input) : undefined
  const { credits, rate, fault = toolRequest.fault } = reply
  const details = { requestId: incoming.requestId, credits, rate, deprecation, now: now() }
  return {
    text,
    response: () => rpcResponse(status, text, details, { fault, challenge, session: error ? null : session }),
  }
}

/** Streams the messages as they arrive, then the answer. Stops waiting if the client disconnects. */
function stream(
  parts: ToolsParts,
  call: ToolCall,
  first: string,
  messages: AsyncIterator<string, ExchangeEnd, void>,
): Response {
  const encoder = new TextEncoder()
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(encoder.encode(eventOf(first))),
    async pull(controller) {
      const { done, value } = await messages.next()
      const text = done ? (await end(parts, call, value)).text : value
      controller.enqueue(encoder.encode(eventOf(text ?? "")))
      if (done) controller.close()
    },
    async cancel() {
      hungUp(parts.log, call.incoming)
      await messages.return?.()
    },
  })
  return rpcStream(body, { requestId: call.incoming.requestId, credits: null, now: parts.now() })
}

/** Formats a message as an event. An empty message becomes a comment, which keeps the connection open. */
function eventOf(message: string): string {
  return message === "" ? ":\n\n" : `event: message\ndata: ${message}\n\n`
}
