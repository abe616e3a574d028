import { cut } from "./cut.ts"
import type { ChannelAccessOf, Message, SendPort, SendResult } from "./message.ts"
import { postToOwn, sentBy, unsentBy, waitOfSeconds } from "./post.ts"

const OWN_API = "https://api.telegram.org"

const LONGEST = 4_096

/** No parse mode: the text is shown as it is. The token stands in the path, so no error tells the address. */
export async function sendTelegram(
  { token, chat }: ChannelAccessOf<"telegram">,
  { text }: Message,
  port: SendPort,
): Promise<SendResult> {
  const body = { chat_id: chat, text: cut(text, LONGEST), link_preview_options: { is_disabled: true } }
  try {
    const answer = await postToOwn(`${port.telegramApi ?? OWN_API}/bot${token}/sendMessage`, JSON.stringify(body), port)
    const why = REFUSALS[answer.status]
    if (why) return { result: "refused", failure: `status ${answer.status}: ${why}` }
    if (answer.status === 429) return { result: "throttled", failure: "status 429", ...askedOf(answer.bytes) }
    const sent = sentBy(answer, port.now())
    const hint = HINTS[answer.status]
    return sent.result === "failed" && hint ? { ...sent, failure: `${sent.failure}: ${hint}` } : sent
  } catch (error) {
    return unsentBy(error)
  }
}

const REFUSALS: Record<number, string> = {
  401: "the bot's token is not valid any more",
  403: "the bot may not write to this chat",
}

const HINTS: Record<number, string> = {
  400: "there may be no such chat, or the bot is not in it",
  404: "the bot's token or TELEGRAM_API may be wrong",
}

function askedOf(bytes: Uint8Array): { waitMs?: number } {
  try {
    return waitOfSeconds(JSON.parse(new TextDecoder().decode(bytes)).parameters.retry_after)
  } catch {
    return {}
  }
}
