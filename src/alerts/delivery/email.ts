import { storefrontName } from "../../lib/storefront-names.ts"
import { writeLetter } from "../../ui/mail/letter.ts"
import type { ChannelKind } from "./channel-kind.ts"
import type { AlertReader } from "./mail-port.ts"
import type { Message } from "./message.ts"

/**
 * Mail to a member of the workspace, at the address that the member confirmed. The channel stores neither the address
 * nor the member's rights: both are read for each mail.
 */
export const email: ChannelKind<{ person: string; personId: string }> = {
  title: "Mail",
  button: "Add mail to a person",
  fields: [
    {
      name: "person",
      label: "Person",
      hint: "A member who sees all apps and has confirmed an address under Settings, Mail.",
      noun: "the person's name",
    },
  ],
  summary: "Send alerts by mail to a member who confirmed an address.",
  details: "The member can end it with a link in each mail. The server needs SMTP_URL and MAIL_FROM.",
  examples: [["ada", "ada confirmed an address: on the page, or with appmeter mail address"]],
  limit: "80,000 bytes",
  ends: "5xx for the recipient: the mail server does not accept mail for the address",
  gapMs: 1_000,
  isGrouped: true,
  isPersonal: true,
  check({ person = "" }) {
    return { shown: person, secret: { person, personId: "" } }
  },
  async send({ personId }, message, { mail, channelId, signal }) {
    if (!mail) return { result: "failed", failure: "this server sends no mail: SMTP_URL and MAIL_FROM are not set" }
    const reader = await mail.readerOf(Number(personId), channelId)
    if (!reader) return { result: "refused", failure: "the person has no confirmed address that accepts mail" }
    if (!reader.hasAllApps) return { result: "refused", failure: "the person sees only some of the apps now" }
    if (message.type === "alert.asa_rule" && !reader.seesAds)
      return { result: "ended", failure: "the person may not see ads" }
    const { address, unsubscribeUrl } = reader
    const letter = writeLetter({
      title: titleOf(message),
      about: aboutOf(message, reader),
      sections: [{ title: "Alert", parts: linesOf(message) }],
      footer: `You get alerts of the workspace ${reader.workspace} because one of its owners chose you for them.`,
      unsubscribeUrl,
      page: { label: "Open the alerts", url: `${mail.publicUrl}/app/alerts` },
    })
    const subject = `${reader.workspace}: ${titleOf(message)}`
    const at = new Date(message.at)
    const sent = await mail.mailer.send(
      { id: message.id, to: address, subject, at, unsubscribeUrl, ...letter },
      { signal },
    )
    signal.throwIfAborted()
    if (sent.result === "refused") await mail.noteRefused(Number(personId), address, sent.failure)
    return sent.result === "unknown" ? { result: "ended", failure: `${sent.failure}; it may have arrived` } : sent
  },
}

interface AlertData {
  appName?: string
  country?: string | null
}

function titleOf({ type, text }: Message): string {
  if (type === "channel.test") return "This is a test message"
  const [first = ""] = text.split("\n")
  return first.length > 100 ? `${first.slice(0, 99)}…` : first
}

function aboutOf({ data, at }: Message, { workspace }: AlertReader): string {
  const { country } = data as AlertData
  return [workspace, country && storefrontName(country), at.slice(0, 10)].filter(Boolean).join(" · ")
}

function linesOf({ text }: Message) {
  return text.split("\n").map((line) => ({ kind: "text" as const, text: line }))
}
