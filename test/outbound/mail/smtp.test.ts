import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { mailAddressOf, mailboxOf } from "../../../src/outbound/mail/address.ts"
import { createMailer, type Mail } from "../../../src/outbound/mail/smtp.ts"
import { errorOf } from "../../error-of.ts"
import { slow } from "../../long.ts"
import { AUTHORITY } from "../certificates.ts"
import { type MailServer, parsed, plainServer, startMailServer } from "./mail-server.ts"

let mailServer: MailServer

beforeEach(async () => {
  mailServer = await startMailServer()
})
afterEach(() => mailServer.stop())

const messageOf = (error: unknown) => (error as Error).message

const LOGIN = { user: "ada", password: "p@ss word" }

const mail = (more: Partial<Mail> = {}): Mail => ({
  id: "msg_1",
  to: "bo@example.org",
  subject: "Your day",
  text: "plain ✓\n.\nend\n",
  html: "<p>rich ✓</p>",
  at: new Date("2026-11-30T08:00:00Z"),
  unsubscribeUrl: null,
  ...more,
})

describe("a mail", () => {
  test("a mail arrives with its text, its HTML and a Message-ID made of its id", async () => {
    const sent = await createMailer(plainServer(mailServer)).send(mail())
    expect(sent).toEqual({ result: "delivered" })
    const [received] = mailServer.received
    expect(received).toMatchObject({ from: "reports@example.com", to: ["bo@example.org"] })
    const read = await parsed(received!)
    expect(read.text).toBe("plain ✓\n.\nend\n")
    expect(read.html).toBe("<p>rich ✓</p>")
    expect(read.messageId).toBe("<msg_1@example.com>")
    expect(read.from?.text).toBe('"Appmeter" <reports@example.com>')
    expect(read.date?.toISOString()).toBe("2026-11-30T08:00:00.000Z")
    expect(read.headers.get("auto-submitted")).toBe("auto-generated")
    expect(read.headers.has("list-unsubscribe")).toBe(false)
  })

  slow("a mail offers one-click unsubscribe only if its unsubscribe URL begins with https", async () => {
    const mailer = createMailer(plainServer(mailServer))
    await mailer.send(mail({ unsubscribeUrl: "https://ranks.example.com/unsubscribe/abc" }))
    await mailer.send(mail({ unsubscribeUrl: "http://10.0.0.1/unsubscribe/abc" }))
    const raws = mailServer.received.map(({ raw }) => raw.split("\r\n\r\n")[0]!)
    expect(raws[0]).toContain("List-Unsubscribe: <https://ranks.example.com/unsubscribe/abc>")
    expect(raws[0]).toContain("List-Unsubscribe-Post: List-Unsubscribe=One-Click")
    expect(raws[1]).toContain("List-Unsubscribe: <http://10.0.0.1/unsubscribe/abc>")
    expect(raws[1]).not.toContain("List-Unsubscribe-Post")
  })

  test("line breaks in the subject, sender or id add no header to a mail", async () => {
    const evil = "Hi\r\nBcc: eve@evil.example\r\n\r\n<script>\u2028X: y\0\u202egnp"
    const from = { name: "App\r\nBcc: eve@evil.example", address: "reports@example.com" }
    await createMailer(plainServer(mailServer, { from })).send(
      mail({ subject: evil, id: "a>\r\nBcc: eve@evil.example" }),
    )
    const [received] = mailServer.received
    expect(received!.to).toEqual(["bo@example.org"])
    const { headers, subject } = await parsed(received!)
    expect(headers.has("bcc")).toBe(false)
    expect(headers.has("x")).toBe(false)
    expect(subject).toBe("Hi Bcc: eve@evil.example <script> X: y gnp")
    expect([...headers.keys()].sort()).toEqual([
      "auto-submitted",
      "content-type",
      "date",
      "from",
      "message-id",
      "mime-version",
      "subject",
      "to",
      "x-auto-response-suppress",
    ])
  })
})

