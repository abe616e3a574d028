import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { cpSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type EmbeddedDatabase, openEmbedded } from "../../src/database/embedded/open.ts"
import { readKeywordMetrics } from "../../src/keywords/store/keyword-metrics.ts"
import { silentLog } from "../../src/lib/log.ts"
import { answer, appmeter, dataFolder, removeFolders, scratch } from "./child.ts"

setDefaultTimeout(60_000)

let env: { DATA_DIR: string }
/** Opens the database like a server: the command goes through its socket. */
let database: EmbeddedDatabase

beforeAll(async () => {
  env = await dataFolder()
  database = await openEmbedded({ dataDir: env.DATA_DIR, as: "server", log: silentLog })
})
afterAll(async () => {
  await database.close()
  removeFolders()
})

const REAL = join(import.meta.dirname, "../../fixtures/upstream/apple-ads-search-terms-us-2025-09-cut.csv")
const WITHOUT = join(import.meta.dirname, "../../fixtures/upstream/apple-ads-search-terms-gb-2025-09-cut5.csv")
const HEAD = "month,country,genre,search_term,rank_in_genre,popularity_in_genre_1_100,popularity_overall_1_100\n"

const run = (args: string[]) => appmeter(["popularity", ...args], { env })
const rows = () =>
  database.sql`select * from keyword_metric order by list_id, metric, day, source`.then((found) => [...found])
async function readPopularity(term: string, storefront = "us") {
  const found = await readKeywordMetrics(database.sql, {
    platform: "ios",
    storefront,
    terms: [term],
    today: "2026-01-01",
  })
  const { popularity, popularitySource, popularityWeek } = found.get(term)!
  return [popularity, popularitySource, popularityWeek]
}

function writeFile(name: string, text: string, at = "2025-10-13T00:00:00Z"): string {
  const path = join(scratch(), name)
  writeFileSync(path, text)
  utimesSync(path, new Date(at), new Date(at))
  return path
}

test("keywords get Apple's popularity from an imported report", async () => {
  const imported = await answer(["popularity", REAL], { env })
  expect(imported).toEqual({
    read: 38,
    keywords: 38,
    countries: ["us"],
    months: ["2025-09"],
    recorded: 38,
    known: 0,
    otherCountries: 0,
    bad: [],
  })
  expect(await readPopularity("instagram")).toEqual([100, "apple-ads-report", "2025-09"])
  expect(await readPopularity("instagram", "gb")).toEqual([null, null, null])
  expect(await readPopularity("whatever")).toEqual([null, null, null])
})

test("a repeated import of a report changes nothing, even from a newer copy", async () => {
  const before = await rows()
  const copy = join(scratch(), "copy.csv")
  cpSync(REAL, copy)
  expect((await run([copy])).out).toBe(
    "38 lines read: 38 keywords (us 2025-09), 0 recorded, 38 known already; 0 lines of other countries, 0 invalid\n",
  )
  expect(await rows()).toEqual(before)
})

test("the newest report of a month takes precedence, and the popularity of the latest month is shown", async () => {
  const line = (month: string, figure: number) => `${HEAD}${month},us,Games,teapot,1,90,${figure}\n`
  await run([writeFile("new.csv", line("2025-09", 52), "2025-10-20T00:00:00Z")])
  await run([writeFile("old.csv", line("2025-09", 51), "2025-10-13T00:00:00Z")])
  expect(await readPopularity("teapot")).toEqual([52, "apple-ads-report", "2025-09"])
  await run([writeFile("next.csv", line("2025-10", 40), "2025-11-07T00:00:00Z")])
  await run([writeFile("before.csv", line("2025-08", 70), "2025-11-08T00:00:00Z")])
  expect(await readPopularity("teapot")).toEqual([40, "apple-ads-report", "2025-10"])
})

test("invalid lines of a report are reported and skipped; --strict makes them a failure", async () => {
  const long = "x".repeat(151)
  const path = writeFile(
    "bad.csv",
    `${HEAD}2025-09,us,Games,mate,1,90,55\n2025-09,us,Games,,2,90,55\n` +
      `2025-09,us,Games,${long},3,90,55\n2025-09,us,Games,cup,4,90,101\n`,
  )
  const { code, out, err } = await run([path])
  expect([code, out]).toEqual([
    0,
    "4 lines read: 3 keywords (us 2025-09), 1 recorded, 0 known already; 0 lines of other countries, 3 invalid\n",
  ])
  expect(err.trim().split("\n")).toEqual([
    "line 3: search_term: is missing",
    "line 4: the term must be normalised and have 1 to 150 characters",
    "line 5: the popularity must be a whole number from 1 to 100",
  ])
  expect((await run([path, "--strict"])).code).toBe(1)
  expect((await run([writeFile("all-bad.csv", `${HEAD}2025-09,us,Games,,2,90,55\n`)])).code).toBe(1)
})

test("an invalid report exits with 1 and a one-line error", async () => {
  const before = await rows()
  for (const [args, line] of [
    [[WITHOUT], "the report has no popularity figures, so there is nothing to import"],
    [
      [writeFile("other.csv", "a,b\n1,2\n")],
      "this is not a report of search terms: no line of headings names search_term",
    ],
    [[writeFile("zip.xlsx", "PK\u0003\u0004")], "the file is an Excel file; save it as CSV (UTF-8)"],
    [
      [writeFile("bare.csv", "month,search_term,popularity_overall_1_100\n2025-09,tea,61\n")],
      "the report has no country column; name its storefront with --country",
    ],
    [["/nowhere.csv"], "there is no file /nowhere.csv"],
    [["/"], "/ is a folder; give a file"],
  ] as const) {
    expect(await run([...args])).toEqual({ code: 1, out: "", err: `appmeter: ${line}\n` })
  }
  const wrong = await run([REAL, "--country", "xx"])
  expect([wrong.code, wrong.err]).toEqual([
    2,
    "appmeter: --country must be the two-letter code of a storefront, such as us\n",
  ])
  expect(await rows()).toEqual(before)
})

test("popularity --country imports one country of several", async () => {
  const path = writeFile("two.csv", `${HEAD}2025-09,Germany,Games,tee,1,90,44\n2025-09,France,Games,thé,1,90,45\n`)
  expect(await answer(["popularity", path, "--country", "FR"], { env })).toMatchObject({
    countries: ["fr"],
    recorded: 1,
    otherCountries: 1,
  })
  expect([await readPopularity("tee", "de"), await readPopularity("thé", "fr")]).toEqual([
    [null, null, null],
    [45, "apple-ads-report", "2025-09"],
  ])
})
