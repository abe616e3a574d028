import { randomUUID } from "node:crypto"
import {
  noteAcceptedAddress,
  noteRefusedAddress,
  readMailAddress,
  requestMailCode,
} from "../../access/people/mail-addresses.ts"
import { AccessProblem } from "../../access/problem.ts"
import type { Sql } from "../../database/types.ts"
import type { Mailer } from "../../outbound/mail/smtp.ts"
import { type Letter, writeLetter } from "../../ui/mail/letter.ts"

interface PostParts {
  sql: Sql
  mailer: Mailer
  publicUrl: string
}

interface Recipient {
  personId: number
  person: string
}

/** Mails a code to an address that a person named. Throws AccessProblem. */
export async function mailCode(
  { sql, mailer, publicUrl }: PostParts,
  { personId, person }: Recipient,
  typed: string,
): Promise<string> {
  const { address, code } = await requestMailCode(sql, personId, typed)
  const sent = await post(mailer, address, {
    subject: "Your code for mail from Appmeter",
    title: "Your code",
    about: `${person} wants to get mail from ${publicUrl} at this address.`,
    sections: [
      { title: "Type this code in your mail settings", parts: [{ kind: "code", text: code }] },
      {
        title: "Not you?",
        parts: [{ kind: "text", text: "Ignore this mail. Without the code nothing more is sent to this address." }],
      },
    ],
    footer: "This code is valid for an hour.",
    unsubscribeUrl: null,
    page: { label: "Mail settings", url: `${publicUrl}/app/settings/mail` },
  })
  if (sent.result !== "delivered") throw new AccessProblem(`the code was not mailed: ${sent.failure}`, "address")
  return address
}

/** Mails a test message to a person's confirmed address. If a refused address is accepted now, it is used again. */
export async function mailTest(
  { sql, mailer, publicUrl }: PostParts,
  { personId, person }: Recipient,
): Promise<string> {
  const { address } = await readMailAddress(sql, personId)
  if (address === null) throw new AccessProblem(`${person} has no confirmed mail address yet`)
  const sent = await post(mailer, address, {
    subject: "Test message from Appmeter",
    title: "This is a test message",
    about: "Mail from Appmeter arrives here.",
    sections: [],
    footer: `You get this because ${person} asked for a test message.`,
    unsubscribeUrl: null,
    page: { label: "Mail settings", url: `${publicUrl}/app/settings/mail` },
  })
  if (sent.result === "refused") await noteRefusedAddress(sql, personId, address, sent.failure)
  if (sent.result !== "delivered") throw new AccessProblem(`the test message was not delivered: ${sent.failure}`)
  await noteAcceptedAddress(sql, personId, address)
  return address
}

async function post(mailer: Mailer, to: string, letter: Letter & { subject: string }) {
  const id = `mail_${randomUUID().replaceAll("-", "")}`
  return await mailer.send({
    id,
    to,
    subject: letter.subject,
    at: new Date(),
    unsubscribeUrl: null,
    ...writeLetter(letter),
  })
}
