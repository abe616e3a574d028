import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { EmbeddedDatabase } from "../../../src/database/embedded/open.ts"
import { answer, appmeter, dataFolder, openFolder, removeFolders, scratch } from "../child.ts"

setDefaultTimeout(120_000)

let env: { DATA_DIR: string }
let database: EmbeddedDatabase

beforeAll(async () => {
  env = await dataFolder()
  database = await openFolder(env)
  await answer(["workspace", "create", "own", "--plan", "pro"], { env })
  await answer(["app", "add", "Tide Times", "--ios", "1200000001", "--country", "us", "--force"], { env })
})
afterAll(async () => {
  await database.close()
  removeFolders()
})

test("app localisation reads names and keyword fields from fastlane's folder and lists repeated words", async () => {
  const folder = scratch()
  for (const [locale, name, keywords] of [
    ["en-US", "Tide Times", "surf,moon"],
    ["es-MX", "Tide Times", "marea,surf"],
    ["ja", "潮見表", ""],
  ] as const) {
    mkdirSync(join(folder, locale))
    writeFileSync(join(folder, locale, "name.txt"), `${name}\n`)
    writeFileSync(join(folder, locale, "keywords.txt"), keywords)
  }
  const words = ["app", "localisation", "Tide Times", "--metadata", folder]
  const { out } = await appmeter(words, { env })
  expect(out).toMatch(/STOREFRONT +en-US +es-MX +ja +WORDS\nus +4 +1 +- +5\n/)
  expect(out).toContain("counts: marea\n")
  expect(out).toContain("surf (keyword field: already in American English, which the same storefronts index)")
  expect(out).toContain("ja (Japanese), indexed in none of your storefronts")
  expect(out).toContain("name 10 of 30, 20 unused; subtitle not known; keyword field 9 of 100, 91 unused")
  expect((await answer(words, { env })).storefronts[0].words).toBe(5)
})

test("app localisation explains how to pass texts if no store page was read", async () => {
  const { code, err } = await appmeter(["app", "localisation", "Tide Times"], { env })
  expect([code, err]).toEqual([1, expect.stringContaining("--metadata FOLDER")])
})
