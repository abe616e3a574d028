import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { join } from "node:path"
import type { EmbeddedDatabase } from "../../src/database/embedded/open.ts"
import type { Sql } from "../../src/database/types.ts"
import { appleWebSearch } from "../../src/keywords/sources/apple-web-search.ts"
import { playSearch } from "../../src/keywords/sources/play-search.ts"
import { openRawBodies } from "../../src/measuring/raw-bodies.ts"
import { slow } from "../long.ts"
import { bodyOf, seenIn } from "../measuring/bodies.ts"
import { record } from "../record.ts"
import { fixture } from "../stores/parsing/parsed.ts"
import { pageForTerm } from "../stores/parsing/play-pages.ts"
import { appmeter, dataFolder, openFolder, removeFolders, scratch } from "./child.ts"

setDefaultTimeout(60_000)
afterAll(async () => {
  await database.close()
  removeFolders()
})

const NOW = new Date()
const AT = new Date(NOW.getTime() - 3_600_000)
const PANDA = fixture("play-search-panda.html")
const SLEEP = fixture("apple-web-search-us.html")
let env: { DATA_DIR: string }
let database: EmbeddedDatabase

const bodies = () => openRawBodies({ folder: join(env.DATA_DIR, "raw"), days: 14, megabytes: 100 })

/** Stores one reading with the results of today's parser, and one with the results of an earlier version. */
async function readings(sql: Sql): Promise<void> {
  const panda = seenIn(playSearch, { storefront: "us", term: "panda" }, PANDA, AT)
  const sleep = seenIn(appleWebSearch, { storefront: "us", term: "sleep sounds" }, SLEEP, AT)
  await record(sql, [panda, { ...sleep, parser: 0, results: sleep.results.toReversed() }])
}

beforeAll(async () => {
  env = await dataFolder()
  database = await openFolder(env)
  await readings(database.sql)
  for (const text of [PANDA, SLEEP]) await bodies().keep(bodyOf(text, AT))
})

describe("appmeter replay", () => {
  slow("replay reports differences without changing data, and replay --write records them", async () => {
    const dry = await appmeter(["replay"], { env })
    expect([dry.code, dry.err]).toEqual([0, ""])
    expect(dry.out).toMatch(/^SOURCE +SAME +DIFFERENT/)
    expect(dry.out).toMatch(/^apple-web-search +0 +1 +\d+ +0/m)
    expect(dry.out).toMatch(/^play-search +1 +0 +0 +0/m)
    expect(dry.out).toMatch(/^apple-web-search +different +sleep sounds, us +\S+Z +\d+ of \d+ places$/m)
    expect(dry.out).toContain("nothing was changed")
    expect((await appmeter(["replay"], { env })).out).toBe(dry.out)
    const { code, out } = await appmeter(["replay", "--write", "--json"], { env })
    expect(code).toBe(0)
    expect(JSON.parse(out).sources[0]).toMatchObject({ source: "apple-web-search", different: 1, recorded: 1 })
    const after = JSON.parse((await appmeter(["replay", "--json"], { env })).out)
    expect(after).toMatchObject({
      sources: [
        { same: 1, different: 0 },
        { same: 1, different: 0 },
      ],
      examples: [],
    })
  })

  test("replay can be limited to a source and to responses since a given day", async () => {
    const limited = await appmeter(["replay", "--json", "--source", "play-search", "--since", "2008-07-10"], { env })
    expect(JSON.parse(limited.out).sources.map(({ source }: { source: string }) => source)).toEqual(["play-search"])
    const empty = await appmeter(["replay", "--since", "2999-01-01"], { env })
    expect([empty.code, empty.out]).toEqual([0, "nothing to replay: no responses are stored\n"])
  })

  test("replay refuses an invalid day or source, and a missing database", async () => {
    for (const [words, reason] of [
      [["--since", "2025-02-30"], "--since must be a day"],
      [["--since", "yesterday"], "--since must be a day"],
      [["--source", "import"], "--source must be one of apple-web-search, "],
    ] as const) {
      const { code, err } = await appmeter(["replay", ...words], { env })
      expect([code, err.includes(reason)]).toEqual([2, true])
    }
    const { code, err } = await appmeter(["replay"], { env: { DATA_DIR: join(scratch(), "none") } })
    expect([code, err]).toEqual([1, expect.stringContaining("there is no database in ")])
  })

  test("replay exits with 1 if a stored response can no longer be parsed", async () => {
    const page = "<html><title>Other</title></html>"
    const { sha256 } = bodyOf(page, AT)
    const question = { storefront: "us", term: "red panda" }
    const panda = seenIn(playSearch, question, pageForTerm(PANDA, question.term), AT)
    await record(database.sql, [{ ...panda, sha256 }])
    await bodies().keep(bodyOf(page, AT))
    const { code, out } = await appmeter(["replay", "--write"], { env })
    expect(code).toBe(1)
    expect(out).toMatch(/^play-search +unreadable +red panda, us +\S+Z +changed: /m)
  })
})
