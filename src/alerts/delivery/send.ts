import { CHANNEL_KINDS } from "./channel-kinds.ts"
import type { FinalResult, Message, MovedResult, SendPort } from "./message.ts"
import type { OpenedChannel } from "./sealed-channel.ts"

/**
 * Makes one attempt. If the receiver moved, stores its new address with `follow` and sends there once. `follow` returns
 * false if the channel was changed meanwhile; then nothing is sent. Throws only if we aborted it.
 */
export async function send(
  { kind, secret }: OpenedChannel,
  message: Message,
  port: SendPort,
  follow: (moved: MovedResult) => Promise<boolean>,
): Promise<FinalResult> {
  const { send: attempt } = CHANNEL_KINDS[kind]
  const first = await attempt(secret, message, port)
  if (first.result !== "moved") return first
  if (!(await follow(first))) return { result: "failed", failure: "the channel was changed meanwhile" }
  const second = await attempt(first.secret, message, port)
  return second.result === "moved" ? { result: "failed", failure: second.failure } : second
}
