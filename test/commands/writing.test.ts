import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { actions } from "../../src/catalog.ts"
import type { EmbeddedDatabase } from "../../src/database/embedded/open.ts"
import { slow } from "../long.ts"
import { newWorkspace, reading } from "../measuring/record/measured.ts"
import { record } from "../record.ts"
import { answer, appmeter, dataFolder, openFolder, removeFolders } from "./child.ts"

setDefaultTimeout(60_000)
afterAll(async () => {
  await database.close()
  removeFolders()
})

const IOS = "1100000001"

let env: Record<string, string>
let database: EmbeddedDatabase
const run = (words: string[]) => appmeter(words, { env })

beforeAll(async () => {
  const folder = await dataFolder()
  database = await openFolder(folder)
  await newWorkspace(database.sql)
  const words = ["app", "add", "Tide Times", "--ios", IOS, "--country", "us", "--keyword", "tides"]
  await answer(words, { env: folder })
  await record(database.sql, [reading("tides", new Date().toISOString(), [IOS, "1200000001"], { depth: 20 })])
  const created = await answer(["key", "create", "--name", "terminal"], { env: folder })
  env = { ...folder, APPMETER_KEY: created.secret ?? created.key.secret }
})

describe("write", () => {
  test("the command write lists every write operation, and the arguments of a given operation", async () => {
    const { writes } = await answer(["write"], { env })
    expect(writes.map(({ name }: { name: string }) => name)).toEqual(actions.map(({ name }) => name))
    const { code, out } = await run(["write", "add_keywords", "--about"])
    expect([code, /keywords +required/.test(out)]).toEqual([0, true])
    const misspelled = await run(["write", "add_keyword"])
    expect([misspelled.code, misspelled.err.includes("did you mean add_keywords?")]).toEqual([2, true])
  })

  slow("the command write changes nothing with --preview, and needs --force without a terminal", async () => {
    const { apps } = await answer(["app", "list"], { env })
    const words = ["write", "add_keywords", `appId=${apps[0].id}`, "keywords=moon,surf report"]
    const previewed = await run([...words, "--preview"])
    expect([previewed.code, previewed.out]).toEqual([0, ""])
    expect(previewed.err).toContain("surf report")
    expect(previewed.err).toMatch(/It costs \d+ credits?\./)
    const unasked = await run(words)
    expect(unasked.code).not.toBe(0)
    expect((await answer(["app", "keywords", "list", apps[0].id], { env })).keywords).toHaveLength(1)
    const done = await run([...words, "--force"])
    expect([done.code, done.out.startsWith("applied")]).toEqual([0, true])
    expect((await answer(["app", "keywords", "list", apps[0].id], { env })).keywords).toHaveLength(3)
    const { writes } = await answer(["audit"], { env })
    expect(writes[0]).toMatchObject({ action: "add_keywords", key: { name: "terminal" } })
  })

  test("a write without a key is refused with advice, and an invalid write is refused", async () => {
    const { APPMETER_KEY: _, ...keyless } = env
    const { code, err } = await appmeter(["share", "Tide"], { env: keyless })
    expect([code, err.includes("appmeter key create")]).toEqual([2, true])
    const refused = await run(["write", "add_keywords", "appId=app_none", "keywords=a", "--force"])
    expect([refused.code, refused.out]).toEqual([1, ""])
    const wrong = await run(["write", "add_keywords", "appid=x", "--force"])
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining("appId")])
  })
})

describe("share and export", () => {
  slow("the commands share and export print the link", async () => {
    const shared = await answer(["share", "tide", "--days", "3", "--force"], { env })
    expect(shared.result).toMatchObject({ country: "us", days: 3, hasPassword: false })
    expect(shared.result.url).toContain("/share/")
    const secret = await appmeter(["share", "tide", "--password", "-", "--force", "--json"], {
      env,
      stdin: "open sesame",
    })
    expect(secret.err).not.toContain("open sesame")
    expect(JSON.parse(secret.out).result.hasPassword).toBe(true)
    const file = await run(["export", "Tide Times", "history", "--force"])
    expect([file.code, /url +http:.*\/exports\//.test(file.out)]).toEqual([0, true])
    const wrong = await run(["export", "Tide Times", "histories", "--force"])
    expect([wrong.code, wrong.err.includes("dataset")]).toEqual([2, true])
  })
})
