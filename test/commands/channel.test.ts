import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Webhook } from "standardwebhooks"
import type { EmbeddedDatabase } from "../../src/database/embedded/open.ts"
import { type Receiver, receiver } from "../alerts/delivery/receiver.ts"
import { SECRET_KEY } from "../alerts/delivery/scene.ts"
import { until } from "../jobs/platform.ts"
import { long, slow } from "../long.ts"
import {
  answer,
  appmeter,
  copyOf,
  dataFolder,
  openFolder,
  removeFolders,
  scratch,
  serving,
  startCommand,
} from "./child.ts"
import { inFolder } from "./filled.ts"

setDefaultTimeout(60_000)
afterAll(removeFolders)

let standIn: Receiver
let studio: string
let env: Record<string, string>
/** The embedded database of all tests that run no server. Each test removes the channels that it added. */
let database: EmbeddedDatabase
let heldFolder: string
const useHeld = () => {
  env.DATA_DIR = heldFolder
}
const useOwn = () => {
  env.DATA_DIR = copyOf(studio)
}
beforeAll(async () => {
  studio = (await dataFolder()).DATA_DIR
  await answer(["workspace", "create", "studio"], { env: { DATA_DIR: studio } })
  heldFolder = copyOf(studio)
  database = await openFolder({ DATA_DIR: heldFolder })
})
beforeEach(() => {
  standIn = receiver()
  env = { SECRET_KEY, ALLOW_PRIVATE_TARGETS: "127.0.0.1", TELEGRAM_API: standIn.url }
})
afterEach(async () => {
  await database.sql`delete from channel`
  await standIn.stop()
})
afterAll(() => database.close())

const TOKEN = "123456789:AAEhushhushHushhushHushhushHushhushHushhush_-1"
const run = (args: string[], stdin?: string) => appmeter(args, { env, ...(stdin !== undefined && { stdin }) })

slow("a webhook is added, tested, rotated and removed, and each of its secrets is shown only once", async () => {
  useHeld()
  const url = `${standIn.url}/hook/whisperwhisper?token=hushhush1234`
  const added = await answer(["channel", "add", "webhook", url], { env })
  expect(added.secret).toMatch(/^whsec_/)
  expect(added.channel).toMatchObject({
    kind: "webhook",
    address: `${standIn.url}/…1234`,
    state: "on",
    lastOk: null,
    waiting: 0,
    undelivered: 0,
  })
  const { id } = added.channel
  expect(await run(["channel", "test", id])).toEqual({ code: 0, out: "delivered\n", err: "" })
  const [request] = standIn.at("/hook/whisperwhisper")
  const body = new Webhook(added.secret).verify(request!.body, request!.headers)
  expect(body).toMatchObject({ type: "channel.test" })

  const rotated = await run(["channel", "rotate", id])
  expect(rotated.out).toMatch(/^whsec_[\w+/]{43}=\n$/)
  expect(rotated.out.trim()).not.toBe(added.secret)
  await run(["channel", "test", id])
  for (const secret of [added.secret, rotated.out.trim()])
    new Webhook(secret).verify(standIn.requests[1]!.body, standIn.requests[1]!.headers)

  const list = await run(["channel", "list"])
  const listed = await answer(["channel", "list"], { env })
  expect(listed.channels).toMatchObject([{ id, lastOk: expect.any(String), earlierSecretUntil: expect.any(String) }])
  const texts = [list.out, JSON.stringify(listed), ...filesOf(env.DATA_DIR!)]
  for (const secret of ["hushhush", "whisper", added.secret, rotated.out.trim()])
    expect(texts.filter((text) => text.includes(secret)).length).toBe(0)
  // the control: the unencrypted host is in these files
  expect(texts.filter((text) => text.includes(standIn.url)).length).toBeGreaterThan(2)
  expect((await run(["channel", "remove", id])).code).toBe(1)
  expect((await run(["channel", "remove", id, "--force"])).code).toBe(0)
  expect((await answer(["channel", "list"], { env })).channels).toEqual([])
})

/** Returns the files of a folder as text. */
function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name)).toString("latin1"))
}

slow("a Telegram bot's token is read from a file or stdin, and is never shown", async () => {
  useHeld()
  const file = join(scratch(), "bot")
  writeFileSync(file, `${TOKEN}\n`)
  const first = await run(["channel", "add", "telegram", "--bot-token-file", file, "--chat", "-100123", "--json"])
  const second = await run(["channel", "add", "telegram", "--bot-token-stdin", "--chat", "@ranks"], `${TOKEN}\n`)
  expect([first.code, second.code]).toEqual([0, 0])
  const { id } = JSON.parse(first.out).channel
  standIn.on(`/bot${TOKEN}/sendMessage`, (_, before) =>
    before === 0 ? new Response(`${TOKEN} may not`, { status: 403 }) : Response.json({ ok: true }),
  )
  const refused = await run(["channel", "test", id])
  expect(refused).toEqual({ code: 1, out: "not delivered: status 403: the bot may not write to this chat\n", err: "" })
  expect((await run(["channel", "test", id])).out).toBe("delivered\n")
  expect(JSON.parse(standIn.requests[1]!.body).chat_id).toBe("-100123")
  const list = await run(["channel", "list", "--json"])
  for (const { out, err } of [first, second, refused, list]) expect(out + err).not.toContain("hushhush")
})

