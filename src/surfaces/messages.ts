import { Fault } from "../faults.ts"
import { readUpTo } from "../vocabulary/request-body.ts"
import type { IncomingRequest } from "./incoming.ts"
import { publicFault, publicJson } from "./responses.ts"

/** Of a message with many attributes of a buyer, none of which is kept. */
const MOST_BYTES = 256 * 1_024

interface SentMessage {
  headers: Headers
  body: Uint8Array
  at: Date
}

/** Stores what a message tells before it returns; false = nobody's, "unreadable" = proved, and no event. */
export type ReceiveMessage = (account: string, message: SentMessage) => Promise<boolean | "unreadable">

export interface MessageParts {
  receive: ReceiveMessage
  publicUrl: string
  now: () => Date
}

const ADDRESS = /^\/in\/([^/]+)$/

/** What services that a workspace connected send to it, at /in/<account>. Undefined for any other path. */
export function createMessages({ receive, publicUrl, now }: MessageParts) {
  return (incoming: IncomingRequest): Promise<Response> | undefined => {
    const account = ADDRESS.exec(incoming.path)?.[1]
    return account === undefined ? undefined : answer(account, incoming)
  }

  async function answer(account: string, { request, requestId }: IncomingRequest): Promise<Response> {
    const shown = { requestId, credits: null, now: now() }
    try {
      await take(account, request)
      return publicJson(200, { received: true }, shown)
    } catch (error) {
      if (error instanceof Fault) return publicFault(error, publicUrl, shown)
      throw error
    }
  }

  async function take(account: string, request: Request): Promise<void> {
    if (request.method !== "POST") throw new Fault("method_not_allowed", {}, { allow: "POST" })
    const body = await readUpTo(request, MOST_BYTES)
    if (!body) throw new Fault("body_too_large", { detail: "A message has 256 KiB at most." })
    const received = await receive(account, { headers: request.headers, body, at: now() })
    if (received === false) throw new Fault("unknown_endpoint")
    if (received === "unreadable")
      throw new Fault("invalid_arguments", { field: "body", detail: "The body is no event of that service." })
  }
}
