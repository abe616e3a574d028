import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type EmbeddedDatabase, openEmbedded } from "../../src/database/embedded/open.ts"
import { silentLog } from "../../src/lib/log.ts"
import { long, slow } from "../long.ts"
import { answer, appmeter, dataFolder, openFolder, removeFolders, scratch } from "./child.ts"

setDefaultTimeout(60_000)

let env: { DATA_DIR: string }
/** Opens the database like a server: commands go through its socket. */
let database: EmbeddedDatabase

beforeAll(async () => {
  env = await dataFolder()
  database = await openEmbedded({ dataDir: env.DATA_DIR, as: "server", log: silentLog })
})
afterAll(async () => {
  await database.close()
  removeFolders()
})

const run = (args: string[], stdin?: string) => appmeter(args, { env, ...(stdin !== undefined && { stdin }) })
const ask = (args: string[]) => answer(args, { env })

describe("workspaces", () => {
  test("a command that needs a workspace shows how to create one", async () => {
    const { code, err } = await run(["key", "create"])
    expect([code, err]).toEqual([
      1,
      "appmeter: there is no workspace yet; create one with: appmeter workspace create NAME\n",
    ])
  })

  test("workspaces are created, changed and listed", async () => {
    const created = await ask([
      "workspace",
      "create",
      "acme",
      "--plan",
      "studio",
      "--limit",
      "credits=70",
      "--pack",
      "5",
    ])
    expect(created.workspace).toMatchObject({
      name: "acme",
      plan: "studio",
      overrides: { credits: 70 },
      explorer: false,
    })
    expect(created.workspace.credits).toMatchObject({ used: 0, limit: 75, packCredits: 5 })
    const set = [
      "--plan",
      "pro",
      "--limit",
      "credits=plan",
      "--add-pack",
      "1",
      "--explorer",
      "yes",
      "--suspended",
      "yes",
    ]
    const { workspace } = await ask(["workspace", "set", "acme", ...set])
    expect(workspace).toMatchObject({ plan: "pro", overrides: {}, explorer: true, credits: { limit: 10_006 } })
    expect(workspace.suspendedAt).toBeString()
    expect((await ask(["workspace", "set", "acme", "--suspended", "no"])).workspace.suspendedAt).toBeNull()
    expect((await ask(["workspace", "list"])).workspaces).toHaveLength(1)
    const { out } = await run(["workspace", "list"])
    expect(out).toMatch(/^ID +NAME +PLAN .*\n1 +acme +pro +yes +0 +10006 +6 +active\n$/)
  })

  test("an unknown workspace, an unknown plan and a duplicate name are refused with a one-line error", async () => {
    for (const [args, line] of [
      [["workspace", "create", "acme"], 'there is already a workspace named "acme"'],
      [["workspace", "create", "b", "--plan", "gold"], "the plan must be one of free, pro, studio, enterprise"],
      [["workspace", "set", "nobody", "--plan", "pro"], 'there is no workspace named "nobody"'],
      [["key", "list", "--workspace", "nobody"], 'there is no workspace named "nobody"'],
    ] as const) {
      expect(await run([...args])).toEqual({ code: 1, out: "", err: `appmeter: ${line}\n` })
    }
  })

  test("a command without --workspace is refused if there are several workspaces", async () => {
    await ask(["workspace", "create", "other"])
    const { code, err } = await run(["key", "create"])
    expect([code, err]).toEqual([
      2,
      'appmeter: there are several workspaces. Choose one with --workspace: "acme", "other"\n',
    ])
  })

  test("without a terminal, a workspace is deleted only with --force, and stdin is not read", async () => {
    const refused = await run(["workspace", "delete", "other"])
    expect(refused.code).toBe(1)
    expect(refused.err).toBe(
      'appmeter: Deleting the workspace "other" cannot be undone. ' +
        "Nothing was done. To skip this question, add --force\n",
    )
    expect((await run(["workspace", "delete", "other"], "yes\n")).code).toBe(1)
    expect((await ask(["workspace", "list"])).workspaces).toHaveLength(2)
    expect(await ask(["workspace", "delete", "other", "--force"])).toMatchObject({
      deleted: { apps: 0, name: "other" },
    })
    expect((await ask(["workspace", "list"])).workspaces).toHaveLength(1)
  })
})