test("a Slack address is read from stdin, and only its host is shown, even after a failed test", async () => {
  useHeld()
  const added = await run(["channel", "add", "slack", "-", "--json"], `${standIn.url}/services/hushhush\n`)
  const { address, id } = JSON.parse(added.out).channel
  expect(address).toBe(`${standIn.url}/…`)
  standIn.on("/services/hushhush", () => new Response("hushhush", { status: 404 }))
  const tested = await run(["channel", "test", id, "--json"])
  expect(tested.code).toBe(1)
  expect(JSON.parse(tested.out)).toMatchObject({ taken: false, failure: expect.stringContaining("status 404") })
  expect(added.out + tested.out + tested.err).not.toContain("hushhush")
})

test("an ntfy channel is added, tested and listed without showing its topic or token", async () => {
  useHeld()
  const file = join(scratch(), "token")
  writeFileSync(file, "tk_hushhush\n")
  const added = await run(["channel", "add", "ntfy", `${standIn.url}/hushhush`, "--token-file", file, "--json"])
  expect(JSON.parse(added.out).channel).toMatchObject({ kind: "ntfy", address: `${standIn.url}/…` })
  expect(JSON.parse(added.out).secret).toBeUndefined()
  const { id } = JSON.parse(added.out).channel
  expect((await run(["channel", "test", id])).out).toBe("delivered\n")
  expect(standIn.requests[0]).toMatchObject({ path: "/hushhush", headers: { authorization: "Bearer tk_hushhush" } })
  const list = await run(["channel", "list", "--json"])
  for (const { out, err } of [added, list]) expect(out + err).not.toContain("hushhush")
})

test.each([
  ["discord", "https://discord.com/api/webhooks/1/hushhush"],
  ["teams", "https://a.logic.azure.com/workflows/1/triggers/manual/paths/invoke?sig=hushhush"],
])("the address of a %s channel is read from stdin, and its secret part is not shown", async (kind, url) => {
  useHeld()
  const added = await run(["channel", "add", kind, "-"], `${url}\n`)
  expect([added.code, added.out.includes(kind), added.out.includes("hushhush")]).toEqual([0, true, false])
})

/** Adds an alert with a rule while no process runs, on a day that the next derivation of alerts does not cover. */
async function foundMeanwhile(): Promise<void> {
  await answer(["key", "create", "--name", "rules"], { env })
  await answer(["app", "add", "Tea", "--ios", "1000000003", "--country", "us"], { env })
  const beforeSeenAt = "2025-11-19T10:00:00Z"
  const facts = { card: "story", id: "1", title: "Slow mornings", source: "apple-app-page", beforeSeenAt }
  await inFolder(env.DATA_DIR!, async (sql) => {
    await sql`
      insert into alert_rule (workspace_id, type, channels, created_by)
      select workspace_id, 'featured', '{webhook}', id from api_key`
    await sql`
      insert into alert (workspace_id, app_id, type, platform, storefront, subject, day, at, facts)
      select workspace_id, id, 'featured', 'ios', 'us', 'story 1', '2025-11-20', now() - interval '3 days',
        ${sql.json(facts)}
      from tracked_app`
  })
}

describe("channels with a server", () => {
  long("a server delivers alerts and stops promptly", async () => {
    useOwn()
    const { secret } = await answer(["channel", "add", "webhook", `${standIn.url}/hook`], { env })
    await foundMeanwhile()
    const server = await serving({ env })
    try {
      await until(() => standIn.requests.length > 0)
      expect(new Webhook(secret).verify(standIn.requests[0]!.body, standIn.requests[0]!.headers)).toMatchObject({
        type: "alert.featured",
        data: { appName: "Tea", sentence: expect.stringContaining("Slow mornings") },
      })
      await until(async () => (await answer(["channel", "list"], { env })).channels[0].lastOk !== null)
    } finally {
      server.kill()
    }
    expect(await server.exited).toBe(0)
    expect(standIn.requests).toHaveLength(1)
  })

  long("a server with DELIVER=no sends no alerts, and appmeter work sends them", async () => {
    useOwn()
    await answer(["channel", "add", "webhook", `${standIn.url}/hook`], { env })
    await foundMeanwhile()
    const server = await serving({ env: { ...env, DELIVER: "no" } })
    await Bun.sleep(2_500)
    server.kill()
    expect(await server.exited).toBe(0)
    expect(standIn.requests).toEqual([])
    const worker = startCommand(["work"], { env })
    await until(() => standIn.requests.length > 0)
    worker.kill("SIGTERM")
    expect(await worker.exited).toBe(0)
  })
})

