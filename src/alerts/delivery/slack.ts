import { cut } from "./cut.ts"
import type { ChannelAccessOf, Message, SendPort, SendResult } from "./message.ts"
import { post, sentBy, unsentBy } from "./post.ts"

/** Slack truncates at 40,000 characters; this is a readable length. */
const LONGEST = 4_000

/** Sends through an incoming webhook as plain text without mentions. */
export async function sendSlack(
  { url }: ChannelAccessOf<"slack">,
  { text }: Message,
  port: SendPort,
): Promise<SendResult> {
  const body = { text: escaped(cut(text, LONGEST)), mrkdwn: false, unfurl_links: false, unfurl_media: false }
  try {
    const answer = await post(url, JSON.stringify(body), port)
    if (GONE.includes(answer.status))
      return { result: "refused", failure: `status ${answer.status}: Slack no longer accepts messages at this address` }
    return sentBy(answer, port.now())
  } catch (error) {
    return unsentBy(error)
  }
}

/** Statuses of a webhook that was revoked, or whose channel is missing or archived. */
const GONE = [403, 404, 410]

/** Escapes the three characters with a special meaning in Slack. */
function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
}
