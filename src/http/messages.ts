import { clientAddress, type TrustedProxies } from "../access/addresses.ts"
import { createFailedAttempts } from "../access/failed-attempts.ts"
import { Fault } from "../lib/faults.ts"
import { readUpTo } from "../lib/request-body.ts"
import type { IncomingRequest } from "./incoming.ts"
import { publicFault, publicJson } from "./responses.ts"

/** Enough for a message with many attributes of a buyer. None of them are stored. */
const MAX_BYTES = 256 * 1_024

interface SentMessage {
  headers: Headers
  body: Uint8Array
  at: Date
}

/**
 * Stores a message before it returns. Returns false if the account is unknown or the message is not authentic, and
 * "unreadable" if it is authentic but not an event. `reply` is the response body.
 */
export type ReceiveMessage = (
  account: string,
  message: SentMessage,
) => Promise<boolean | "unreadable" | { reply: object }>

interface MessageParts {
  receive: ReceiveMessage
  publicUrl: string
  trustedProxies: TrustedProxies
  now: () => Date
}

const FOLDER = "/in/"

/** The route /in/<account>, which receives messages of services that a workspace connected. */
export function messageRoute({ receive, publicUrl, trustedProxies, now }: MessageParts) {
  const attempts = createFailedAttempts({ now })
  return {
    path: `${FOLDER}:account`,
    answer: (incoming: IncomingRequest) => answer(incoming.path.slice(FOLDER.length), incoming),
  }

  async function answer(account: string, { request, requestId, peer }: IncomingRequest): Promise<Response> {
    const details = { requestId, credits: null, now: now() }
    try {
      const address = clientAddress(peer, request.headers.get("x-forwarded-for"), trustedProxies)
      return publicJson(200, await take(account, request, address), details)
    } catch (error) {
      if (error instanceof Fault) return publicFault(error, publicUrl, details)
      throw error
    }
  }

  async function take(account: string, request: Request, address: string | null): Promise<object> {
    if (request.method !== "POST") throw new Fault("method_not_allowed", {}, { allow: "POST" })
    const body = await readUpTo(request, MAX_BYTES)
    if (!body) throw new Fault("body_too_large", { detail: "A message can have at most 256 KiB." })
    const message = { headers: request.headers, body, at: now() }
    // unknown accounts and unauthentic messages count as failed attempts, so that guessing is slowed down
    const received = await attempts.watch(address, async () => (await receive(account, message)) || null)
    if (received === null) throw new Fault("unknown_endpoint")
    if (received === "unreadable")
      throw new Fault("invalid_arguments", { field: "body", detail: "The body is not an event of that service." })
    return received === true ? { received: true } : received.reply
  }
}
