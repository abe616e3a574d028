import { isRecord } from "../../lib/objects.ts"
import { invalidRequest } from "./errors.ts"

/** A request's id, given back with its answer; null for an answer to what had none that could be read. */
export type Id = string | number | null

export interface Message {
  method: string
  params: Record<string, unknown>
  notification: boolean
}

/** What a client's person said when a call had asked them: to the request of that id. */
export interface PersonAnswer {
  answerTo: Id
  /** Accept, decline or cancel; null = anything else, an error for one. */
  action: string | null
}

/** The id of a message, whatever else is wrong with it. */
export function idOf(value: unknown): Id {
  const id = isRecord(value) ? value.id : undefined
  return isId(id) ? id : null
}

export function readMessage(value: unknown): Message | PersonAnswer {
  if (Array.isArray(value)) throw invalidRequest("JSON-RPC batches are not taken; send one message.")
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

/** A larger number would come back as another. */
function isId(value: unknown): value is string | number {
  return typeof value === "string" || Number.isSafeInteger(value)
}
