import { connect, type Socket } from "node:net"
import { Readable } from "node:stream"
import SmtpConnection from "nodemailer/lib/smtp-connection"
import type { Mailbox } from "./address.ts"
import { type Mail, sourceOf } from "./mail.ts"

export type { Mail }

/** The operator's mail server. */
export interface SmtpServer {
  host: string
  port: number
  /** Encrypted from the first byte. Otherwise STARTTLS follows the greeting. */
  isSecure: boolean
  /** If false, STARTTLS is not used: without `isSecure` the connection is unencrypted, and others can read it. */
  needsTls: boolean
  login: { user: string; password: string } | null
  from: Mailbox
  /** Trusted certificates that replace those of the platform, PEM. */
  ca?: string
  /** The name in its certificate. Default: the host. */
  servername?: string
}

/** The outcome of an attempt. `failure` is a short text of our own, never the server's words. */
export type MailResult =
  | { result: "delivered" }
  /** Nothing was accepted. It may be tried again. */
  | { result: "failed"; failure: string }
  /** The server will not accept mail for this address. */
  | { result: "refused"; failure: string }
  /** The connection ended after the mail was handed over and before the answer. It may have arrived. */
  | { result: "unknown"; failure: string }

interface SendOptions {
  signal?: AbortSignal
  /** Runs when the server has accepted sender and recipient, before it gets the mail. If it throws, nothing is sent. */
  begin?: () => Promise<void>
}

export interface Mailer {
  from: Mailbox
  /** Throws only MailProblem, if the server cannot be reached or refuses the login. */
  check(): Promise<void>
  /** Throws only what `begin` throws, and the signal's reason. */
  send(mail: Mail, options?: SendOptions): Promise<MailResult>
}

/** Why the mail server cannot be used. The message contains no password and no words of the server. */
class MailProblem extends Error {
  override name = "MailProblem"
}

const CONNECT_MS = 10_000
const IDLE_MS = 30_000

/** Sends through one connection per mail: digests are few, and an idle connection would be cut anyway. */
export function createMailer(server: SmtpServer): Mailer {
  return {
    from: server.from,
    async check() {
      const connection = await opened(server)
      connection.quit()
    },
    async send(mail, { signal, begin } = {}) {
      signal?.throwIfAborted()
      const source = await sourceOf(mail, server.from)
      let connection: SmtpConnection
      try {
        connection = await opened(server)
      } catch (error) {
        if (error instanceof MailProblem) return { result: "failed", failure: error.message }
        throw error
      }
      const stop = () => connection.close()
      signal?.addEventListener("abort", stop)
      try {
        return await handedOver(connection, { from: server.from.address, to: mail.to, source, begin })
      } finally {
        signal?.removeEventListener("abort", stop)
        connection.quit()
      }
    },
  }
}

interface Handover {
  from: string
  to: string
  source: Uint8Array
  begin: (() => Promise<void>) | undefined
}

async function handedOver(connection: SmtpConnection, { from, to, source, begin }: Handover): Promise<MailResult> {
  let isBegun = false
  let failed: { error: unknown } | null = null
  const body = new Readable({
    // Called when the server is ready for the mail, not before.
    read() {
      if (isBegun) return
      isBegun = true
      const push = () => {
        this.push(source)
        this.push(null)
      }
      const refuse = (error: unknown) => {
        failed = { error }
        isBegun = false
        connection.close()
      }
      if (begin) begin().then(push, refuse)
      else push()
    },
  })
  const { promise, resolve } = Promise.withResolvers<MailResult>()
  const end = (error: SmtpError) => resolve(resultOf(error, isBegun))
  connection.once("error", end)
  connection.once("end", () => end({ code: "ECONNECTION" }))
  connection.send({ from, to: [to], size: source.length }, body, (error) => {
    if (error) end(error as SmtpError)
    else resolve({ result: "delivered" })
  })
  const result = await promise
  if (failed) throw (failed as { error: unknown }).error
  return result
}

interface SmtpError {
  message?: string
  code?: string | undefined
  command?: string | undefined
  responseCode?: number | undefined
  rejectedErrors?: readonly { responseCode?: number | undefined }[] | undefined
}

function resultOf(error: SmtpError, isBegun: boolean): MailResult {
  const status = error.rejectedErrors?.[0]?.responseCode ?? error.responseCode
  if (status === undefined) {
    if (isBegun) return { result: "unknown", failure: "the mail server did not answer after it got the mail" }
    return { result: "failed", failure: "the mail server ended the connection" }
  }
  if (error.command === "RCPT TO" && status >= 500)
    return { result: "refused", failure: `status ${status}: the mail server does not accept mail for this address` }
  const what = { "MAIL FROM": "the sender MAIL_FROM", "RCPT TO": "the address for now" }[error.command ?? ""]
  return { result: "failed", failure: `status ${status}: the mail server refused ${what ?? "the mail"}` }
}

/** Connects, encrypts and signs in. Throws MailProblem. */
async function opened(server: SmtpServer): Promise<SmtpConnection> {
  const { host, port, isSecure, needsTls, login, ca, servername, from } = server
  const connection = new SmtpConnection({
    host,
    port,
    secure: isSecure,
    // nodemailer would look the name up on its own and needs the list of network interfaces for that
    connection: await socketTo(server),
    name: from.address.split("@")[1],
    requireTLS: needsTls && !isSecure,
    ignoreTLS: !needsTls,
    ...(servername !== undefined && { servername }),
    tls: { rejectUnauthorized: true, minVersion: "TLSv1.2", ...(ca !== undefined && { ca }) },
    greetingTimeout: CONNECT_MS,
    socketTimeout: IDLE_MS,
  })
  try {
    await step((done) => connection.connect(done), connection)
    if (login) await step((done) => connection.login({ user: login.user, pass: login.password }, done), connection)
    return connection
  } catch (error) {
    connection.close()
    throw new MailProblem(`${host}, port ${port}: ${sentenceOf(error as SmtpError)}`)
  }
}

function step(run: (done: (error?: unknown) => void) => void, connection: SmtpConnection): Promise<void> {
  return new Promise((resolve, reject) => {
    connection.once("error", reject)
    run((error) => (error ? reject(error) : resolve()))
  })
}

async function socketTo({ host, port }: SmtpServer): Promise<Socket> {
  const socket = connect({ host, port })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const late = setTimeout(() => reject(new Error("timeout")), CONNECT_MS)
  socket.once("connect", resolve)
  socket.once("error", reject)
  try {
    await promise
    socket.removeListener("error", reject)
    return socket
  } catch {
    socket.destroy()
    throw new MailProblem(`${host}, port ${port}: no mail server answers there`)
  } finally {
    clearTimeout(late)
  }
}

function sentenceOf({ code, command, responseCode, message = "" }: SmtpError): string {
  if (code === "EAUTH") return `it rejected the user name or password${responseCode ? ` (status ${responseCode})` : ""}`
  if (code === "ETLS" || command === "STARTTLS" || /certificate|self.signed|altname|ssl|tls/i.test(message))
    return "no encrypted connection could be made; check its certificate and port, or set SMTP_TLS"
  if (code === "ETIMEDOUT") return "it took too long to answer"
  return responseCode ? `it answered with status ${responseCode}` : "it does not speak SMTP as expected"
}
