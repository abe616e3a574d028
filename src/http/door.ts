import { keyInUrlFault } from "../access/key-in-url.ts"
import { Fault } from "../lib/faults.ts"
import type { Log } from "../lib/log.ts"
import { type IncomingRequest, loggedIds } from "./incoming.ts"
import { keyedFault, rpcResponse } from "./responses.ts"
import { errorOf } from "./tools/errors.ts"
import { errorText } from "./tools/results.ts"

/**
 * Maximum size of request line and headers together. The runtime accepts more (src/commands/process/listen.ts), so that
 * this code, not the runtime, refuses the request.
 */
const MAX_BYTES = 16 * 1024

export interface DoorParts {
  publicUrl: string
  now: () => Date
  log: Log
}

/**
 * Refuses a request whose request line and headers are too large, in the format of the requested surface. Undefined if
 * the request may continue.
 */
export function createDoor({ publicUrl, now, log }: DoorParts) {
  return (incoming: IncomingRequest): Response | undefined => {
    if (headBytes(incoming.request) <= MAX_BYTES) return undefined
    const { requestId, sentIds, keyInUrl, path } = incoming
    const fault = keyInUrl ? keyInUrlFault() : new Fault("headers_too_large")
    const details = { requestId, credits: null, now: now() }
    const tools = path === "/mcp"
    const line = { status: fault.status, code: fault.code, latencyMs: 0 }
    log("info", "call", { requestId, ...loggedIds(sentIds), ...(tools && { path }), ...line })
    if (!tools) return keyedFault(fault, fault.body(publicUrl), details)
    const error = errorOf(fault, publicUrl)
    return rpcResponse(error.status, errorText(null, error), details, { fault })
  }
}

/**
 * Returns the approximate size of the request line and headers as they were sent. The host of the URL also counts as
 * the header Host.
 */
function headBytes({ method, url, headers }: Request): number {
  let size = method.length + url.length
  headers.forEach((value, name) => {
    size += name.length + value.length + 4
  })
  return size
}
