import { expect, setDefaultTimeout } from "bun:test"
import { readTree } from "../../../src/database/assets.ts"
import { openEmbedded } from "../../../src/database/embedded/open.ts"
import { migrate } from "../../../src/database/migrate.ts"
import type { Database } from "../../../src/database/types.ts"
import { silentLog } from "../../../src/lib/log.ts"
import { removeFolders, scratch } from "../../commands/child.ts"
import { runHere } from "../../commands/here.ts"
import { afterSlow, beforeSlow, slow } from "../../long.ts"
import { openService, type Service } from "../../service.ts"
import { browserOf, fieldIn } from "./browser.ts"

setDefaultTimeout(60_000)

let database: Database
let service: Service
let env: Record<string, string>

// A server holds the database, so the commands use its socket.
beforeSlow(async () => {
  env = { DATA_DIR: scratch(), PUBLIC_URL: "https://ranks.example.com" }
  database = await openEmbedded({ dataDir: env.DATA_DIR!, as: "server", log: silentLog })
  await migrate(database.sql, readTree("sql", ".sql"), silentLog)
  service = openService({ sql: database.sql })
  await service.workspace({ name: "acme" })
})

afterSlow(async () => {
  await database.close()
  removeFolders()
})

const run = (args: string[], stdin?: string) => runHere(args, { env, ...(stdin !== undefined && { stdin }) })

slow("the sign-in command prints a code and a link to a form that accepts the code", async () => {
  const { code, out } = await run(["sign-in", "--workspace", "acme"])
  const [typed, url] = out.trim().split("\n")
  expect([code, url]).toEqual([0, `https://ranks.example.com/sign-in?code=${typed}`])
  const browser = browserOf(service)
  const page = await browser.open(url!.slice("https://ranks.example.com".length))
  expect((await browser.send("/sign-in", { code: fieldIn(page, "code")! })).status).toBe(303)
  const json = JSON.parse((await run(["sign-in", "--json"])).out)
  expect(json).toEqual({ workspace: "acme", code: expect.any(String), url: expect.stringContaining(json.code) })
})

slow("the passphrase command generates a passphrase, reads it from stdin or removes it", async () => {
  const generated = (await run(["person", "passphrase", "owner"])).out.trim()
  const trySignIn = async (passphrase: string) => (await browserOf(service).send("/sign-in", { passphrase })).status
  expect(await trySignIn(generated)).toBe(303)
  const result = await run(["person", "passphrase", "owner", "--file", "-"], "correct horse battery\n")
  expect([result.code, result.out, result.err]).toEqual([0, "", ""])
  expect([await trySignIn("correct horse battery"), await trySignIn(generated)]).toEqual([303, 403])
  expect((await run(["person", "passphrase", "owner", "--file", "-"], "short\n")).code).toBe(1)
  expect((await run(["person", "passphrase", "owner", "--remove"])).code).toBe(0)
  expect(await trySignIn("correct horse battery")).toBe(403)
  const audit = JSON.stringify(await database.sql`select command, typed from operator_action`)
  expect(audit).toContain("person passphrase")
  expect(audit).not.toContain("horse")
})

slow("the second-factor command shows the state of a second factor and turns it off", async () => {
  const factor = async (...options: string[]) => await run(["person", "second-factor", "owner", ...options])
  expect([(await factor()).out, (await factor("--off")).code]).toEqual(["off\n", 1])
  await database.sql`
    insert into second_factor (person_id, sealed, confirmed_at, recovery)
    select id, 'v1', now(), array['a', 'b'] from person where name = 'owner'`
  expect((await factor()).out).toBe("on, 2 recovery codes left\n")
  expect([(await factor("--off")).out, (await factor()).out]).toEqual(["off\n", "off\n"])
})

slow("the person and session commands add, list, change, invite and remove people and end sessions", async () => {
  const list = async () => JSON.parse((await run(["person", "list", "--json"])).out).people
  const { code, person } = JSON.parse((await run(["person", "add", "Ada", "--role", "editor", "--json"])).out)
  expect(person).toMatchObject({ name: "Ada", role: "editor", appList: null, isOperator: false })
  const browser = browserOf(service)
  expect((await browser.send("/sign-in", { code })).status).toBe(303)
  const sessions = JSON.parse((await run(["session", "list", "--person", "ada", "--json"])).out).sessions
  expect(sessions).toMatchObject([{ person: "Ada", workspace: "acme" }])
  expect((await browser.open("/app")).status).toBe(200)
  expect((await run(["session", "end", String(sessions[0].id)])).code).toBe(0)
  expect((await browser.open("/app")).status).toBe(303)

  expect((await run(["person", "role", "ada", "viewer", "--operator", "yes"])).code).toBe(0)
  expect(await list()).toMatchObject([
    { name: "owner", role: "owner" },
    { name: "Ada", role: "viewer", isOperator: true },
  ])
  expect(await run(["person", "role", "owner", "viewer"])).toMatchObject({
    code: 1,
    err: expect.stringContaining("a workspace needs at least one person who manages it"),
  })
  const link = (await run(["person", "invite", "Bo", "--role", "viewer"])).out.trim()
  expect(link).toMatch(/^https:\/\/ranks\.example\.com\/invitation\?code=[\w-]{43}$/)
  expect((await browserOf(service).open(link.slice("https://ranks.example.com".length))).text).toContain("acme")
  const [{ id }] = JSON.parse((await run(["person", "list", "--json"])).out).invitations
  expect((await run(["person", "withdraw", String(id)])).code).toBe(0)
  expect((await browserOf(service).open(link.slice("https://ranks.example.com".length))).status).toBe(404)
  expect((await run(["person", "remove", "ADA", "--force"])).code).toBe(0)
  expect(await list()).toMatchObject([{ name: "owner" }])
})
