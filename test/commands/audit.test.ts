import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { type EmbeddedDatabase, openEmbedded } from "../../src/database/embedded/open.ts"
import { silentLog } from "../../src/lib/log.ts"
import { slow } from "../long.ts"
import { rename } from "../measuring/record/measured.ts"
import { openService } from "../service.ts"
import { answer, appmeter, dataFolder, openFolder, removeFolders } from "./child.ts"

setDefaultTimeout(60_000)

let env: { DATA_DIR: string }
let database: EmbeddedDatabase
/** Confirmed writes, oldest first. */
const confirmed: { appId: string; requestId: string }[] = []

beforeAll(async () => {
  env = await dataFolder()
  database = await openEmbedded({ dataDir: env.DATA_DIR, as: "server", log: silentLog })
  const service = openService({ sql: database.sql })
  const key = await service.key(await service.workspace(), { name: "writer" })
  const post = (path: string, body: object) => service.call(path, { key, method: "POST", body })
  for (const name of ["Kettle", "Snaps\u009b2J"]) {
    const iosId = String(389_801_252 + confirmed.length)
    await database.sql`
      insert into store_app (platform, store_id)
      values ('ios', ${iosId})`
    await rename(database.sql, iosId, name)
    const { confirmToken } = (await post("/v1/actions", { action: "add_app", args: { iosId } })).body
    const { body, headers } = await post("/v1/actions/confirm", { confirmToken })
    confirmed.push({ appId: body.result.appId, requestId: headers.get("x-request-id") as string })
  }
})
afterAll(async () => {
  await database.close()
  removeFolders()
})

const run = (...args: string[]) => appmeter(["audit", ...args], { env })
const ask = (...args: string[]) => answer(["audit", ...args], { env })

test("the command audit lists writes newest first, one per line, without control characters", async () => {
  const { code, out, err } = await run()
  expect([code, err]).toEqual([0, ""])
  const [head, second, first, ...rest] = out.split("\n")
  expect(head).toMatch(/^TIME +WORKSPACE +KEY +ACTION +TARGET +CREDITS +REQUEST +SUMMARY$/)
  expect(first).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z +workspace .* writer svc_live_….{4} +add_app +store 389801252 +2 +/)
  expect(first).toEndWith(`${confirmed[0]?.requestId}  Track "Kettle" in the US.`)
  expect(second).toEndWith(`${confirmed[1]?.requestId}  Track "Snaps�2J" in the US.`)
  expect(rest).toEqual([""])
  expect(out).not.toContain("\u009b")
})

test("audit --json prints one complete document", async () => {
  const { writes } = await ask()
  expect(writes.map(({ requestId }: { requestId: string }) => requestId)).toEqual(
    confirmed.map(({ requestId }) => requestId).reverse(),
  )
  expect(writes[1]).toEqual({
    at: expect.stringMatching(/Z$/),
    workspace: expect.any(String),
    key: { id: 1, name: "writer", hint: expect.stringMatching(/^svc_live_….{4}$/) },
    action: "add_app",
    target: expect.stringMatching(/^store 389801252\b/),
    appId: confirmed[0]?.appId,
    summary: 'Track "Kettle" in the US.',
    credits: 2,
    requestId: confirmed[0]?.requestId,
    jobId: null,
    approvedBy: null,
  })
})

test("audit --limit and --app narrow the list", async () => {
  expect((await ask("--limit", "1")).writes).toMatchObject([{ requestId: confirmed[1]?.requestId }])
  const appId = confirmed[0]?.appId as string
  expect((await ask("--app", appId)).writes).toMatchObject([{ appId }])
  expect((await ask("--app", "app_nowhere")).writes).toEqual([])
})

test("the command audit changes no data", async () => {
  const readEverything = async () =>
    JSON.stringify(await database.sql`select t::text from audit t order by 1`) +
    JSON.stringify(await database.sql`select t::text from confirm_token t order by 1`) +
    JSON.stringify(await database.sql`select t::text from account t order by 1`) +
    JSON.stringify(await database.sql`select t::text from ledger t order by 1`)
  const before = await readEverything()
  await run()
  await ask("--limit", "1000")
  expect(await readEverything()).toBe(before)
})

test("audit exits with 2 on wrong usage and with 1 on an unknown workspace, with a one-line error", async () => {
  for (const limit of ["0", "1001"])
    expect(await run("--limit", limit)).toEqual({ code: 2, out: "", err: "appmeter: --limit must be 1 to 1000\n" })
  expect((await run("--limit", "ten")).err).toBe("appmeter: --limit must be a whole number\n")
  expect((await run("--aap", "x")).err).toBe("appmeter: unknown option --aap; did you mean --app?\n")
  const nobody = await run("--workspace", "nobody")
  expect(nobody).toEqual({ code: 1, out: "", err: 'appmeter: there is no workspace named "nobody"\n' })
})

slow("audit lists operator commands with their user and result, without secrets", async () => {
  const ownFolder = await dataFolder()
  const holder = await openFolder(ownFolder)
  const runIn = (...args: string[]) => appmeter(args, { env: ownFolder })
  await runIn("workspace", "create", "own", "--plan", "pro")
  await runIn("workspace", "set", "nobody", "--plan", "studio")
  await runIn("workspace", "list")
  await runIn("channel", "add", "webhook", "https://user:canary@hooks.example.com/canary?token=canary")
  await runIn("key", "leaked", `svc_live_${"Canary0123456789".repeat(3).slice(0, 36)}`, "--force")
  const { commands } = await answer(["audit"], { env: ownFolder })
  expect(commands.map(({ command, exitCode }: { command: string; exitCode: number }) => [command, exitCode])).toEqual([
    ["key leaked", 1],
    ["channel add webhook", 1],
    ["workspace set", 1],
    ["workspace create", 0],
  ])
  expect(commands.at(-1)).toMatchObject({ actor: expect.stringMatching(/.@./), typed: "own --plan pro" })
  expect(JSON.stringify(commands).toLowerCase()).not.toContain("canary")
  const { out } = await runIn("audit")
  expect(out).toMatch(/ON THE MACHINE +ENDED +COMMAND\n/)
  expect(out).toMatch(/ done +workspace create own --plan pro\n/)
  await holder.close()
})
