import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { hash } from "node:crypto"
import { PassThrough } from "node:stream"
import { deleteWorkspace } from "../../src/access/workspaces.ts"
import { processTerminal } from "../../src/commands/cli/terminal.ts"
import { run } from "../../src/commands/run.ts"
import { readTree } from "../../src/database/assets.ts"
import { openEmbedded } from "../../src/database/embedded/open.ts"
import { migrate } from "../../src/database/migrate.ts"
import type { Database, Sql } from "../../src/database/types.ts"
import { silentLog } from "../../src/lib/log.ts"
import { removeOld } from "../../src/measuring/retention/remove-old.ts"
import { RETENTION } from "../../src/recording.ts"
import { monthLine } from "../../src/sharing/export/rows.ts"
import { addParts, createExport, withdrawExport } from "../../src/sharing/export/store.ts"
import { removeApp } from "../../src/tracking/apps.ts"
import { freshDatabase } from "../database.ts"
import { errorOf } from "../error-of.ts"
import { slow } from "../long.ts"
import { openService, PUBLIC_URL, type Service } from "../service.ts"
import { type Sharing, sharing } from "../sharing/share-scene.ts"
import { appmeter, removeFolders, scratch } from "./child.ts"

setDefaultTimeout(60_000)

let sql: Sql
let env: Record<string, string>
/** The embedded database, opened like a server: commands go through its socket. */
let database: Database | undefined
let service: Service
/** "Tea Timer", the only app of its workspace. */
let scene: Sharing
let workspace: string

beforeAll(async () => {
  if (process.env.DATABASE_URL) {
    sql = await freshDatabase()
    const [row] = await sql<{ name: string }[]>`select current_database() as name`
    const url = new URL(process.env.DATABASE_URL)
    url.pathname = row!.name
    env = { DATABASE_URL: url.href }
  } else {
    env = { DATA_DIR: scratch() }
    database = await openEmbedded({ dataDir: env.DATA_DIR, as: "server", log: silentLog })
    sql = database.sql
    await migrate(sql, readTree("sql", ".sql"), silentLog)
  }
  service = openService({ sql })
})

afterAll(async () => {
  await database?.close()
  removeFolders()
})

beforeEach(async () => {
  await sql`truncate export_part, export, share_link`
  scene = await sharing(service)
  const [row] = await sql<{ name: string }[]>`select name from workspace where id = ${scene.writer.workspace}`
  workspace = row!.name
})

/** Runs a command in this process. With `answer`, it runs on a terminal where this answer is typed. */
async function runCommand(args: string[], answer?: string) {
  const stream = () => Object.assign(new PassThrough(), { isTTY: answer !== undefined })
  const [stdin, stdout, stderr] = [stream(), stream(), stream()]
  if (answer !== undefined) stdin.write(`${answer}\n`)
  const written = { out: "", err: "" }
  stdout.on("data", (chunk) => (written.out += chunk))
  stderr.on("data", (chunk) => (written.err += chunk))
  const terminal = processTerminal({ stdin, stdout, stderr } as never, env)
  const refuseRead = () => {
    throw new Error("nothing of the kind is needed")
  }
  const code = await run(args, { env, readFile: refuseRead, terminal, process: {} as never })
  // output arrives one turn of the event loop later
  await new Promise(setImmediate)
  return { code, ...written }
}

const withdraw = (...args: string[]) => runCommand(["link", "withdraw", ...args, "--force"])

async function listLinks(name = workspace) {
  const { code, out, err } = await runCommand(["link", "list", "--workspace", name, "--json"])
  expect([code, err]).toEqual([0, ""])
  return JSON.parse(out).links
}

const handleOf = (token: string, kind = "share") => `${kind}_${hash("sha256", token).slice(0, 8)}`

let callers = 0

/** Opens a path like a browser, each time from another address. */
async function open(path: string) {
  const response = await service.app.fetch(new Request(PUBLIC_URL + path), `10.0.0.${++callers}`)
  return { status: response.status, text: await response.text() }
}

