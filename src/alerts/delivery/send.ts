import type { ChannelAccess, Message, SendPort, SendResult } from "./message.ts"
import { sendSlack } from "./slack.ts"
import { sendTelegram } from "./telegram.ts"
import { sendWebhook } from "./webhook.ts"

/** Makes one attempt. Throws only if we aborted it. */
export async function send(opened: ChannelAccess, message: Message, port: SendPort): Promise<SendResult> {
  switch (opened.kind) {
    case "webhook":
      return await sendWebhook(opened, message, port)
    case "telegram":
      return await sendTelegram(opened, message, port)
    case "slack":
      return await sendSlack(opened, message, port)
  }
}
