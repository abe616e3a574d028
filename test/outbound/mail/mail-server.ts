import { simpleParser } from "mailparser"
import { SMTPServer, type SMTPServerOptions } from "smtp-server"
import type { SmtpServer } from "../../../src/outbound/mail/smtp.ts"
import { CERTIFICATE, KEY } from "../certificates.ts"

export interface ReceivedMail {
  from: string
  to: string[]
  /** The source as it was transmitted, without the dots of SMTP. */
  raw: string
  isSecure: boolean
  user: string | undefined
}

/** A mail server on loopback that stores the accepted mails. */
export interface MailServer {
  port: number
  received: ReceivedMail[]
  /** Status code by refused recipient. Other recipients are accepted. */
  refuse: Map<string, number>
  /** Runs after a mail was received whole and before the answer. Throw to refuse it. */
  beforeAnswer: (mail: ReceivedMail) => Promise<void>
  stop(): Promise<void>
}

/** Starts a server with STARTTLS and AUTH: user "ada", password "p@ss word". */
export async function startMailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
  const mailServer: MailServer = {
    port: 0,
    received: [],
    refuse: new Map(),
    beforeAnswer: async () => {},
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  }
  const server = new SMTPServer({
    key: KEY,
    cert: CERTIFICATE,
    authOptional: true,
    allowInsecureAuth: true,
    closeTimeout: 100,
    disableReverseLookup: true,
    onAuth({ username, password }, _, done) {
      if (username === "ada" && password === "p@ss word") done(null, { user: username })
      else done(new Error("bad credentials"))
    },
    onRcptTo({ address }, _, done) {
      const responseCode = mailServer.refuse.get(address)
      done(responseCode === undefined ? null : Object.assign(new Error("no such user here"), { responseCode }))
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = []
      stream.on("data", (chunk: Buffer) => chunks.push(chunk))
      stream.on("end", () => {
        const { mailFrom, rcptTo } = session.envelope
        const mail: ReceivedMail = {
          from: mailFrom ? mailFrom.address : "",
          to: rcptTo.map(({ address }) => address),
          raw: Buffer.concat(chunks).toString("utf8"),
          isSecure: session.secure,
          user: session.user as string | undefined,
        }
        mailServer.received.push(mail)
        mailServer.beforeAnswer(mail).then(
          () => done(null, "accepted"),
          (error) => done(error),
        )
      })
    },
    ...options,
  })
  server.on("error", () => {})
  const listening = server.listen(0, "127.0.0.1")
  await new Promise((resolve) => listening.once("listening", resolve))
  mailServer.port = (listening.address() as { port: number }).port
  return mailServer
}

/** Returns the settings of a server on loopback without encryption. */
export function plainServer({ port }: Pick<MailServer, "port">, more: Partial<SmtpServer> = {}): SmtpServer {
  const from = { name: "Appmeter", address: "reports@example.com" }
  return { host: "127.0.0.1", port, isSecure: false, needsTls: false, login: null, from, ...more }
}

/** Parses a mail as a mail program does. */
export async function parsed({ raw }: ReceivedMail) {
  return await simpleParser(raw)
}
