import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import type { EmbeddedDatabase } from "../../../src/database/embedded/open.ts"
import { keywordsIn } from "../../../src/tracking/keyword-file.ts"
import { slow } from "../../long.ts"
import { answer, appmeter, dataFolder, openFolder, removeFolders, scratch } from "../child.ts"

setDefaultTimeout(60_000)
afterAll(removeFolders)

describe("a file of keywords", () => {
  const terms = (text: string) => keywordsIn(text).keywords.map(({ term }) => term)

  test("a keyword file has one keyword per line, a comma-separated list, or a table with named columns", () => {
    expect(terms("tides\r\n\r\nsurf report\n")).toEqual(["tides", "surf report"])
    expect(terms("tides,surf,moon")).toEqual(["tides", "surf", "moon"])
    for (const separator of [",", ";", "\t"]) {
      const text = `\uFEFFRank;Keyword;Country;Tags\n3;tide times;Germany;core|q4\n;"a ""b""";us;\n`.replaceAll(
        ";",
        separator,
      )
      expect(keywordsIn(text)).toEqual({
        keywords: [
          { term: "tide times", country: "de", tags: ["core", "q4"] },
          { term: 'a "b"', country: "us", tags: [] },
        ],
        bad: [],
      })
    }
  })

  test("a keyword file reports invalid lines with reasons, and requires column names", () => {
    expect(keywordsIn('keyword,country\n,us\ntides,nowhere\n"open,us\nsurf,gb\n')).toEqual({
      keywords: [{ term: "surf", country: "gb", tags: [] }],
      bad: [
        { line: 2, fault: "keyword", reason: "it has no keyword" },
        { line: 3, fault: "storefront", reason: '"nowhere" is not a storefront; use its two-letter code, such as us' },
        { line: 4, fault: "quotes", reason: "its quotes are not closed properly" },
      ],
    })
    expect(() => keywordsIn("tides,12\nsurf,4\n")).toThrow("must begin with their names")
  })
})

describe("what is tracked", () => {
  let env: { DATA_DIR: string }
  let database: EmbeddedDatabase
  let id: string
  const run = (...words: string[]) => appmeter(words, { env })
  const listKeywords = async () => (await answer(["app", "keywords", "list", id], { env })).keywords

  beforeAll(async () => {
    env = await dataFolder()
    database = await openFolder(env)
    await answer(["workspace", "create", "own", "--limit", "trackedKeywords=6"], { env })
    const { app } = await answer(["app", "add", "--ios", "1200000001", "--keyword", "tides"], { env })
    id = app.id
  })
  afterAll(() => database.close())

  test("a file's keywords are tracked with their storefronts and tags, and invalid lines are skipped", async () => {
    const path = join(scratch(), "keywords.csv")
    writeFileSync(path, "keyword,country,tags\nsurf,us,core\n,us,\nTides,us,\n")
    const { code, out, err } = await run("app", "keywords", "add", id, "--file", path)
    expect([code, out, err]).toEqual([
      0,
      "1 added, 1 already tracked, 1 invalid lines\n",
      "line 3: it has no keyword\n",
    ])
    expect(await listKeywords()).toEqual([
      { country: "us", term: "tides", tags: [] },
      { country: "us", term: "surf", tags: ["core"] },
    ])
    expect((await run("app", "keywords", "add", id, "--file", join(scratch(), "none"))).err).toContain(
      "there is no file",
    )
  })

  slow(
    "a storefront is added with the keywords of another storefront within the limit, and can be removed",
    async () => {
      const added = await answer(["app", "country", "add", id, "DE", "us", "--like", "us"], { env })
      expect(added).toEqual({ added: ["de"], alreadyTracked: ["us"], keywords: 2 })
      const overLimit = await run("app", "country", "add", id, "fr", "gb", "--like", "us")
      expect([overLimit.code, overLimit.err]).toEqual([1, expect.stringContaining("limited to 6 tracked keywords")])
      expect((await answer(["app", "list"], { env })).apps[0].countries).toEqual(["us", "de"])
      expect((await run("app", "country", "remove", id, "de")).err).toContain("add --force")
      await answer(["app", "country", "remove", id, "de", "--force"], { env })
      expect((await listKeywords()).map(({ country }: { country: string }) => country)).toEqual(["us", "us"])
      expect((await run("app", "country", "remove", id, "us", "--force")).err).toContain("at least one storefront")
      expect((await run("app", "country", "remove", id, "jp", "--force")).err).toContain("it is in us")
    },
  )

  test("an app is renamed, and a rename without a name restores the store's name", async () => {
    expect((await answer(["app", "rename", id, "My Tides"], { env })).name).toBe("My Tides")
    expect((await answer(["app", "rename", id], { env })).name).toBe("1200000001")
  })
})
