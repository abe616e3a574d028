import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { answer, appmeter, dataFolder, removeFolders } from "../child.ts"
import { inFolder } from "../filled.ts"

setDefaultTimeout(60_000)
afterAll(removeFolders)

let env: { DATA_DIR: string }
const check = (words: string[] = []) => appmeter(["migrate", "--check", ...words], { env })

beforeAll(async () => {
  env = await dataFolder()
})

test("data of this version is up to date", async () => {
  expect(await answer(["migrate", "--check"], { env })).toMatchObject({ readable: true, missing: [], unknown: [] })
})

test("data of an earlier one can be taken over, and the steps are told and not taken", async () => {
  const last = await inFolder(env.DATA_DIR, async (sql) => {
    const [row] = await sql<{ name: string; sha256: string }[]>`
      delete from schema_migration where name = (select max(name) from schema_migration) returning name, sha256`
    return row!
  })
  for (let asked = 0; asked < 2; asked++) {
    const { code, out } = await check()
    expect([code, out]).toEqual([0, expect.stringContaining(`1 step at its first start\n  to come: ${last.name}`)])
  }
  await inFolder(env.DATA_DIR, async (sql) => {
    await sql`insert into schema_migration (name, sha256) values (${last.name}, ${last.sha256})`
  })
})

test("data of a newer version, or of one that was changed, is not to be started on", async () => {
  const name = await inFolder(env.DATA_DIR, async (sql) => {
    await sql`insert into schema_migration (name, sha256) values ('9999_later.sql', 'x')`
    const [row] = await sql<{ name: string }[]>`
      update schema_migration set sha256 = 'y' where name = (select min(name) from schema_migration) returning name`
    return row!.name
  })
  const { code, out } = await check()
  expect([code, out.split("\n")]).toEqual([
    1,
    [
      "of a newer version: 9999_later.sql",
      `other than this version knows it: ${name}`,
      "do not start this version on this data",
      "",
    ],
  ])
})