describe("keys", () => {
  test("a new key is printed once, alone on stdout, and never stored", async () => {
    const live = await run(["key", "create", "--name", "ci"])
    expect(live.code).toBe(0)
    expect(live.out).toMatch(/^svc_live_[0-9A-Za-z]{36}\n$/)
    expect(live.err).toBe("Save it now: it is not stored and cannot be shown again.\n")
    const secret = live.out.trim()
    const { keys } = await ask(["key", "list"])
    expect(keys).toHaveLength(1)
    expect(keys[0]).toMatchObject({
      id: 1,
      kind: "live",
      name: "ci",
      state: "usable",
      hint: `svc_live_…${secret.slice(-4)}`,
    })
    // without the last characters, which are the hint
    const random = secret.slice(9, -6)
    expect(await dump()).toContain("svc_live_")
    expect(await dump()).not.toContain(random)
    expect(filesWith(env.DATA_DIR, random)).toEqual([])
    expect(filesWith(env.DATA_DIR, "svc_live_").length).toBeGreaterThan(0)
  })

  test("a key is created with the given scopes, addresses, budget and expiry date", async () => {
    const narrow = ["--scope", "apps:read", "--scope", "hive:measure", "--ip", "192.0.2.0/24", "--budget", "10"]
    const { key, secret } = await ask(["key", "create", "--test", ...narrow, "--expires", "2999-12-31"])
    expect(secret).toMatch(/^svc_test_/)
    expect(key).toMatchObject({
      kind: "test",
      name: "test",
      scopes: ["apps:read", "hive:measure"],
      ipAllowList: ["192.0.2.0/24"],
      monthlyBudget: 10,
      expiresAt: "2999-12-31T00:00:00.000Z",
    })
    const { code, err } = await run(["key", "create", "--app", "app_nobody"])
    expect([code, err]).toEqual([1, 'appmeter: the workspace has no app with id "app_nobody"\n'])
  })

  test("keys are paused, resumed, revoked and reported as leaked", async () => {
    expect((await ask(["key", "pause", "1"])).key.state).toBe("paused")
    expect((await ask(["key", "resume", "1"])).key.state).toBe("usable")
    const refused = await run(["key", "revoke", "1"])
    expect(refused.code).toBe(1)
    expect(refused.err).toContain("Revoking key 1 (ci, svc_live_…")
    expect((await ask(["key", "list"])).keys[0].state).toBe("usable")
    expect((await ask(["key", "revoke", "1", "--force"])).key.state).toBe("revoked")
    const { secret, key } = await ask(["key", "create"])
    const leaked = await run(["key", "leaked", "-", "--force", "--json"], `${secret}\n`)
    expect(JSON.parse(leaked.out).key).toMatchObject({ id: key.id, state: "leaked" })
    expect((await run(["key", "leaked", "9999", "--force"])).err).toBe("appmeter: there is no key with id 9999\n")
  })
})