const unknown = (path: string) => open(`/${path.split("/")[1]}/${"A".repeat(43)}`)

/** Creates an export of the app. Each part is one keyword's month. */
async function addExport(parts = 1, appId = scene.app) {
  const selection = { appId, dataset: "history", format: "csv", platform: "ios", country: "us" } as const
  const month = new Uint8Array(31).fill(10)
  const lines = Array.from({ length: parts }, (_, place) =>
    monthLine(`keyword ${place}`, "2025-01-01", { ranks: month, sources: month, depths: month }),
  )
  const days = { from: "2025-01-01", to: "2025-01-31", columns: ["day", "term", "rank"], rows: parts * 31 }
  return await sql.begin(async (tx) => {
    const { id, token } = await createExport(tx, scene.writer.workspace, { ...selection, ...days })
    await addParts(tx, id, 0, lines)
    return { id, token, path: `/exports/${token}` }
  })
}

const countLeft = async () => {
  const [row] = await sql<{ exports: number; parts: number }[]>`
    select (select count(*) from export) as exports, (select count(*) from export_part) as parts`
  return { ...row! }
}

describe("the list", () => {
  slow("link list shows handle, app, times and content of open links, oldest first, but never the token", async () => {
    const [page, locked, file] = [
      await scene.share(),
      await scene.share({ password: "hush", days: 2 }),
      await addExport(),
    ]
    await sql`update export set created_at = now() - interval '1 hour'`
    const common = { workspace, appId: scene.app, appName: "Tea Timer", createdAt: expect.any(String) }
    const links = await listLinks()
    expect(links.map(({ kind }: { kind: string }) => kind)).toEqual(["export", "share", "share"])
    for (const link of [
      { handle: handleOf(page.token), kind: "share", ...common, expiresAt: page.expiresAt, hasPassword: false },
      { handle: handleOf(locked.token), kind: "share", ...common, expiresAt: locked.expiresAt, hasPassword: true },
      {
        handle: handleOf(file.token, "export"),
        kind: "export",
        ...common,
        dataset: "history",
        format: "csv",
        rows: 31,
      },
    ]) {
      const found = links.find(({ handle }: { handle: string }) => handle === link.handle)
      expect(found).toEqual({ expiresAt: expect.any(String), ...link })
    }
    expect(Date.parse(links[0].expiresAt) - Date.parse(links[0].createdAt)).toBe(7 * 86_400_000)
    const { out } = await runCommand(["link", "list", "--workspace", workspace])
    const lines = out.trimEnd().split("\n")
    expect(lines[0]).toMatch(/^HANDLE +KIND +WORKSPACE +APP +NAME +CREATED +EXPIRES +CONTENT$/)
    expect(
      lines
        .slice(1)
        .map((line) => line.split(/ {2,}/).at(-1))
        .sort(),
    ).toEqual(["31 rows of history, csv", "a page", "a page with a password"])
    for (const { token } of [page, locked, file]) expect(out + JSON.stringify(links)).not.toContain(token)
  })

  slow("link list includes links of removed apps and omits expired links and links of other workspaces", async () => {
    const [removed, file, old] = [await scene.share(), await addExport(), await addExport()]
    await scene.share()
    await sql`update share_link set created_at = now() - interval '2 s', expires_at = now() - interval '1 s'
      where sha256 = sha256(${removed.token}::bytea)`
    await sql`update export set created_at = now() - interval '7 days' where id = ${old.id}`
    await (await sharing(service)).share()
    await sql.begin((tx) => removeApp(tx, scene.app))
    const links: Record<string, string | null>[] = await listLinks()
    const rows = links.map(({ kind, appId, appName }) => [kind, appId, appName].join(" ")).sort()
    expect(rows).toEqual([`export ${scene.app} `, `share ${scene.app} `])
    for (const { token, kind } of [
      { ...removed, kind: "share" },
      { ...old, kind: "export" },
    ])
      expect((await withdraw(handleOf(token, kind), "--workspace", workspace)).code).toBe(1)
    expect((await open(file.path)).status).toBe(200)
  })
})

