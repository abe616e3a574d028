import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { openMachine } from "../../../src/commands/process/machine.ts"
import type { Machine } from "../../../src/pages/settings/machine.ts"
import type { Browser } from "../../access/sign-in/browser.ts"
import { freshDatabase } from "../../database.ts"
import { openService, type Service } from "../../service.ts"
import { ownerOf } from "../app-scene.ts"
import { NO_PORTS } from "./ports.ts"
import { settingsBrowser } from "./settings-browser.ts"

setDefaultTimeout(60_000)

const DATA = "/app/settings/data"
const HEALTH = "/app/settings/health"
const NAME = "appmeter-20261129T120000Z.backup"

let service: Service
let owner: Browser
let folder: string

beforeAll(async () => {
  folder = `/tmp/appmeter-machine-${crypto.randomUUID()}`
  for (const name of ["backups", "nights"]) mkdirSync(join(folder, name), { recursive: true })
  writeFileSync(join(folder, "secret.txt"), "never shown")
  const machine: Machine = {
    ...openMachine({ dataDir: folder, backupDir: join(folder, "nights") }),
    backUp: async () => {
      writeFileSync(join(folder, "backups", NAME), "a backup")
    },
    examine: async () => [
      { thing: "disk", state: "problem", says: "12 MB <free>", fix: "free some space" },
      { thing: "writer", state: "ok", says: "not set", fix: null },
    ],
  }
  service = openService({ sql: await freshDatabase(), settingsPorts: { ...NO_PORTS, machine } })
  owner = await ownerOf(service, await service.workspace())
})
afterAll(() => rmSync(folder, { recursive: true }))

describe("the machine in the settings", () => {
  test("the operator makes, downloads and deletes a backup", async () => {
    const settings = settingsBrowser(owner, DATA)
    expect((await owner.open(DATA)).text).toContain("No backup was made yet")
    expect((await settings.send("make", {})).headers.get("location")).toBe(`${DATA}?done=made`)
    expect((await owner.open(DATA)).text).toContain(NAME)
    const file = await settings.send("download", { id: NAME })
    expect([file.status, file.text, file.headers.get("content-type")]).toEqual([200, "a backup", "application/gzip"])
    expect(file.headers.get("content-disposition")).toBe(`attachment; filename="${NAME}"`)
    expect((await settings.send("delete", { id: NAME })).text).toContain("Delete this backup?")
    await settings.send("deleted", { id: NAME })
    expect(readdirSync(join(folder, "backups"))).toEqual([])
  })

  test("nightly backups can be listed and downloaded, but not deleted on the page", async () => {
    const settings = settingsBrowser(owner, DATA)
    const nightly = "appmeter-2026-11-28.backup"
    writeFileSync(join(folder, "nights", nightly), "of the night")
    expect((await owner.open(DATA)).text).toMatch(new RegExp(`${nightly}</span>.*nightly`))
    expect((await settings.send("download", { id: nightly })).text).toBe("of the night")
    const refused = await settings.send("deleted", { id: nightly })
    expect([refused.status, readdirSync(join(folder, "nights"))]).toEqual([400, [nightly]])
    rmSync(join(folder, "nights", nightly))
  })

  test("problems of the installation are shown with advice", async () => {
    const { text } = await settingsBrowser(owner, HEALTH).send("check", {})
    expect(text).toContain("12 MB &lt;free&gt;")
    expect(text).toContain("To fix it, free some space.")
    const sizes = await settingsBrowser(owner, DATA).send("measure", {})
    expect([sizes.text.includes("12 MB"), sizes.text.includes("writer")]).toEqual([true, false])
  })
})

describe("attacks on the machine", () => {
  test("a backup name with a path outside the backup folder is refused", async () => {
    const settings = settingsBrowser(owner, DATA)
    for (const id of ["../secret.txt", "secret.txt", "/etc/passwd", `../backups/${NAME}`, ""]) {
      const page = await settings.send("download", { id })
      expect([id, page.status, page.text.includes("never shown")]).toEqual([id, 400, false])
      expect((await settings.send("deleted", { id })).status).toBe(400)
    }
    expect(readdirSync(folder)).toContain("secret.txt")
  })
})
