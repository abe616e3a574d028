import { clientAddress, type TrustedProxies } from "../access/addresses.ts"
import { createFailedAttempts } from "../access/failed-attempts.ts"
import { Fault } from "../lib/faults.ts"
import { readUpTo } from "../lib/request-body.ts"
import type { IncomingRequest } from "./incoming.ts"
import { publicFault, publicJson } from "./responses.ts"

/** Of a message with many attributes of a buyer, none of which is kept. */
const MOST_BYTES = 256 * 1_024

interface SentMessage {
  headers: Headers
  body: Uint8Array
  at: Date
}

/** Stores what a message tells before it returns; false = nobody's, "unreadable" = proved, and no event; `reply` = its answer. */
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

/** The route of what services that a workspace connected send to it, at /in/<account>. */
export function messageRoute({ receive, publicUrl, trustedProxies, now }: MessageParts) {
  const attempts = createFailedAttempts({ now })
  return {
    path: `${FOLDER}:account`,
    answer: (incoming: IncomingRequest) => answer(incoming.path.slice(FOLDER.length), incoming),
  }

  async function answer(account: string, { request, requestId, peer }: IncomingRequest): Promise<Response> {
    const shown = { requestId, credits: null, now: now() }
    try {
      const address = clientAddress(peer, request.headers.get("x-forwarded-for"), trustedProxies)
      return publicJson(200, await take(account, request, address), shown)
    } catch (error) {
      if (error instanceof Fault) return publicFault(error, publicUrl, shown)
      throw error
    }
  }

  async function take(account: string, request: Request, address: string | null): Promise<object> {
    if (request.method !== "POST") throw new Fault("method_not_allowed", {}, { allow: "POST" })
    const body = await readUpTo(request, MOST_BYTES)
    if (!body) throw new Fault("body_too_large", { detail: "A message has 256 KiB at most." })
    const message = { headers: request.headers, body, at: now() }
    // who sends what is nobody's, or without proof, is heard less and less: a guess costs as much as a message
    const received = await attempts.watch(address, async () => (await receive(account, message)) || null)
    if (received === null) throw new Fault("unknown_endpoint")
    if (received === "unreadable")
      throw new Fault("invalid_arguments", { field: "body", detail: "The body is no event of that service." })
    return received === true ? { received: true } : received.reply
  }
}
