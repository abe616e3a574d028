import { addressOf, hintOf } from "./address.ts"
import type { ChannelKind } from "./channel-kind.ts"
import { cut } from "./cut.ts"
import { post, sentBy, unsentBy } from "./post.ts"

/** Slack truncates at 40,000 characters; this is a readable length. */
const LONGEST = 4_000

/** An incoming webhook of Slack. Its whole address is secret. Messages are plain text without mentions. */
export const slack: ChannelKind<{ url: string }> = {
  title: "Slack",
  button: "Add Slack channel",
  fields: [
    {
      name: "url",
      label: "Address of the incoming webhook",
      hint: "In Slack: Apps, Incoming Webhooks, Add to Slack. It begins with https://hooks.slack.com/.",
      noun: "the address",
      isSecret: true,
    },
  ],
  summary: "Send alerts to Slack through an incoming webhook.",
  details: "The address of the webhook is a secret, so it is read from a file or stdin.",
  examples: [
    ["- < slack.txt", "the address from stdin"],
    ["/run/secrets/slack", "from a file"],
  ],
  limit: "4,000 characters",
  ends: "403, 404 or 410: the webhook was revoked, or its channel is archived",
  gapMs: 1_000,
  isGrouped: true,
  check({ url }) {
    const address = addressOf(url)
    return { shown: hintOf(address), secret: { url: address.href } }
  },
  async send({ url }, { text }, port) {
    const body = { text: escaped(cut(text, LONGEST)), mrkdwn: false, unfurl_links: false, unfurl_media: false }
    try {
      const answer = await post(url, JSON.stringify(body), port)
      if (GONE.includes(answer.status))
        return {
          result: "refused",
          failure: `status ${answer.status}: Slack no longer accepts messages at this address`,
        }
      return sentBy(answer, port.now())
    } catch (error) {
      return unsentBy(error)
    }
  },
}

/** Statuses of a webhook that was revoked, or whose channel is missing or archived. */
const GONE = [403, 404, 410]

/** Escapes the three characters with a special meaning in Slack. */
function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
}
