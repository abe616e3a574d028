import { expect, setDefaultTimeout } from "bun:test"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import type { EmbeddedDatabase } from "../../../src/database/embedded/open.ts"
import { addDays } from "../../../src/lib/days.ts"
import { afterSlow, beforeSlow, slow } from "../../long.ts"
import { record } from "../../record.ts"
import { openService } from "../../service.ts"
import { dayAgo, daysAgo } from "../../world/clock.ts"
import { searchReading } from "../../world/readings.ts"
import { answer, appmeter, dataFolder, openFolder, removeFolders, scratch } from "../child.ts"

setDefaultTimeout(120_000)

const STORE_ID = "1200000001"
const STOREFRONTS = ["us", "gb", "de"]
const KEYWORDS = Array.from({ length: 50 }, (_, at) => `tide ${at}`)
/** The last day before this instance's own readings. */
const LAST = dayAgo(3)

let env: { DATA_DIR: string }
let database: EmbeddedDatabase
let id: string
let key: string
const run = (...words: string[]) => appmeter(["app", "history", ...words], { env })

beforeSlow(async () => {
  env = await dataFolder()
  database = await openFolder(env)
  await answer(["workspace", "create", "own", "--plan", "pro"], { env })
  const added = await answer(
    ["app", "add", "--ios", STORE_ID, "--country", "us", "--country", "gb", "--country", "de", "--keyword", "tide 0"],
    { env },
  )
  id = added.app.id
  key = (await answer(["key", "create"], { env })).live
  const results = ["1200000002", "1200000003", STORE_ID]
  const readings = [2, 1].map((days) => searchReading("tide 0", daysAgo(days), results.slice(days - 1)))
  expect((await record(database.sql, readings)).recorded).toBe(2)
})
afterSlow(async () => {
  await database.close()
  removeFolders()
})

/**
 * A year of ranks as another tool exports them: 54,750 lines, and one line for a day that this instance has read
 * itself.
 */
function yearFile(): string {
  const days = Array.from({ length: 365 }, (_, ago) => addDays(LAST, -ago))
  const lines = STOREFRONTS.flatMap((country) =>
    KEYWORDS.flatMap((term, at) => days.map((day, ago) => `${day},${term},${country},${1 + ((at + ago) % 200)}`)),
  )
  const path = join(scratch(), "apptweak.csv")
  writeFileSync(path, ["date,keyword,country,rank", ...lines, `${dayAgo(1)},tide 0,us,99`].join("\n"))
  return path
}

async function readAnswers(): Promise<string[]> {
  const { call } = openService({ sql: database.sql, now: () => new Date() })
  const paths = ["apps", "alerts", "today", `apps/${id}/keywords?country=us`, `apps/${id}/history?days=365&country=us`]
  const texts: string[] = []
  for (const path of paths) texts.push((await call(`/v1/${path}`, { key })).text)
  return texts
}

slow("one command imports a year of another tool's ranks and changes no figure of this instance", async () => {
  const before = await readAnswers()
  const path = yearFile()
  const { code, out, err } = await run("import", STORE_ID, path, "--tool", "AppTweak")
  expect([code, err]).toEqual([0, ""])
  expect(out).toStartWith(
    `54751 ranks of 50 keywords from ${addDays(LAST, -364)} to ${dayAgo(1)}: 54751 new or changed; ` +
      "0 cells without a rank, 0 invalid lines\n49 keywords are not tracked in their storefront",
  )
  expect(await readAnswers()).toEqual(before)
  const repeated = await run("import", STORE_ID, path, "--tool", "AppTweak")
  expect(repeated.out).toContain(": 0 new or changed;")
})

slow("imports are listed by file, corrected by a later file, and deleted with their ranks", async () => {
  const path = join(scratch(), "corrected.csv")
  writeFileSync(path, `date,keyword,rank\n${LAST},tide 0,150\n${LAST},tide 1,0\n`)
  const corrected = await run("import", STORE_ID, path, "--tool", "AppTweak", "--country", "us")
  expect([corrected.code, corrected.out]).toEqual([
    0,
    `1 ranks of 1 keywords from ${LAST} to ${LAST}: 1 new or changed; 1 cells without a rank, 0 invalid lines\n`,
  ])
  const { imports } = await answer(["app", "history", "list", STORE_ID], { env })
  expect(imports).toMatchObject([
    { tool: "AppTweak", file: "corrected.csv", platform: "ios", ranks: 1, from: LAST, to: LAST },
    { tool: "AppTweak", file: "apptweak.csv", platform: "ios", ranks: 54_750 },
  ])
  const removed = await run("remove", STORE_ID, String(imports[1].id))
  expect([removed.code, removed.out]).toEqual([0, `removed import ${imports[1].id} with its ranks\n`])
  expect((await answer(["app", "history", "list", STORE_ID], { env })).imports).toHaveLength(1)
})

slow("wrong usage of history import is refused with advice, and an invalid line is skipped", async () => {
  const path = join(scratch(), "bad.csv")
  writeFileSync(path, `date,keyword,country,rank\n${LAST},tides,xx,1\n${LAST},tides,us,5\n`)
  const partly = await run("import", STORE_ID, path)
  expect([partly.code, partly.err]).toEqual([
    0,
    'line 2: "xx" is not a storefront; use its two-letter code, such as us\n',
  ])
  expect((await run("import", STORE_ID, path, "--strict")).code).toBe(1)
  for (const [words, reason] of [
    [["import", STORE_ID, "/nowhere.csv"], "there is no file /nowhere.csv"],
    [["import", "Nobody", path], "no tracked app matches; see: appmeter app list"],
    [["import", STORE_ID, path, "--dates", "ymd"], "--dates must be dmy (31/01/2025) or mdy (01/31/2025)"],
    [["remove", STORE_ID, "999"], "the app has no import with this id"],
    [["remove", STORE_ID, "x"], "give the id of an import"],
  ] as const) {
    const { code, err } = await run(...words)
    expect([words, code === 0, err]).toEqual([words, false, expect.stringContaining(reason)])
  }
})
