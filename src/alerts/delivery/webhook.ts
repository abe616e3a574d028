import { Buffer } from "node:buffer"
import { createHmac } from "node:crypto"
import type { RandomBytes } from "../../lib/text.ts"
import type { ChannelAccessOf, Message, SendPort, SendResult } from "./message.ts"
import { post, sentBy, unsentBy } from "./post.ts"

const PREFIX = "whsec_"
const SECRET_BYTES = 32

/** Creates a signing secret: "whsec_" and 32 random bytes as base64. */
export function makeSecret(randomBytes: RandomBytes): string {
  return PREFIX + Buffer.from(randomBytes(SECRET_BYTES)).toString("base64")
}

/**
 * Sends as in Standard Webhooks 1.0.0: the same id for all attempts, the timestamp of the attempt, and a signature for
 * each valid secret.
 */
export async function sendWebhook(
  { url, secrets }: ChannelAccessOf<"webhook">,
  message: Message,
  port: SendPort,
): Promise<SendResult> {
  const body = JSON.stringify({ type: message.type, timestamp: message.at, data: message.data })
  const timestamp = String(Math.floor(port.now().getTime() / 1_000))
  const signed = secrets.map((secret) => signature(secret, `${message.id}.${timestamp}.${body}`))
  const headers = {
    "webhook-id": message.id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signed.join(" "),
  }
  try {
    const answer = await post(url, body, port, headers)
    if (answer.status === 410) return { result: "refused", failure: "status 410: the receiver is gone" }
    return sentBy(answer, port.now())
  } catch (error) {
    return unsentBy(error)
  }
}

function signature(secret: string, signed: string): string {
  const key = Buffer.from(secret.slice(PREFIX.length), "base64")
  return `v1,${createHmac("sha256", key).update(signed).digest("base64")}`
}
