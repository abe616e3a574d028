import { expect, setDefaultTimeout } from "bun:test"
import { afterSlow, beforeSlow, slow } from "../../long.ts"
import { answer, appmeter, dataFolder, removeFolders } from "../child.ts"
import { inFolder } from "../filled.ts"

setDefaultTimeout(60_000)
afterSlow(removeFolders)

let env: { DATA_DIR: string }
const check = (words: string[] = []) => appmeter(["migrate", "--check", ...words], { env })

beforeSlow(async () => {
  env = await dataFolder()
})

slow("migrate --check reports a database of this version as up to date", async () => {
  expect(await answer(["migrate", "--check"], { env })).toMatchObject({ readable: true, missing: [], reason: null })
})

slow("migrate --check of an empty database lists the steps of the first start and changes nothing", async () => {
  await inFolder(env.DATA_DIR, (sql) => sql`alter table schema_migration rename to kept`)
  for (let attempt = 0; attempt < 2; attempt++) {
    const { code, out } = await check()
    expect([code, out]).toEqual([0, expect.stringMatching(/: \d+ steps? at its first start\n {2}pending: baseline\n/)])
  }
  await inFolder(env.DATA_DIR, (sql) => sql`alter table kept rename to schema_migration`)
})

slow.each([
  [
    "is newer than this program: it has migration 9999_later.sql",
    "insert into schema_migration values ('9999_later.sql', '')",
  ],
  ["was made by a development version with another baseline schema", "update schema_migration set sha256 = 'x'"],
  [
    "was made by a version before 0.1.0-alpha, which has no upgrade",
    "update schema_migration set name = '0001_house.sql'",
  ],
])("migrate --check exits with 1 for a database that %s", async (reason, change) => {
  const other = await dataFolder()
  await inFolder(other.DATA_DIR, (sql) => sql.unsafe(change))
  const { code, out } = await appmeter(["migrate", "--check"], { env: other })
  expect([code, out.split("\n")]).toEqual([
    1,
    [`the database ${reason}`, "do not start this version with this data", ""],
  ])
})
