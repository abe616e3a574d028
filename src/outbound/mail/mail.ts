import type { Buffer } from "node:buffer"
import MailComposer from "nodemailer/lib/mail-composer"
import { withoutInvisible } from "../../lib/invisible.ts"
import { cutText } from "../../lib/text.ts"
import type { Mailbox } from "./address.ts"

/** One mail to one person. */
export interface Mail {
  /**
   * The id of the mail, the same for every attempt. It becomes the Message-ID, by which mail programs recognise a
   * repeated mail.
   */
  id: string
  /** An address as returned by mailAddressOf. */
  to: string
  subject: string
  text: string
  html: string
  at: Date
  /**
   * The URL that ends the subscription to which the mail belongs. Null if it belongs to none, such as a mail with a
   * code.
   */
  unsubscribeUrl: string | null
}

/** Longer subjects are cut by every mail program. */
const MAX_SUBJECT = 150

/**
 * Returns a mail as RFC 5322. Nothing in it can begin another header: names and subject lose control characters, and
 * addresses and ids consist of safe characters only. Attachments and remote content are impossible.
 */
export async function sourceOf(mail: Mail, from: Mailbox): Promise<Buffer> {
  const { id, to, subject, text, html, at, unsubscribeUrl } = mail
  const composed = new MailComposer({
    from,
    to: { name: "", address: to },
    subject: headerText(subject, MAX_SUBJECT),
    text,
    html,
    date: at,
    messageId: `<${id.replaceAll(/[^\w.-]/g, "")}@${from.address.split("@")[1]}>`,
    headers: { "Auto-Submitted": "auto-generated", "X-Auto-Response-Suppress": "All", ...subscription(unsubscribeUrl) },
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return await composed.compile().build()
}

/**
 * Returns the headers of RFC 2369 for every mail program, and those of RFC 8058 (one click by POST), which requires
 * https.
 */
function subscription(url: string | null): Record<string, string> {
  if (url === null) return {}
  const header = { "List-Unsubscribe": `<${new URL(url).href}>` }
  return url.startsWith("https:") ? { ...header, "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" } : header
}

/** Returns one line without invisible characters, such as those that change the direction of writing. */
function headerText(text: string, most: number): string {
  return cutText(
    withoutInvisible(text)
      .replaceAll(/[\s\p{Cc}\u2028\u2029]+/gu, " ")
      .trim(),
    most,
  )
}