describe("apps", () => {
  let id: string

  test("apps are added with keywords and listed", async () => {
    const added = await ask([
      "app",
      "add",
      "Tide Times",
      "--ios",
      "1234567890",
      "--country",
      "us",
      "--country",
      "GB",
      "--keyword",
      "Tides",
    ])
    id = added.app.id
    expect(added.app).toMatchObject({
      name: "Tide Times",
      iosId: "1234567890",
      countries: ["us", "gb"],
      keywords: 2,
      origin: "own",
    })
    expect((await ask(["app", "list"])).apps).toEqual([added.app])
  })

  test("keywords are added, tagged, buried and removed", async () => {
    expect(await ask(["app", "keywords", "add", id, "tides", "high water"])).toEqual({
      added: ["high water"],
      alreadyTracked: ["tides"],
    })
    expect(await ask(["app", "keywords", "remove", id, "tides", "moon", "--country", "gb"])).toEqual({
      removed: ["tides"],
      notTracked: ["moon"],
    })
    expect((await ask(["app", "list"])).apps[0].keywords).toBe(3)
    await ask(["app", "tag", id, "tides", "--tag", "core", "--tag", "q4"])
    await ask(["app", "bury", id, "free games"])
    await ask(["app", "goal", id, "rank"])
    expect(await appRow(id)).toMatchObject({
      keyword_tags: { tides: ["core", "q4"] },
      buried_keywords: ["free games"],
      goal: "rank",
    })
    await ask(["app", "tag", id, "tides", "--none"])
    await ask(["app", "goal", id, "none"])
    expect(await appRow(id)).toMatchObject({ keyword_tags: null, goal: null })
  })

  test("keywords over the workspace's limit are refused, and the error shows how to raise the limit", async () => {
    await ask(["workspace", "set", "acme", "--limit", "trackedKeywords=4"])
    const { code, err } = await run(["app", "keywords", "add", id, "a", "b"])
    expect([code, err]).toEqual([
      1,
      "appmeter: the workspace is limited to 4 tracked keywords; " +
        'raise the limit with: appmeter workspace set "acme" --limit trackedKeywords=7\n',
    ])
    expect((await ask(["app", "list"])).apps[0].keywords).toBe(3)
  })

  test("an app is removed only with --force", async () => {
    expect((await run(["app", "remove", id])).code).toBe(1)
    expect(await ask(["app", "remove", id, "--force"])).toEqual({ removed: { id, name: "Tide Times" } })
    expect((await run(["app", "remove", id, "--force"])).err).toBe(
      "appmeter: no tracked app matches; see: appmeter app list\n",
    )
  })
})

describe("import", () => {
  const readingLine = (day: string) =>
    JSON.stringify({
      kind: "search",
      source: "import",
      platform: "ios",
      storefront: "us",
      term: "tides",
      seenAt: `${day}T03:25:01Z`,
      results: [{ id: "897446215", name: "Canva" }, { id: "1234567890" }],
    })
  const bytes = Buffer.concat([
    Buffer.from(`${readingLine("2025-10-25")}\r\nnonsense\n\n${readingLine("2025-10-24")}\n{"kind":"search"}\n`),
    Buffer.from([0x22, 0xff, 0x22, 0x0a]),
    Buffer.from(readingLine("2025-10-23")),
  ])
  const file = join(scratch(), "readings.jsonl")

  test("an import stores valid lines and reports invalid ones by number", async () => {
    writeFileSync(file, bytes)
    const { code, out, err } = await run(["import", file])
    expect([code, out]).toEqual([0, "6 lines read: 3 recorded, 0 known already, 0 failed reads, 3 invalid\n"])
    expect(err.split("\n").map((line) => line.split(":")[0])).toEqual(["line 2", "line 5", "line 6", ""])
  })

  long("a large import refreshes the table statistics of the query planner", async () => {
    const reviews = Array.from({ length: 2_000 }, (_, i) => ({
      id: String(i + 1),
      stars: 5,
      text: `t${i}`,
      at: new Date(Date.UTC(2025, 9, 1) - i * 6e4).toISOString(),
    }))
    const head = { kind: "reviews", source: "apple-reviews", platform: "ios", storefront: "us", storeId: "1111111111" }
    const half = (seenAt: string, from: number) =>
      JSON.stringify({ ...head, seenAt, reviews: reviews.slice(from, from + 1_000) })
    const lines = `${half("2025-10-25T03:25:01Z", 0)}\n${half("2025-10-26T03:25:01Z", 1_000)}\n`
    const readEstimate = async () => {
      const [row] = await database.sql<
        { n: number }[]
      >`select reltuples::int as n from pg_class where relname = 'review_version'`
      return row!.n
    }
    expect(await readEstimate()).toBeLessThan(1)
    expect((await run(["import", "-"], lines)).code).toBe(0)
    // the table at most doubles before it is analysed again
    expect(await readEstimate()).toBeGreaterThanOrEqual(1_000)
  })

  test("a repeated import changes nothing; --json lists invalid lines, and --strict makes them a failure", async () => {
    const repeated = await run(
      ["import", "-", "--json", "--strict"],
      readFileSync(file, "latin1").replace("\u00ff", ""),
    )
    expect(repeated.code).toBe(1)
    expect(repeated.err).toBe("")
    expect(JSON.parse(repeated.out)).toMatchObject({
      read: 6,
      recorded: 0,
      known: 3,
      bad: [{ line: 2 }, { line: 5 }, { line: 6 }],
    })
  })

  test("an import exits with 1 if no line is valid, and with 0 if its input is empty", async () => {
    expect((await run(["import", "-"], "nonsense\n\n{}\n")).code).toBe(1)
    expect((await run(["import", "-"], "\n")).code).toBe(0)
  })

  test("an import of a gzip file is refused, and the error shows the command to type", async () => {
    const packed = join(scratch(), "readings.jsonl.gz")
    writeFileSync(packed, Bun.gzipSync(bytes))
    const line = "appmeter: the file is compressed with gzip; use: zcat FILE | appmeter import -\n"
    expect(await run(["import", packed])).toEqual({ code: 1, out: "", err: line })
  })

  test("an import of a missing file or of a folder fails with a one-line error", async () => {
    expect((await run(["import", "/nonexistent.jsonl"])).err).toBe("appmeter: there is no file /nonexistent.jsonl\n")
    expect((await run(["import", env.DATA_DIR])).err).toBe(`appmeter: ${env.DATA_DIR} is a folder; give a file\n`)
  })
})