describe("the connection", () => {
  test("the connection is encrypted by STARTTLS before user and password are sent", async () => {
    const server = plainServer(mailServer, { needsTls: true, login: LOGIN, ca: AUTHORITY, servername: "example.test" })
    expect(await createMailer(server).send(mail())).toEqual({ result: "delivered" })
    expect(mailServer.received[0]).toMatchObject({ isSecure: true, user: "ada" })
  })

  slow("the connection is refused if it must be encrypted and the server does not offer encryption", async () => {
    const open = await startMailServer({ disabledCommands: ["STARTTLS"] })
    const mailer = createMailer(plainServer(open, { needsTls: true, login: LOGIN }))
    expect(messageOf(await errorOf(mailer.check()))).toContain("no encrypted connection could be made")
    expect((await mailer.send(mail())).result).toBe("failed")
    expect(open.received).toEqual([])
    await open.stop()
  })

  test("the connection is refused if the certificate is not trusted", async () => {
    const mailer = createMailer(plainServer(mailServer, { needsTls: true, servername: "example.test" }))
    expect(messageOf(await errorOf(mailer.check()))).toContain("check its certificate")
  })

  slow("a check of the connection includes the login, and its error does not show the password", async () => {
    const bad = { user: "ada", password: "wrong-secret" }
    const server = { needsTls: true, ca: AUTHORITY, servername: "example.test" }
    const message = messageOf(await errorOf(createMailer(plainServer(mailServer, { ...server, login: bad })).check()))
    expect(message).toContain("it rejected the user name or password")
    expect(message).not.toContain("wrong-secret")
    await createMailer(plainServer(mailServer, { ...server, login: LOGIN })).check()
  })

  test("a connection to a port without a mail server fails with the address", async () => {
    const mailer = createMailer(plainServer({ ...mailServer, port: 1 }))
    expect(messageOf(await errorOf(mailer.check()))).toBe("127.0.0.1, port 1: no mail server answers there")
  })
})

describe("the outcome", () => {
  slow(
    "a permanent refusal of an address has the outcome refused, and a temporary refusal the outcome failed",
    async () => {
      mailServer.refuse.set("bo@example.org", 550).set("eve@example.org", 451)
      const mailer = createMailer(plainServer(mailServer))
      expect(await mailer.send(mail())).toEqual({
        result: "refused",
        failure: "status 550: the mail server does not accept mail for this address",
      })
      expect((await mailer.send(mail({ to: "eve@example.org" }))).result).toBe("failed")
    },
  )

  test("the outcome is unknown if the connection ends after the mail was handed over", async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const stop = new AbortController()
    mailServer.beforeAnswer = () => {
      stop.abort()
      return promise
    }
    const sent = await createMailer(plainServer(mailServer)).send(mail(), { signal: stop.signal })
    expect(sent.result).toBe("unknown")
    expect(mailServer.received).toHaveLength(1)
    resolve()
  })

  test("the outcome is failed if the server refuses the mail after reading it", async () => {
    mailServer.beforeAnswer = async () => {
      throw Object.assign(new Error("spam"), { responseCode: 554 })
    }
    expect(await createMailer(plainServer(mailServer)).send(mail())).toEqual({
      result: "failed",
      failure: "status 554: the mail server refused the mail",
    })
  })

  slow("begin runs only when the server is ready for the mail, and no mail is sent if begin throws", async () => {
    const begun: string[] = []
    const begin = async () => {
      begun.push("begun")
      throw new Error("not recorded")
    }
    mailServer.refuse.set("eve@example.org", 550)
    const mailer = createMailer(plainServer(mailServer))
    await mailer.send(mail({ to: "eve@example.org" }), { begin })
    expect(begun).toEqual([])
    expect(messageOf(await errorOf(mailer.send(mail(), { begin })))).toBe("not recorded")
    expect(mailServer.received).toEqual([])
  })
})

describe("addresses", () => {
  test.each([
    ["ada@example.org", "ada@example.org"],
    [" Ada.L+x@EXAMPLE.org ", "Ada.L+x@example.org"],
    ["ada@localhost", null],
    ["ada@example.org,eve@evil.example", null],
    ["ada@example.org\r\nRCPT TO:<eve@evil.example>", null],
    ['"a b"@example.org', null],
    ["<ada@example.org>", null],
    ["ada@exa mple.org", null],
    [`${"a".repeat(65)}@example.org`, null],
    ["ada@münchen.example", null],
    ["ada..l@example.org", null],
  ])("the address %j is parsed as %j", (typed, address) => {
    expect(mailAddressOf(typed)).toBe(address)
  })

  test("a sender is parsed as a name and an address, or as only an address", () => {
    expect(mailboxOf("Appmeter <a@example.org>")).toEqual({ name: "Appmeter", address: "a@example.org" })
    expect(mailboxOf('"App, Inc." <a@example.org>')).toEqual({ name: "App, Inc.", address: "a@example.org" })
    expect(mailboxOf("a@example.org")).toEqual({ name: "", address: "a@example.org" })
    expect(mailboxOf("App\r\nBcc: x <a@example.org>")).toBeNull()
  })
})
