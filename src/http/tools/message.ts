import { isRecord } from "../../lib/objects.ts"
import { invalidRequest } from "./errors.ts"

/** The id of a request, which its answer repeats. Null if the request has no readable id. */
export type Id = string | number | null

export interface Message {
  method: string
  params: Record<string, unknown>
  notification: boolean
}

/** The answer of a client's person to a question. `answerTo` is the id of the question. */
export interface PersonAnswer {
  answerTo: Id
  /** "accept", "decline" or "cancel". Null for any other answer, such as an error. */
  action: string | null
}

/** Returns the id of a message, even if the rest is invalid. */
export function idOf(value: unknown): Id {
  const id = isRecord(value) ? value.id : undefined
  return isId(id) ? id : null
}

export function readMessage(value: unknown): Message | PersonAnswer {
  if (Array.isArray(value)) throw invalidRequest("JSON-RPC batches are not supported. Send one message.")
  if (!isRecord(value) || value.jsonrpc !== "2.0") throw invalidRequest('A JSON-RPC 2.0 message has "jsonrpc": "2.0".')
  const { id, method, params = {} } = value
  if (method === undefined && ("result" in value || "error" in value)) return personAnswerIn(value)
  if (typeof method !== "string") throw invalidRequest('"method" must be a string.')
  if (!isRecord(params)) throw invalidRequest('"params" must be an object.')
  const notification = !Object.hasOwn(value, "id")
  if (!notification && !isId(id)) throw invalidRequest('"id" must be a string or a whole number.')
  return { method, params, notification }
}

function personAnswerIn(value: Record<string, unknown>): PersonAnswer {
  const { action } = isRecord(value.result) ? value.result : {}
  return { answerTo: idOf(value), action: typeof action === "string" ? action : null }
}

/** A larger number would lose precision when it is parsed. */
function isId(value: unknown): value is string | number {
  return typeof value === "string" || Number.isSafeInteger(value)
}
