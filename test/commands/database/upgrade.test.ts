import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { versionOf } from "../../../src/database/assets.ts"
import { scratchDatabase } from "../../database/server.ts"
import { long } from "../../long.ts"
import { answer, appmeter, dataFolder, removeFolders, scratch } from "../child.ts"
import { fill, inFolder } from "../filled.ts"

setDefaultTimeout(120_000)
afterAll(removeFolders)
const postgres = test.skipIf(!process.env.DATABASE_URL)

/** A backup of each released version, and what that version listed. The README in the folder says how they are made. */
const RELEASED = join(import.meta.dirname, "released")
const CURRENT = versionOf()

if (process.env.UPDATE) await writeCurrent()

const versions = readdirSync(RELEASED).flatMap((name) => /^(.+)\.backup$/.exec(name)?.[1] ?? [])

test("the repository has a backup of this version", () => {
  expect(versions).toContain(CURRENT)
})

describe.each(versions)("a backup of %s", (version) => {
  const file = join(RELEASED, `${version}.backup`)

  async function expectRestored(env: Record<string, string>): Promise<void> {
    const { tables } = await answer(["restore", file], { env })
    expect(tables.length).toBeGreaterThan(100)
    expect(await answer(["migrate", "--check"], { env })).toMatchObject({
      version: CURRENT,
      readable: true,
      missing: [],
    })
    expect(await listData(env)).toEqual(JSON.parse(readFileSync(join(RELEASED, `${version}.json`), "utf8")))
  }

  // .ci/run restores it with the program of the archive
  long("an earlier backup restores into the embedded database of this version, with all its data", async () => {
    await expectRestored({ DATA_DIR: join(scratch(), "restored") })
  })

  postgres("postgres: an earlier backup restores into PostgreSQL, with all its data", async () => {
    await using server = await scratchDatabase("upgraded")
    await expectRestored({ DATABASE_URL: server.url })
  })
})

/**
 * Lists the data to compare after an upgrade: workspaces, apps, and the problems that doctor finds, including wrong
 * sums.
 */
async function listData(env: Record<string, string>) {
  const { workspaces } = await answer(["workspace", "list"], { env })
  const names = workspaces.map(({ name }: { name: string }) => name).sort()
  const apps: Record<string, unknown> = {}
  for (const name of names) {
    const list = await answer(["app", "list", "--workspace", name], { env })
    apps[name] = list.apps.map(({ id, name: app, countries }: Record<string, unknown>) => ({ id, app, countries }))
  }
  const { out } = await appmeter(["doctor", "--rebuild", "--json"], { env })
  const { findings } = JSON.parse(out) as { findings: { thing: string; state: string }[] }
  const problems = findings.filter(({ state }) => state === "problem").map(({ thing }) => thing)
  return { names, apps, problems }
}

async function writeCurrent(): Promise<void> {
  const env = await dataFolder()
  await inFolder(env.DATA_DIR, fill)
  const file = join(RELEASED, `${CURRENT}.backup`)
  await answer(["backup", file, ...(existsSync(file) ? ["--force"] : [])], { env })
  writeFileSync(join(RELEASED, `${CURRENT}.json`), `${JSON.stringify(await listData(env), null, 2)}\n`)
}
