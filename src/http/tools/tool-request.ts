import { keyInUrlFault } from "../../access/key-in-url.ts"
import { Fault } from "../../lib/faults.ts"
import { isRecord } from "../../lib/objects.ts"
import { bodyJson } from "../body.ts"
import type { IncomingRequest } from "../incoming.ts"
import { canAsk, sessionOf, takesStream } from "./asking.ts"
import { isCalling, type OperationCall } from "./calling.ts"
import { isModern } from "./eras.ts"
import { errorOf, parseError, RpcError } from "./errors.ts"
import type { ClientCall } from "./exchange.ts"
import type { Guard } from "./guard.ts"
import { type Id, idOf, type Message, type PersonAnswer, readMessage } from "./message.ts"
import { knownMethod, outcomeOf } from "./methods.ts"
import type { Offers } from "./offers.ts"
import type { Result } from "./results.ts"
import type { Toolbox } from "./toolbox.ts"

export interface ToolRequest {
  id: Id
  modern: boolean
  /** The method for the log. Undefined for an unknown method. */
  method: string | undefined
  /**
   * The operation to call, the result, the error, or the person's answer to pass on. Null if the
   * client gets no answer.
   */
  outcome: ClientCall | Result | RpcError | PersonAnswer | null
  fault?: Fault
  /** The session id that the response sets. The server does not store it. */
  session?: string | null
}

interface Reading {
  toolboxes: (query: string) => Toolbox
  offers: Offers
  publicUrl: string
}

const UNREAD = { id: null, modern: false, method: undefined }

/** Refuses a request before its body is read. */
export function refuseUnread(
  { request, keyInUrl }: IncomingRequest,
  guard: Guard,
  publicUrl: string,
): ToolRequest | undefined {
  const outcome = guard(request)
  if (outcome) return { ...UNREAD, outcome }
  // GET would open a stream and DELETE would end a session; the server has neither
  if (request.method === "POST") return undefined
  const fault = keyInUrl ? keyInUrlFault() : new Fault("method_not_allowed", {}, { allow: "POST" })
  return { ...UNREAD, outcome: errorOf(fault, publicUrl), fault }
}

export async function readToolRequest(
  { request, query, keyInUrl }: IncomingRequest,
  reading: Reading,
): Promise<ToolRequest> {
  const toolRequest: ToolRequest = { ...UNREAD, outcome: null }
  const { toolboxes, offers, publicUrl } = reading
  try {
    const body = await readBody(request)
    toolRequest.id = idOf(body)
    // invoke reports a key in the URL, before any other problem of the query
    const toolbox = toolboxes(keyInUrl ? "" : query)
    const message = readMessage(body)
    if ("answerTo" in message) return { ...toolRequest, outcome: message }
    toolRequest.method = knownMethod(message.method)
    if (message.notification) return toolRequest
    toolRequest.modern = isModern(message, request.headers)
    toolRequest.session = sessionOf(message)
    const outcome = outcomeOf(message, { offers, toolbox, modern: toolRequest.modern })
    toolRequest.outcome = isCalling(outcome)
      ? exchangedOf(message, outcome, request.headers, toolRequest.modern)
      : outcome
  } catch (error) {
    toolRequest.outcome = refusalFor(error, publicUrl)
  }
  return toolRequest
}

async function readBody(request: Request): Promise<unknown> {
  try {
    return await bodyJson(request)
  } catch (error) {
    throw error instanceof Fault && error.code === "invalid_arguments" ? parseError() : error
  }
}

function exchangedOf(message: Message, calling: OperationCall, headers: Headers, modern: boolean): ClientCall {
  const { progressToken } = isRecord(message.params._meta) ? message.params._meta : {}
  const isToken = typeof progressToken === "string" || Number.isSafeInteger(progressToken)
  const wanted = isToken && takesStream(headers) ? (progressToken as string | number) : null
  return { message, calling, modern, canAsk: canAsk(message, headers, modern), progressToken: wanted }
}

function refusalFor(error: unknown, publicUrl: string): RpcError {
  if (error instanceof RpcError) return error
  if (error instanceof Fault) return errorOf(error, publicUrl)
  throw error
}
