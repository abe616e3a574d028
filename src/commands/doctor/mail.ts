import { createMailer } from "../../outbound/mail/smtp.ts"
import type { Invocation } from "../cli/command.ts"
import { type Finding, ok, problem } from "./finding.ts"

const THING = "mail"

/** Checks whether the mail server answers, encrypts and accepts the login. Sends nothing. */
export async function checkMail({ settings }: Pick<Invocation, "settings">): Promise<Finding[]> {
  const { mail } = settings
  if (!mail) return []
  try {
    await createMailer(mail).check()
    return [ok(THING, `${mail.host}, port ${mail.port} accepts the login; sent from ${mail.from.address}`)]
  } catch (error) {
    return [problem(THING, (error as Error).message, "check SMTP_URL, its user and password, and SMTP_TLS")]
  }
}