describe("a withdrawn link", () => {
  slow("a withdrawn link gets the same response as an unknown link, and other links still work", async () => {
    const [page, other, file, otherFile] = [
      await scene.share(),
      await scene.share(),
      await addExport(),
      await addExport(),
    ]
    for (const { path } of [page, other, file, otherFile]) expect((await open(path)).status).toBe(200)
    for (const [kind, { token, path }] of [
      ["share", page],
      ["export", file],
    ] as const) {
      const handle = handleOf(token, kind)
      const { code, out, err } = await withdraw(handle, "--workspace", workspace, "--json")
      expect([code, err, JSON.parse(out).withdrawn]).toEqual([0, "", expect.objectContaining({ handle, kind })])
      const answered = await open(path)
      expect(answered.status).toBe(404)
      expect(answered).toEqual(await unknown(path))
      expect(await withdraw(handle, "--workspace", workspace)).toEqual({
        code: 1,
        out: "",
        err: `appmeter: the workspace has no open link "${handle}"; see: appmeter link list\n`,
      })
    }
    for (const { path } of [other, otherFile]) expect((await open(path)).status).toBe(200)
    expect(await listLinks()).toHaveLength(2)
    expect(await countLeft()).toEqual({ exports: 1, parts: 1 })
  })

  slow("a link is found by its whole address or its token, in any workspace", async () => {
    const [page, file, remaining] = [await scene.share({ password: "hush" }), await addExport(), await scene.share()]
    const found = await withdraw(`see <https://elsewhere.example${page.path}?utm=1>.`)
    expect(found.out).toContain(handleOf(page.token))
    const otherWorkspace = (await sharing(service)).writer.workspace
    const [other] = await sql<{ name: string }[]>`select name from workspace where id = ${otherWorkspace}`
    const refused = "appmeter: the workspace has no open link with this address"
    expect((await withdraw(`${PUBLIC_URL}${remaining.path}`, "--workspace", other!.name)).err).toStartWith(refused)
    // in a separate process, and with `--` because a token may begin with a dash
    const ended = await appmeter(["link", "withdraw", "--force", "--json", "--", file.token], { env })
    expect([ended.code, ended.err]).toEqual([0, ""])
    expect(JSON.parse(ended.out).withdrawn).toMatchObject({ handle: handleOf(file.token, "export"), workspace })
    expect(
      (await Promise.all([page, file, remaining].map(({ path }) => open(path)))).map(({ status }) => status),
    ).toEqual([404, 404, 200])
    const repeated = await withdraw(`${PUBLIC_URL}${page.path}`)
    expect(repeated).toEqual({
      code: 1,
      out: "",
      err:
        "appmeter: no workspace has an open link with this address: " +
        "it expired, was withdrawn, or belongs to another instance\n",
    })
  })

  slow("a link is withdrawn only after the user confirms", async () => {
    const { token, path } = await scene.share()
    const args = ["link", "withdraw", handleOf(token), "--workspace", workspace]
    const question = `Withdrawing ${handleOf(token)} (a page of Tea Timer) cannot be undone.`
    expect(await runCommand(args)).toMatchObject({ code: 1, err: expect.stringContaining(question) })
    expect(await runCommand(args, "no")).toMatchObject({
      code: 1,
      err: expect.stringContaining("cancelled; nothing was done"),
    })
    expect((await open(path)).status).toBe(200)
    expect((await runCommand(args, "yes")).code).toBe(0)
    expect((await open(path)).status).toBe(404)
  })

  test("a withdrawn link stays closed after its workspace resumes, and a deleted workspace has no links", async () => {
    const [page, file] = [await scene.share(), await addExport()]
    await sql`update workspace set suspended_at = now() where id = ${scene.writer.workspace}`
    expect((await withdraw(page.url)).code).toBe(0)
    await sql`update workspace set suspended_at = null where id = ${scene.writer.workspace}`
    expect([(await open(page.path)).status, (await open(file.path)).status]).toEqual([404, 200])
    await deleteWorkspace(sql, workspace)
    expect((await withdraw(PUBLIC_URL + file.path)).err).toContain("no workspace has an open link with this address")
  })
})

