import { afterAll, afterEach, beforeAll, beforeEach, expect, setDefaultTimeout, test } from "bun:test"
import type { EmbeddedDatabase } from "../../src/database/embedded/open.ts"
import { codeIn } from "../alerts/digest/scene.ts"
import { slow } from "../long.ts"
import { type MailServer, parsed, startMailServer } from "../outbound/mail/mail-server.ts"
import { answer, appmeter, copyOf, dataFolder, openFolder, removeFolders } from "./child.ts"

setDefaultTimeout(60_000)

let mailServer: MailServer
let env: Record<string, string>
let open: EmbeddedDatabase

beforeAll(async () => {
  const folder = copyOf((await dataFolder()).DATA_DIR)
  await answer(["workspace", "create", "studio"], { env: { DATA_DIR: folder } })
  await answer(["person", "add", "ada", "--role", "owner", "--workspace", "studio"], { env: { DATA_DIR: folder } })
  open = await openFolder({ DATA_DIR: folder })
  env = { DATA_DIR: folder }
})
beforeEach(async () => {
  mailServer = await startMailServer()
  env = {
    ...env,
    SMTP_URL: `smtp://ada:p%40ss%20word@127.0.0.1:${mailServer.port}`,
    MAIL_FROM: "Appmeter <reports@example.com>",
  }
})
afterEach(() => mailServer.stop())
afterAll(async () => {
  await open.close()
  removeFolders()
})

const STUDIO = ["--workspace", "studio"]
const run = (args: string[], settings: Record<string, string> = {}) =>
  appmeter(["mail", ...args, ...STUDIO], { env: { ...env, ...settings } })

slow("a person confirms an address with the mailed code and gets a digest and a test message", async () => {
  expect((await run(["test", "ada"])).err).toContain("ada has no confirmed mail address yet")
  expect((await run(["address", "ada", "ada@example.org"])).out).toBe("mailed a code to ada@example.org\n")
  expect((await run(["confirm", "ada", "BCDF-GHJK"])).code).toBe(1)
  expect((await run(["confirm", "ada", await codeIn(mailServer)])).out).toBe("confirmed ada@example.org\n")
  const set = await run(["digest", "ada", "week", "--hour", "7", "--zone", "Europe/Berlin"])
  expect(set.out).toBe("ada: every week at 7:00 Europe/Berlin\n")
  expect((await run(["digest", "ada", "week", "--zone", "Mars/Olympus"])).err).toContain("no such time zone")
  expect((await run(["test", "ada"])).code).toBe(0)
  expect(mailServer.received.map(({ to, user }) => [to[0], user])).toEqual([
    ["ada@example.org", "ada"],
    ["ada@example.org", "ada"],
  ])
  expect((await parsed(mailServer.received[1]!)).subject).toBe("Test message from Appmeter")
  expect((await run(["list"])).out).toMatch(/ada\s+ada@example\.org\s+week, 7:00 Europe\/Berlin/)
  expect((await run(["digest", "ada", "off"])).out).toBe("ada: no summaries\n")
})

test("without a mail server, mail test names the missing settings; doctor does not show a wrong password", async () => {
  expect((await run(["test", "ada"], { SMTP_URL: "", MAIL_FROM: "" })).err).toContain("set SMTP_URL and MAIL_FROM")
  const wrong = { SMTP_URL: `smtp://ada:hushhush@127.0.0.1:${mailServer.port}` }
  const failed = await appmeter(["doctor", "--json"], { env: { ...env, ...wrong } })
  const { findings } = JSON.parse(failed.out) as { findings: { thing: string; state: string; says: string }[] }
  const mail = findings.find(({ thing }) => thing === "mail")
  expect(mail).toMatchObject({ state: "problem", says: expect.stringContaining("rejected the user name or password") })
  expect(failed.out + failed.err).not.toContain("hushhush")
})

test.each([
  [{ SMTP_URL: "mail.example.com" }, "SMTP_URL (hidden): must be an address that begins with smtps:// or smtp://"],
  [{ SMTP_URL: "" }, "SMTP_URL is missing: set it together with MAIL_FROM"],
  [{ MAIL_FROM: "x" }, 'MAIL_FROM is "x": must be an address, or a name and an address between < and >'],
])("the mail settings %j are refused, and the error shows what is allowed", async (settings, message) => {
  const { code, err } = await run(["list"], settings as Record<string, string>)
  expect([code, err.includes(message)]).toEqual([78, true])
})
