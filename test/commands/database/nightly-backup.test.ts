import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { createNightlyBackup } from "../../../src/commands/process/nightly-backup.ts"
import type { LogFields, LogLevel } from "../../../src/lib/log.ts"
import { readSettings } from "../../../src/settings/settings.ts"
import { until } from "../../jobs/platform.ts"
import { slow } from "../../long.ts"
import { answer, appmeter, dataFolder, openFolder, removeFolders, scratch } from "../child.ts"

setDefaultTimeout(120_000)
afterAll(removeFolders)

type Line = [level: LogLevel, event: string, fields?: LogFields]

/** Runs the nightly work at a moment until it logs something. */
async function backUpAt(now: string, env: Record<string, string>): Promise<Line> {
  const lines: Line[] = []
  const settings = readSettings(env, (path) => readFileSync(path, "utf8"))
  const log = (...line: Line) => void (/^back/.test(line[1]) && lines.push(line))
  const work = createNightlyBackup({ settings, log }, { firstMs: 0, now: () => new Date(now) })
  work.start()
  await until(() => lines.length > 0)
  await work.stop()
  return lines[0]!
}

/** Returns the findings of doctor about backups. */
async function doctorOf(env: Record<string, string>): Promise<{ state: string; says: string }> {
  const { out } = await appmeter(["doctor", "--json"], { env })
  return JSON.parse(out).findings.find(({ thing }: { thing: string }) => thing === "backups")
}

describe("with BACKUP_DIR", () => {
  slow("a server takes a backup each night while it serves, and the backup restores into a new folder", async () => {
    const env = { ...(await dataFolder()), BACKUP_DIR: join(scratch(), "backups") }
    await answer(["workspace", "create", "studio"], { env })
    const database = await openFolder(env)
    const [level, event, fields] = await backUpAt("2025-11-20T03:01:00Z", env)
    await database.close()
    expect([level, event, fields!.bytes! > 1_000]).toEqual(["info", "backed_up", true])
    expect(readdirSync(env.BACKUP_DIR)).toEqual(["appmeter-2025-11-20.backup"])
    const restored = { DATA_DIR: join(scratch(), "new") }
    await answer(["restore", join(env.BACKUP_DIR, "appmeter-2025-11-20.backup")], { env: restored })
    const { workspaces } = await answer(["workspace", "list"], { env: restored })
    expect(workspaces.map(({ name }: { name: string }) => name)).toEqual(["studio"])
  })

  slow("a nightly backup taken before 03:00 UTC is named after the previous day", async () => {
    const env = { ...(await dataFolder()), BACKUP_DIR: join(scratch(), "backups") }
    await backUpAt("2025-11-20T02:59:00Z", env)
    await backUpAt("2025-11-21T04:00:00Z", env)
    expect(readdirSync(env.BACKUP_DIR).sort()).toEqual(["appmeter-2025-11-19.backup", "appmeter-2025-11-21.backup"])
  })

  slow("the newest seven nightly backups are kept, and other files are left alone", async () => {
    const env = { ...(await dataFolder()), BACKUP_DIR: scratch() }
    for (let day = 10; day < 20; day++) writeFileSync(join(env.BACKUP_DIR, `appmeter-2025-11-${day}.backup`), "old")
    writeFileSync(join(env.BACKUP_DIR, "appmeter.backup"), "taken by hand")
    await backUpAt("2025-11-20T12:00:00Z", env)
    const days = [14, 15, 16, 17, 18, 19, 20].map((day) => `appmeter-2025-11-${day}.backup`)
    expect(readdirSync(env.BACKUP_DIR).sort()).toEqual([...days, "appmeter.backup"])
  })

  slow("a BACKUP_DIR that is a file is logged as a failed backup, and the file stays unchanged", async () => {
    const file = join(scratch(), "file")
    writeFileSync(file, "no folder")
    const env = { ...(await dataFolder()), BACKUP_DIR: file }
    const [level, event, fields] = await backUpAt("2025-11-20T12:00:00Z", env)
    expect([level, event, fields?.reason]).toEqual(["error", "backup_failed", expect.stringContaining("EEXIST")])
    expect(readFileSync(file, "utf8")).toBe("no folder")
  })

  slow("doctor reports the newest backup, and warns if last night's backup is missing", async () => {
    const folder = scratch()
    const env = { ...(await dataFolder()), BACKUP_DIR: folder }
    expect(await doctorOf(env)).toMatchObject({ state: "warning", says: `no nightly backup in ${folder} yet` })
    const old = await backUpAt("2025-11-20T12:00:00Z", env)
    const lateBackup = { state: "warning", says: expect.stringContaining("newest of 2025-11-20") }
    expect([old[1], await doctorOf(env)]).toEqual(["backed_up", expect.objectContaining(lateBackup)])
    await backUpAt(new Date().toISOString(), env)
    expect(await doctorOf(env)).toMatchObject({ state: "ok", says: expect.stringMatching(/^2 verified in .+ bytes$/) })
    expect(await doctorOf({ DATA_DIR: env.DATA_DIR })).toMatchObject({ state: "ok" })
  })
})

describe("backup -", () => {
  slow("the command backup - writes the backup to stdout and its summary to stderr", async () => {
    const { DATA_DIR } = await dataFolder()
    const file = join(scratch(), "piped.backup")
    const main = join(import.meta.dirname, "../../../src/main.ts")
    const child = Bun.spawn([process.execPath, main, "backup", "-"], {
      env: { DATA_DIR, PATH: process.env.PATH ?? "" },
      stdout: Bun.file(file),
      stderr: "pipe",
    })
    expect([await child.exited, await new Response(child.stderr).text()]).toEqual([
      0,
      expect.stringMatching(/^\d+ rows, \d+ bytes\n$/),
    ])
    expect(await answer(["restore", file, "--check"])).toMatchObject({ whole: true })
    const { code, err } = await appmeter(["backup", "-", "--json"], { env: { DATA_DIR } })
    expect([code, err]).toEqual([
      2,
      "appmeter: --json cannot be used with -, because the backup itself goes to stdout\n",
    ])
  })
})
