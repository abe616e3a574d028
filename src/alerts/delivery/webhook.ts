import { Buffer } from "node:buffer"
import { createHmac } from "node:crypto"
import type { RandomBytes } from "../../lib/text.ts"
import { addressOf, hintOf } from "./address.ts"
import type { ChannelKind } from "./channel-kind.ts"
import { post, sentBy, unsentBy } from "./post.ts"

const PREFIX = "whsec_"
const SECRET_BYTES = 32

/** Creates a signing secret: "whsec_" and 32 random bytes as base64. */
export function makeSecret(randomBytes: RandomBytes): string {
  return PREFIX + Buffer.from(randomBytes(SECRET_BYTES)).toString("base64")
}

/**
 * A receiver of the workspace's own. It gets every alert as JSON, as in Standard Webhooks 1.0.0: the same id for all
 * attempts, the timestamp of the attempt, and a signature for each valid secret.
 */
export const webhook: ChannelKind<{ url: string; secret: string; earlier?: string }> = {
  title: "Webhook",
  button: "Add webhook",
  fields: [
    {
      name: "url",
      label: "Address",
      hint: "Messages are signed as Standard Webhooks. The signing secret is shown once.",
      noun: "the address",
    },
  ],
  summary: "Send alerts to a webhook, signed as Standard Webhooks.",
  details: "The signing secret is shown only once.",
  examples: [
    ["https://example.com/hooks/appmeter", "alerts of the rules that name the channel are posted there"],
    ["- --json < url.txt", "read the address from stdin, to keep it out of the shell history"],
  ],
  limit: "none: one message per alert, as JSON",
  ends: "410: the receiver is gone",
  gapMs: 0,
  isGrouped: false,
  check({ url }, randomBytes) {
    const address = addressOf(url)
    const secret = makeSecret(randomBytes)
    return { shown: hintOf(address), secret: { url: address.href, secret }, signingSecret: secret }
  },
  async send({ url, secret, earlier }, message, port) {
    const body = JSON.stringify({ type: message.type, timestamp: message.at, data: message.data })
    const timestamp = String(Math.floor(port.now().getTime() / 1_000))
    const secrets = earlier === undefined ? [secret] : [secret, earlier]
    const signed = secrets.map((key) => signature(key, `${message.id}.${timestamp}.${body}`))
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
  },
}

function signature(secret: string, signed: string): string {
  const key = Buffer.from(secret.slice(PREFIX.length), "base64")
  return `v1,${createHmac("sha256", key).update(signed).digest("base64")}`
}