describe("a handle", () => {
  /** Inserts a link whose hash begins with the digits. */
  const addHashed = (digits: string) => sql`
    insert into share_link (sha256, workspace_id, app_id, expires_at, content)
    values (
      ${Buffer.from(digits.padEnd(64, "0"), "hex")}, ${scene.writer.workspace}, ${scene.app},
      now() + interval '1 day', '{}'
    )`

  test("an ambiguous link handle is refused, and the error suggests longer handles", async () => {
    for (const digits of ["abcdef0123", "abcdef0199", "abcdef02", "bcdef0123"]) await addHashed(digits)
    const { id } = await addExport()
    await sql`update export set sha256 = ${Buffer.from("abcdef01".padEnd(64, "0"), "hex")} where id = ${id}`
    const handles = ["export_abcdef01", "share_abcdef012", "share_abcdef019", "share_abcdef02", "share_bcdef012"]
    const now = async () => (await listLinks()).map(({ handle }: { handle: string }) => handle).sort()
    expect(await now()).toEqual(handles)
    expect(await withdraw("share_ABCDEF01", "--workspace", workspace)).toEqual({
      code: 2,
      out: "",
      err: "appmeter: share_abcdef01 matches several links; give more digits: share_abcdef012, share_abcdef019\n",
    })
    expect((await withdraw("share_abcdef0123000", "--workspace", workspace)).code).toBe(0)
    expect((await withdraw("export_abcdef01", "--workspace", workspace)).code).toBe(0)
    expect(await now()).toEqual(["share_abcdef01", "share_abcdef02", "share_bcdef012"])
  })

  test("a malformed or too short link handle is refused as wrong usage", async () => {
    for (const name of [
      "share_abcdef0",
      "abcdef01",
      "page_abcdef01",
      PUBLIC_URL,
      `x${"A".repeat(43)}`,
      "share_xyzxyzxy",
    ])
      expect(await withdraw(name)).toEqual({
        code: 2,
        out: "",
        err:
          "appmeter: give the handle of the link, with at least 8 digits, or its whole address; " +
          "see: appmeter link list\n",
      })
  })
})

describe("an export of many parts", () => {
  slow(
    "a withdrawn export closes immediately, and the clean-up deletes what an interrupted withdrawal left",
    async () => {
      const [{ token, path }, remaining] = [await addExport(25), await addExport()]
      let statements = 0
      const failingSql = new Proxy(sql, {
        apply(target, self, args) {
          if (++statements > 3) throw new Error("cut off")
          return Reflect.apply(target, self, args)
        },
      })
      const error = await errorOf(withdrawExport(failingSql, hash("sha256", token)))
      expect(String(error)).toContain("cut off")
      expect(await countLeft()).toEqual({ exports: 2, parts: 6 })
      expect(await open(path)).toEqual(await unknown(path))
      expect(await withdrawExport(sql, hash("sha256", token))).toBe(false)
      const forEver = { ledgerDays: 0, attemptDays: 0, jobDays: 0, auditDays: 0, alertDays: 0 }
      expect(await removeOld(sql, RETENTION, forEver, { pauseMs: 0 })).toMatchObject({ export: 1, export_part: 5 })
      expect((await open(remaining.path)).status).toBe(200)
    },
  )

  test("withdrawing an export interrupts its readers, and a partial download never looks complete", async () => {
    const { token, path } = await addExport(25)
    const response = await service.app.fetch(new Request(PUBLIC_URL + path), "10.0.1.1")
    const reader = response.body!.getReader()
    await reader.read()
    expect(await withdrawExport(sql, hash("sha256", token))).toBe(true)
    const error = await errorOf(
      (async () => {
        while (!(await reader.read()).done);
      })(),
    )
    expect(String(error)).toContain("the export broke off")
    expect(await countLeft()).toEqual({ exports: 0, parts: 0 })
  })
})
