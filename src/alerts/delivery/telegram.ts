import { cut } from "./cut.ts"
import type { ChannelAccessOf, Message, SendPort, SendResult } from "./message.ts"
import { postToOwn, sentBy, unsentBy, waitOfSeconds } from "./post.ts"

const OWN_API = "https://api.telegram.org"

const LONGEST = 4_096

/** Sends as plain text, without parse mode. The URL contains the token, so errors never include it. */
export async function sendTelegram(
  { token, chat }: ChannelAccessOf<"telegram">,
  { text }: Message,
  port: SendPort,
): Promise<SendResult> {
  const post = (chatId: string) => {
    const body = { chat_id: chatId, text: cut(text, LONGEST), link_preview_options: { is_disabled: true } }
    return postToOwn(`${port.telegramApi ?? OWN_API}/bot${token}/sendMessage`, JSON.stringify(body), port)
  }
  try {
    const first = await post(chat)
    const migrated = first.status === 400 ? migratedTo(first.bytes) : undefined
    // a group that became a supergroup has a new id
    const answer = migrated === undefined ? first : await post(migrated)
    const why = REFUSALS[answer.status]
    if (why) return { result: "refused", failure: `status ${answer.status}: ${why}` }
    if (answer.status === 429) return { result: "throttled", failure: "status 429", ...retryAfterOf(answer.bytes) }
    const sent = sentBy(answer, port.now())
    const hint =
      migrated === undefined ? hintOf(answer) : `the group has a new id, ${migrated}: add the channel again with it`
    return sent.result === "failed" && hint ? { ...sent, failure: `${sent.failure}: ${hint}` } : sent
  } catch (error) {
    return unsentBy(error)
  }
}

const REFUSALS: Record<number, string> = {
  401: "the bot's token is no longer valid",
  403: "the bot may not write to this chat",
}

function hintOf({ status, bytes }: { status: number; bytes: Uint8Array }): string | undefined {
  if (status === 404) return "the bot's token or TELEGRAM_API may be wrong"
  if (status !== 400) return undefined
  if (/TOPIC_CLOSED/i.test(new TextDecoder().decode(bytes))) return "the topic is closed: reopen it in the group"
  return "the chat may not exist, or the bot is not a member"
}

function migratedTo(bytes: Uint8Array): string | undefined {
  try {
    const id: unknown = JSON.parse(new TextDecoder().decode(bytes)).parameters.migrate_to_chat_id
    return /^-?\d{1,20}$/.test(String(id)) ? String(id) : undefined
  } catch {
    return undefined
  }
}

function retryAfterOf(bytes: Uint8Array): { waitMs?: number } {
  try {
    return waitOfSeconds(JSON.parse(new TextDecoder().decode(bytes)).parameters.retry_after)
  } catch {
    return {}
  }
}
