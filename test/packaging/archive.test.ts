import { afterAll, expect, setDefaultTimeout } from "bun:test"
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { versionOf } from "../../src/database/assets.ts"
import { STORE_HOSTS } from "../../src/lib/upstreams.ts"
import { answer, appmeter, type Serving, serving } from "../commands/child.ts"
import { standingIn } from "../commands/measured-scene.ts"
import { until } from "../jobs/platform.ts"
import { afterSlow, beforeSlow, slow } from "../long.ts"
import { answerSearches, type ShownApp } from "../measuring/store-pages.ts"
import { type ReplayServer, replayServer } from "../stores/parsing/replay.ts"
import { builtProgram } from "./alone.ts"
import { writeRelease } from "./release.ts"

setDefaultTimeout(600_000)

const RELEASED = join(import.meta.dirname, "../commands/database/released")
const APPS: ShownApp[] = ["Tide Times", "Tide Clock", "Surf Report"].map((name, at) => ({
  id: `${1_200_000_001 + at}`,
  name,
  ratings: 1_000 - at,
}))

const scratch = mkdtempSync(join(tmpdir(), "appmeter-archive-"))
const home = join(scratch, "home")
let stores: ReplayServer
/** The program of the archive, started in an empty folder. */
let unpacked: { program: string[]; cwd: string }

beforeSlow(async () => {
  const [cwd, into] = [join(scratch, "empty"), join(scratch, "dist")]
  for (const folder of [cwd, home, into]) mkdirSync(folder)
  copyFileSync((await builtProgram()).file, join(into, "appmeter"))
  await writeRelease(into, `${process.platform}-${process.arch}`, 0)
  const archive = readdirSync(into).find((name) => name.endsWith(".tar.xz"))!
  expect(Bun.spawnSync(["sha256sum", "--check", "--quiet", "SHA256SUMS"], { cwd: into }).exitCode).toBe(0)
  expect(Bun.spawnSync(["tar", "-xJf", join(into, archive), "-C", scratch]).exitCode).toBe(0)
  unpacked = { program: [join(scratch, archive.replace(".tar.xz", ""), "appmeter")], cwd }
  stores = replayServer()
  answerSearches(stores, { apps: APPS, suggests: ["tides"] })
})
afterSlow(() => stores.stop())
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

const environment = (name: string) => ({
  HOME: home,
  DATA_DIR: join(scratch, name),
  MEASURE: "yes",
  UPSTREAM_URLS: standingIn(stores),
  UPSTREAM_GAPS_MS: STORE_HOSTS.map((upstream) => `${upstream}=5`).join(","),
})

async function stopped(server: Serving): Promise<void> {
  server.kill()
  expect(await server.exited).toBe(0)
}

const ranks = async (env: Record<string, string>) => {
  const { out } = await appmeter(["ranks", "--json"], { ...unpacked, env })
  return out.match(/"rank": \d+/g)
}

slow("the release archive alone can start a server, track an app, make a backup and restore it", async () => {
  const env = { ...environment("data"), BACKUP_DIR: join(scratch, "backups") }
  const server = await serving({ ...unpacked, env })
  const words = ["app", "add", "https://apps.apple.com/us/app/tide-clock/id1200000002", "--keyword", "tides", "--wait"]
  const added = await appmeter(words, { ...unpacked, env })
  expect([added.code, added.out]).toEqual([0, expect.stringMatching(/tides +2 /)])
  const first = await ranks(env)
  expect(first).toEqual(['"rank": 2'])
  // last night's backup is missing, so the server makes one soon after the start
  await until(() => server.err().includes("backed_up"))
  const byHand = join(scratch, "by-hand.backup")
  expect(await answer(["backup", byHand], { ...unpacked, env })).toMatchObject({ file: byHand })
  await stopped(server)

  const nightly = readdirSync(env.BACKUP_DIR).map((name) => join(env.BACKUP_DIR, name))
  expect(nightly).toHaveLength(1)
  const fresh = environment("new-machine")
  expect(await answer(["restore", byHand, "--check"], { ...unpacked, env: fresh })).toMatchObject({ whole: true })
  expect((await appmeter(["restore", byHand], { ...unpacked, env: fresh })).code).toBe(0)
  const restarted = await serving({ ...unpacked, env: fresh })
  expect(await ranks(fresh)).toEqual(first!)
  await stopped(restarted)
  const night = environment("from-last-night")
  expect((await appmeter(["restore", nightly[0]!], { ...unpacked, env: night })).code).toBe(0)
  const { apps } = await answer(["app", "list"], { ...unpacked, env: night })
  expect(apps).toMatchObject([{ iosId: "1200000002" }])
})

slow("the release archive restores and upgrades a backup of each released version", async () => {
  const versions = readdirSync(RELEASED).flatMap((name) => /^(.+)\.backup$/.exec(name)?.[1] ?? [])
  expect(versions).toContain(versionOf())
  for (const version of versions) {
    const env = { ...environment(`upgraded-${version}`), MEASURE: "no", DELIVER: "no" }
    const file = join(RELEASED, `${version}.backup`)
    expect((await appmeter(["restore", file], { ...unpacked, env })).code).toBe(0)
    const check = await answer(["migrate", "--check"], { ...unpacked, env })
    expect(check).toMatchObject({ version: versionOf(), readable: true, missing: [] })
    const server = await serving({ ...unpacked, env })
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
    await stopped(server)
  }
})

slow("the release archive's program writes no files to the home and working directories", () => {
  expect([readdirSync(home), readdirSync(unpacked.cwd)]).toEqual([[], []])
})
