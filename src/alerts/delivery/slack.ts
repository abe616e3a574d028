import { cut } from "./cut.ts"
import type { ChannelAccessOf, Message, SendPort, SendResult } from "./message.ts"
import { post, sentBy, unsentBy } from "./post.ts"

/** Slack itself cuts from 40,000 on; nobody reads that. */
const LONGEST = 4_000

/** Sends by an incoming webhook: the text is shown as it is, and mentions nobody. */
export async function sendSlack(
  { url }: ChannelAccessOf<"slack">,
  { text }: Message,
  port: SendPort,
): Promise<SendResult> {
  const body = { text: escaped(cut(text, LONGEST)), mrkdwn: false, unfurl_links: false, unfurl_media: false }
  try {
    const answer = await post(url, JSON.stringify(body), port)
    if (GONE.includes(answer.status))
      return { result: "refused", failure: `status ${answer.status}: Slack takes nothing at this address any more` }
    return sentBy(answer, port.now())
  } catch (error) {
    return unsentBy(error)
  }
}

/** Revoked, of no channel, of an archived one. */
const GONE = [403, 404, 410]

/** The three characters that Slack reads as more than text. */
function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
}
