import { invalidRequest } from "./errors.ts"

/** A request's id, given back with its answer; null for an answer to what had none that could be read. */
export type Id = string | number | null

export interface Message {
  method: string
  params: Record<string, unknown>
  /** Nothing is answered to it. */
  notification: boolean
}

/** The id of a message, whatever else is wrong with it. */
export function idOf(value: unknown): Id {
  const id = isObject(value) ? value.id : undefined
  return isId(id) ? id : null
}

/** What a body says, or null for an answer to a request, which this server never makes. Throws RpcError. */
export function readMessage(value: unknown): Message | null {
  if (Array.isArray(value)) throw invalidRequest("JSON-RPC batches are not taken; send one message.")
  if (!isObject(value) || value.jsonrpc !== "2.0") throw invalidRequest('A JSON-RPC 2.0 message has "jsonrpc": "2.0".')
  const { id, method, params = {} } = value
  if (method === undefined && ("result" in value || "error" in value)) return null
  if (typeof method !== "string") throw invalidRequest('"method" must be a string.')
  if (!isObject(params)) throw invalidRequest('"params" must be an object.')
  const notification = !Object.hasOwn(value, "id")
  if (!notification && !isId(id)) throw invalidRequest('"id" must be a string or a whole number.')
  return { method, params, notification }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

/** A larger number would come back as another. */
function isId(value: unknown): value is string | number {
  return typeof value === "string" || Number.isSafeInteger(value)
}
