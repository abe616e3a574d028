import { keyInUrlFault } from "../access/key-in-url.ts"
import { Fault } from "../lib/faults.ts"
import type { Log } from "../lib/log.ts"
import { type IncomingRequest, loggedIds } from "./incoming.ts"
import { keyedFault, rpcResponse } from "./responses.ts"
import { errorOf } from "./tools/errors.ts"
import { errorText } from "./tools/results.ts"

/** Of request line and headers together. A runtime takes more (src/commands/process/listen.ts), so that the refusal is ours. */
const MOST_BYTES = 16 * 1024

export interface DoorParts {
  publicUrl: string
  now: () => Date
  log: Log
}

/** Refuses what no surface looks into, in the words of the surface it was sent to; undefined lets a request in. */
export function createDoor({ publicUrl, now, log }: DoorParts) {
  return (incoming: IncomingRequest): Response | undefined => {
    if (headBytes(incoming.request) <= MOST_BYTES) return undefined
    const { requestId, sentIds, keyInUrl, path } = incoming
    const fault = keyInUrl ? keyInUrlFault() : new Fault("headers_too_large")
    const shown = { requestId, credits: null, now: now() }
    const tools = path === "/mcp"
    const line = { status: fault.status, code: fault.code, latencyMs: 0 }
    log("info", "call", { requestId, ...loggedIds(sentIds), ...(tools && { path }), ...line })
    if (!tools) return keyedFault(fault, fault.body(publicUrl), shown)
    const error = errorOf(fault, publicUrl)
    return rpcResponse(error.status, errorText(null, error), shown, { fault })
  }
}

/** Spelt as they were sent, to a few bytes: the address of the URL stands in the header Host as well. */
function headBytes({ method, url, headers }: Request): number {
  let size = method.length + url.length
  headers.forEach((value, name) => {
    size += name.length + value.length + 4
  })
  return size
}