describe("invalid channel commands", () => {
  test.each([
    [["add", "webhook", "ftp://x.example"], 1, "the address must begin with https:// or http://"],
    [["add", "webhook", "https://me:hushhush@x.example"], 1, "the address must contain no user name or password"],
    [["add", "telegram", "--bot-token-stdin"], 2, "--chat is missing; give the chat that the bot writes to"],
    [
      ["add", "telegram", "--chat", "@ranks"],
      2,
      "give the bot's token with either --bot-token-file or --bot-token-stdin",
    ],
    [["add", "telegram", "--chat", "x y", "--bot-token-stdin"], 1, "a chat is its number, or @ and the channel's name"],
    [["add", "teams", "-"], 1, "the address must begin with https:// or http://"],
    [["add", "ntfy"], 2, "<url> is missing"],
    [
      ["add", "ntfy", "https://ntfy.sh/a", "--token-file", "x", "--token-stdin"],
      2,
      "give the access token with either --token-file or --token-stdin",
    ],
    [["add", "slack", "/nowhere"], 1, "the address must be in a readable file, or in stdin if you give -"],
    [["test", "ch_none"], 1, 'the workspace has no channel "ch_none"; see: appmeter channel list'],
    [["rotate", "ch_none"], 1, 'the workspace has no channel "ch_none"; see: appmeter channel list'],
  ])("an invalid channel command is refused with a one-line error: %p", async (args, code, message) => {
    useHeld()
    const ended = await run(["channel", ...args], TOKEN)
    expect(ended).toEqual({ code, out: "", err: expect.stringContaining(message) })
    expect(ended.err.trimEnd().split("\n")).toHaveLength(1)
    expect(ended.err).not.toContain("hushhush")
  })

  test("no channel is added without SECRET_KEY, and the message says how to create one", async () => {
    useHeld()
    const { SECRET_KEY: _, ...envWithoutKey } = env
    const { code, err } = await appmeter(["channel", "add", "webhook", "https://x.example"], { env: envWithoutKey })
    expect(code).toBe(1)
    expect(err).toContain("this needs SECRET_KEY, which is not set; make one with: head -c 32 /dev/urandom | base64")
  })

  slow("a channel of another workspace is not found", async () => {
    // a separate database, because with two workspaces every other test would have to name one
    useOwn()
    const otherDatabase = await openFolder({ DATA_DIR: env.DATA_DIR! })
    const { channel } = await answer(["channel", "add", "webhook", "https://x.example"], { env })
    await answer(["workspace", "create", "other"], { env })
    for (const command of ["test", "rotate", "remove"]) {
      const { code, err } = await run(["channel", command, channel.id, "--workspace", "other"])
      expect([code, err]).toEqual([1, expect.stringContaining("has no channel")])
    }
    await otherDatabase.close()
  })
})

long("after a server start with a new SECRET_KEY, the channels can be decrypted with the new key alone", async () => {
  useOwn()
  const added = await answer(["channel", "add", "webhook", `${standIn.url}/hook`], { env })
  const next = "m1n2b3v4c5x6z7l8k9j0h1g2f3d4s5a6p7o8i9u0y1t="
  const both = { ...env, SECRET_KEY: next, SECRET_KEY_PREVIOUS: SECRET_KEY }
  const findings = async (env: Record<string, string>) =>
    JSON.parse((await appmeter(["doctor", "--json"], { env })).out).findings.filter(
      ({ thing }: { thing: string }) => thing === "secrets",
    )
  expect(await findings(both)).toMatchObject([{ state: "warning", fix: "run: appmeter secrets reseal" }])
  const server = await serving({ env: both })
  server.kill()
  await server.exited
  expect(server.err()).toContain("secrets_resealed")
  expect(await findings(both)).toMatchObject([{ state: "warning", says: "no stored secret needs SECRET_KEY_PREVIOUS" }])
  expect(await findings({ ...env, SECRET_KEY: next })).toMatchObject([{ state: "ok" }])
  expect(await findings(env)).toMatchObject([{ state: "problem" }])
  expect((await appmeter(["channel", "test", added.channel.id], { env: { ...env, SECRET_KEY: next } })).out).toBe(
    "delivered\n",
  )
  const repeated = await appmeter(["secrets", "reseal", "--json"], { env: both })
  expect(JSON.parse(repeated.out)).toEqual({ resealed: 0, newest: 1, earlier: 0, unreadable: 0, previousMayGo: true })
})

test("an address with a token causes a warning if it is an argument, but not if it comes from stdin", async () => {
  useHeld()
  const token = `${standIn.url}/hook?token=hushhush1234`
  const typed = await run(["channel", "add", "webhook", token])
  expect(typed.err).toContain("warning: the address has a token")
  expect(typed.err).toContain("appmeter channel add webhook - < url.txt")
  expect(typed.err).not.toContain("hushhush")
  expect((await run(["channel", "add", "webhook", "-"], `${standIn.url}/hook/whisperwhisper1234`)).err).not.toContain(
    "warning",
  )
  expect((await run(["channel", "add", "webhook", `${standIn.url}/hook`])).err).not.toContain("warning")
})
