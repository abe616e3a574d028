import { AccessProblem } from "../../access/problem.ts"
import type { OutboundAnswer } from "../../outbound/safe-fetch.ts"
import { addressOf, hintOf } from "./address.ts"
import type { ChannelKind } from "./channel-kind.ts"
import { cutMarked } from "./cut.ts"
import type { SendResult } from "./message.ts"
import { jsonOf, post, sentBy, unsentBy, waitOfSeconds } from "./post.ts"

/** Maximum characters of the content, escapes included. */
const LONGEST = 2_000

/** No previews of links. */
const SUPPRESS_EMBEDS = 4

/**
 * A webhook of a Discord channel. Mentions are forbidden twice: by `allowed_mentions`, which no text can change, and by
 * escapes. Discord confirms that the message is stored, because `wait` is set.
 */
export const discord: ChannelKind<{ url: string }> = {
  title: "Discord",
  button: "Add Discord channel",
  fields: [
    {
      name: "url",
      label: "Address of the webhook",
      hint: "In Discord: Edit channel, Integrations, Webhooks, Copy webhook URL.",
      noun: "the address",
      isSecret: true,
    },
  ],
  summary: "Send alerts to a Discord channel through a webhook.",
  details: "The address of the webhook is a secret, so it is read from a file or stdin.",
  examples: [
    ["- < discord.txt", "the address from stdin"],
    ["/run/secrets/discord", "from a file"],
  ],
  limit: "2,000 characters",
  ends: "404 Unknown Webhook: the webhook was deleted",
  // 30 messages per minute and channel
  gapMs: 2_000,
  isGrouped: true,
  check({ url }) {
    const address = addressOf(url)
    if (address.protocol !== "https:" || !HOSTS.test(address.host) || !PATH.test(address.pathname))
      throw new AccessProblem(
        "a Discord webhook looks like https://discord.com/api/webhooks/123…/abc…; leave out /slack or /github",
        "url",
      )
    const thread = address.searchParams.get("thread_id")
    if (thread !== null && !/^\d{1,20}$/.test(thread))
      throw new AccessProblem("thread_id must be the number of a thread", "url")
    address.search = thread === null ? "?wait=true" : `?wait=true&thread_id=${thread}`
    return { shown: hintOf(new URL(address.pathname, address.origin)), secret: { url: address.href } }
  },
  async send({ url }, { text }, port) {
    const body = {
      content: cutMarked(text, LONGEST, escaped),
      allowed_mentions: { parse: [] },
      flags: SUPPRESS_EMBEDS,
    }
    try {
      return resultOf(await post(url, JSON.stringify(body), port), port.now())
    } catch (error) {
      return unsentBy(error)
    }
  },
}

const HOSTS = /^((ptb|canary)\.)?discord(app)?\.com$/
const PATH = /^\/api\/(v\d{1,2}\/)?webhooks\/\d{1,20}\/[\w-]{1,200}$/

/** Codes after which nothing is accepted any more. */
const GONE: Record<number, string> = {
  10003: "the channel or thread was deleted",
  10015: "the webhook was deleted",
  50027: "the webhook's token is no longer valid",
}

const HINTS: Record<number, string> = {
  160005: "the thread is locked: unlock it in Discord",
  200000: "AutoMod of the Discord server blocks the message",
  220001: "a forum needs a thread: add ?thread_id= and the thread's number to the address",
}

function resultOf(answer: OutboundAnswer, now: Date): SendResult {
  const { code, retry_after } = jsonOf<{ code?: unknown; retry_after?: unknown }>(answer.bytes)
  const gone = GONE[Number(code)]
  if ([401, 403, 404].includes(answer.status) && gone)
    return { result: "refused", failure: `status ${answer.status}: ${gone}` }
  const sent = sentBy(answer, now)
  if (sent.result === "throttled") return { ...sent, ...waitOfSeconds(retry_after) }
  const hint = HINTS[Number(code)]
  return sent.result === "failed" && hint ? { ...sent, failure: `${sent.failure}: ${hint}` } : sent
}

/**
 * Escapes Discord's Markdown. A full stop before a letter and every colon are escaped too, since addresses, invitations
 * and emoji names are recognized without any markup.
 */
function escaped(text: string): string {
  return text
    .replace(/[\\*_~`|<>[\]()#@:]|\.(?=\p{L})/gu, "\\$&")
    .replace(/^(\s*)([-+]|\d+(?=\.))/gmu, (_, space: string, mark: string) =>
      /\d/.test(mark) ? `${space}${mark}\\` : `${space}\\${mark}`,
    )
}