long(
  "the demo is loaded and removed",
  async () => {
    const env = await dataFolder()
    const server = await openFolder(env)
    const [run, ask] = [(args: string[]) => appmeter(args, { env }), (args: string[]) => answer(args, { env })]
    await ask(["workspace", "create", "acme", "--plan", "studio"])
    const { apps, recorded } = await ask(["demo", "load"])
    // store readings, ninety days of the invented console and ads, and the invented app's month of four keywords
    const demoReadings = 69 + 4 * 24
    expect([apps.length, recorded > demoReadings + 90]).toEqual([5, true])
    expect((await run(["demo", "remove"])).code).toBe(1)
    const { removed } = await ask(["demo", "remove", "--force"])
    expect([removed, removed.readings > demoReadings]).toEqual([
      { apps: 5, readings: expect.any(Number), accounts: 2, kept: [] },
      true,
    ])
    expect((await ask(["app", "list"])).apps).toEqual([])
    await server.close()
  },
  180_000,
)

slow("without a server, a command creates and migrates a new data folder, and later commands use it", async () => {
  const options = { env: { DATA_DIR: join(scratch(), "new") } }
  const { code, out, err } = await appmeter(["workspace", "create", "acme", "--json"], options)
  expect([code, err]).toEqual([0, `appmeter: creating a database in ${options.env.DATA_DIR}\n`])
  expect(JSON.parse(out).workspace.name).toBe("acme")
  expect((await appmeter(["key", "create"], options)).out).toMatch(/^svc_live_/)
})

test("migrate applies nothing to a migrated database", async () => {
  expect(await ask(["migrate"])).toEqual({ applied: [] })
})

/** Returns every row of every table as text. */
async function dump(): Promise<string> {
  const { sql } = database
  const tables = await sql<{ name: string }[]>`
    select relname as name from pg_class
    where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace
    order by 1`
  let text = ""
  for (const { name } of tables) {
    const rows = await sql<{ row: string }[]>`select t::text as row from ${sql(name)} t`
    text += rows.map(({ row }) => row).join("\n")
  }
  await sql`checkpoint`
  return text
}

async function appRow(id: string) {
  const [row] = await database.sql`select * from tracked_app where id = ${id}`
  return row
}

/**
 * Returns the files in a folder that contain the text. Skips the lock file: closing it once would release the lock
 * (POSIX).
 */
function filesWith(folder: string, text: string): string[] {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
  return names
    .filter(
      (entry) =>
        entry.isFile() &&
        entry.name !== "server.lock" &&
        readFileSync(join(entry.parentPath, entry.name)).includes(text),
    )
    .map(({ name }) => name)
}
