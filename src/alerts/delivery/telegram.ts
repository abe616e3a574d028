import { AccessProblem } from "../../access/problem.ts"
import type { ChannelKind } from "./channel-kind.ts"
import { cut } from "./cut.ts"
import { jsonOf, postToOwn, sentBy, unsentBy, waitOfSeconds } from "./post.ts"

const OWN_API = "https://api.telegram.org"

const LONGEST = 4_096

interface Update {
  parameters?: { migrate_to_chat_id?: unknown; retry_after?: unknown } | null
}

/**
 * A chat of Telegram, through the workspace's own bot. Messages are plain text, without parse mode. The URL contains
 * the token, so errors never include it.
 */
export const telegram: ChannelKind<{ token: string; chat: string }> = {
  title: "Telegram",
  button: "Add Telegram chat",
  fields: [
    {
      name: "token",
      label: "Token of your bot",
      hint: "From @BotFather, such as 123456789:AAE…",
      noun: "the bot's token",
      isSecret: true,
      option: { name: "bot-token", value: "FILE", meaning: "the bot's token" },
    },
    {
      name: "chat",
      label: "Chat",
      hint: "The number of the chat, or @name of a public channel.",
      noun: "the chat that the bot writes to",
      option: { name: "chat", value: "ID", meaning: "Number of the chat, or @NAME of a public channel." },
    },
  ],
  summary: "Send alerts to a Telegram chat through your own bot.",
  examples: [
    ["--bot-token-file /run/secrets/bot --chat -1001234567890", "a group"],
    ["--bot-token-stdin --chat @ranks < bot.txt", "a public channel"],
  ],
  limit: "4,096 characters",
  ends: "401: the token is no longer valid; 403: the bot was removed from the chat",
  gapMs: 1_000,
  isGrouped: true,
  check({ token = "", chat = "" }) {
    if (!/^\d{3,20}:[\w-]{20,100}$/.test(token))
      throw new AccessProblem("a bot's token looks like 123456789:AAE…", "token")
    if (!/^(-?\d{1,20}|@\w{4,64})$/.test(chat))
      throw new AccessProblem("a chat is its number, or @ and the channel's name", "chat")
    return { shown: chat, secret: { token, chat } }
  },
  async send({ token, chat }, { text }, port) {
    const body = { chat_id: chat, text: cut(text, LONGEST), link_preview_options: { is_disabled: true } }
    try {
      const address = `${port.telegramApi ?? OWN_API}/bot${token}/sendMessage`
      const answer = await postToOwn(address, JSON.stringify(body), port)
      const moved = answer.status === 400 ? movedTo(answer.bytes) : undefined
      if (moved !== undefined && moved !== chat)
        return { result: "moved", shown: moved, secret: { token, chat: moved }, failure: "status 400: the chat moved" }
      const why = REFUSALS[answer.status]
      if (why) return { result: "refused", failure: `status ${answer.status}: ${why}` }
      if (answer.status === 429)
        return {
          result: "throttled",
          failure: "status 429",
          ...waitOfSeconds(jsonOf<Update>(answer.bytes).parameters?.retry_after),
        }
      const sent = sentBy(answer, port.now())
      const hint = explanationOf(answer)
      return sent.result === "failed" && hint ? { ...sent, failure: `${sent.failure}: ${hint}` } : sent
    } catch (error) {
      return unsentBy(error)
    }
  },
}

const REFUSALS: Record<number, string> = {
  401: "the bot's token is no longer valid",
  403: "the bot may not write to this chat",
}

function explanationOf({ status, bytes }: { status: number; bytes: Uint8Array }): string | undefined {
  if (status === 404) return "the bot's token or TELEGRAM_API may be wrong"
  if (status !== 400) return undefined
  if (/TOPIC_CLOSED/i.test(new TextDecoder().decode(bytes))) return "the topic is closed: reopen it in the group"
  return "the chat may not exist, or the bot is not a member"
}

/** Returns the new id of a group that became a supergroup. */
function movedTo(bytes: Uint8Array): string | undefined {
  const id = String(jsonOf<Update>(bytes).parameters?.migrate_to_chat_id)
  return /^-?\d{1,20}$/.test(id) ? id : undefined
}
