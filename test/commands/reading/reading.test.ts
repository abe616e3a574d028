import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { catalog } from "../../../src/catalog.ts"
import type { EmbeddedDatabase } from "../../../src/database/embedded/open.ts"
import { addDays, dayOf } from "../../../src/lib/days.ts"
import { slow } from "../../long.ts"
import { newWorkspace, reading } from "../../measuring/record/measured.ts"
import { record } from "../../record.ts"
import { answer, appmeter, dataFolder, openFolder, removeFolders, scratch } from "../child.ts"

setDefaultTimeout(60_000)
afterAll(async () => {
  await database.close()
  removeFolders()
})

const IOS = "1100000001"
const TODAY = dayOf(new Date())
const at = (daysAgo: number) => `${addDays(TODAY, -daysAgo)}T00:00:00Z`
const above = (rank: number) => Array.from({ length: rank - 1 }, (_, i) => `12000000${10 + i}`)
/** Returns a list of 20 places with the app at that rank, or absent. */
const rankLine = (term: string, daysAgo: number, rank: number | null, extra: object = {}) =>
  reading(term, at(daysAgo), rank === null ? above(20) : [...above(rank), IOS], { depth: 20, ...extra })

let env: { DATA_DIR: string }
let database: EmbeddedDatabase
const run = (words: string[]) => appmeter(words, { env })

beforeAll(async () => {
  env = await dataFolder()
  database = await openFolder(env)
  await newWorkspace(database.sql)
  const terms = ["tides", "tide clock", "moon", "surf", "never read"].flatMap((term) => ["--keyword", term])
  await answer(["app", "add", "Tide！Times", "--ios", IOS, "--country", "us", "--country", "de", ...terms], { env })
  await record(database.sql, [
    ...[rankLine("tides", 3, 9), rankLine("tides", 1, 7), rankLine("tides", 0, 4)],
    ...[rankLine("tide clock", 1, 2), rankLine("tide clock", 0, null)],
    ...[rankLine("moon", 2, null), rankLine("moon", 0, 20)],
    // the next reading has another source, so there is no change
    ...[rankLine("surf", 1, 3, { source: "foreign", origin: "elsewhere" }), rankLine("surf", 0, 8)],
  ])
})

test("reading commands print CSV with an empty cell for an unknown value", async () => {
  const { code, out, err } = await run(["ranks", "tide", "--country", "us", "--csv"])
  expect([code, err]).toEqual([0, ""])
  const [head = "", ...rows] = out.trimEnd().split("\r\n")
  const cells = rows.map((row) => Object.fromEntries(head.split(",").map((name, at) => [name, row.split(",")[at]])))
  expect(cells.map(({ term, measured, rank, change }) => [term, measured, rank, change])).toEqual([
    ["tides", "true", "4", "3"],
    ["tide clock", "true", "", "out"],
    ["moon", "true", "20", "in"],
    ["surf", "true", "8", ""],
    ["never read", "false", "", ""],
  ])
  expect(cells[4]).toMatchObject({ measuredAt: "", source: "", app: "Tide！Times", country: "us", platform: "ios" })
  expect((await run(["usage", "--csv"])).out).toStartWith("limit,used,of,counted\r\ntrackedKeywords,10,")
  expect((await run(["alerts", "--csv"])).out).toStartWith("at,type,app,sentence,read\r\n")
  expect((await run(["reviews", "--csv"])).out).toBe("appId,app,store,country,date,rating,version,title,text\r\n")
})

describe("ranks", () => {
  test("the command ranks shows rank, change and days of ranked, absent and unmeasured keywords", async () => {
    const { code, out, err } = await run(["ranks", "tide", "--country", "US", "--since", "5d"])
    expect([code, err]).toEqual([0, ""])
    const [heading, head, ...lines] = out.trimEnd().split("\n")
    expect(heading).toBe("Tide！Times, App Store, United States")
    expect(head?.trim().split(/ {2,}/)).toEqual([
      "KEYWORD",
      "RANK",
      "CHANGE",
      "LAST 5 DAYS",
      "POPULARITY",
      "DIFFICULTY",
    ])
    expect(lines.slice(0, 5).map((line) => line.trim().split(/ {2,}/).slice(0, 4))).toEqual([
      ["tides", "4", "▲ 3", "·▅·▆▆"],
      ["tide clock", "not in 20", "gone", "···▇–"],
      ["moon", "20", "new", "··–·▄"],
      ["surf", "8", "···▇▅", "-"],
      ["never read", "-", "·····", "-"],
    ])
    expect(out).toContain(`measured ${TODAY} 00:00 UTC, `)
    expect(out).toContain("1 not measured: ")
    expect(out).not.toContain("\u001b")
  })

  test("the command ranks covers every storefront by default, and its JSON has exact values", async () => {
    const { ranks } = await answer(["ranks"], { env })
    expect(ranks.map(({ country }: { country: string }) => country)).toEqual(["us", "de"])
    const [tides] = ranks[0].keywords
    expect(tides).toMatchObject({ term: "tides", measured: true, rank: 4, change: 3, searchDepth: 20 })
    expect(tides.series.at(-1)).toEqual([TODAY, 4])
    expect(ranks[1].keywords[0]).toMatchObject({ measured: false, rank: null, change: null, series: [] })
  })

  test.each([
    [["ranks", "nobody"], `no tracked app matches "nobody"; tracked apps: "Tide！Times"`],
    [["ranks", "--country", "fr"], "not tracked in that --country; the app is tracked in us, de"],
    [["ranks", "--since", "a week"], "--since must be 1 to 730 days, such as 90d"],
    [["ranks", "--watch"], "--watch needs a terminal"],
  ])("the command ranks explains wrong usage: %j", async (words, line) => {
    expect(await run(words)).toEqual({ code: 2, out: "", err: `appmeter: ${line}\n` })
  })

  test("the command ranks creates no database", async () => {
    const { code, err } = await appmeter(["ranks"], { env: { DATA_DIR: join(scratch(), "none") } })
    expect(code).toBe(1)
    expect(err).toContain("there is no database in")
  })
})

describe("call", () => {
  test("the command call lists the read operations and refuses a write operation", async () => {
    const { operations } = await answer(["call"], { env })
    const reading = catalog.filter(({ effect }) => effect !== "writes" && effect !== "previews").map(({ id }) => id)
    expect(operations.map(({ id }: { id: string }) => id)).toEqual(reading)
    const { code, err } = await run(["call", "confirm_action"])
    expect([code, err]).toEqual([2, expect.stringContaining("confirm_action is a write and needs a key")])
  })

  slow("the command call answers like REST, as JSON, CSV, lines or a table, free of charge", async () => {
    const { ranks } = await answer(["ranks", "--country", "us"], { env })
    const words = ["call", "list_keyword_ranks", `appId=${ranks[0].appId}`, "country=us"]
    const { keywords } = await answer(words, { env })
    expect(keywords.map(({ rank }: { rank: number | null }) => rank)).toEqual([4, null, 20, 8, null])
    const csv = (await run([...words, "--csv"])).out.trimEnd().split("\r\n")
    expect([csv.length, csv[0]?.startsWith("term,measured,rank,")]).toEqual([6, true])
    const lines = (await run([...words, "--jsonl"])).out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line))
    expect(lines.map(({ rank }) => rank)).toEqual([4, null, 20, 8, null])
    const [head, first] = (await run(words)).out.split("\n")
    expect(head).toMatch(/^term +measured +rank /)
    expect(first).toMatch(/^tides +true +4 /)
    const [books] = await database.sql`
        select (select count(*) from ledger)::int as charges, (select sum(used) from account)::int as used`
    expect(books).toEqual({ charges: 0, used: 0 })
  })

  test("call --about shows the parameters of an operation", async () => {
    const { out } = await run(["call", "get_rank_history", "--about"])
    expect(out).toContain("get_rank_history  GET /v1/apps/:appId/history")
    expect(out).toMatch(/appId +required +App id from list_apps/)
  })

  test.each([
    [["list_keyword_rank"], 2, "did you mean list_keyword_ranks?"],
    [["list_keyword_ranks"], 2, "appId is missing"],
    [["list_keyword_ranks", "appId=none", "contry=us"], 2, "country"],
    [["list_keyword_ranks", "appId"], 2, '"appId" must be NAME=VALUE'],
    [["list_keyword_ranks", "appId=app_unknown000"], 1, "no such app"],
    [["get_usage", "--csv"], 2, "the answer of get_usage has no rows"],
  ])("call explains wrong usage: %j", async (words, code, expected) => {
    const ended = await run(["call", ...words])
    expect([ended.code, ended.out]).toEqual([code, ""])
    expect(ended.err).toContain(expected)
  })
})

test("the commands alerts, reviews and usage print data, and reviews reports an unread storefront", async () => {
  const [alerts, reviews, usage] = await Promise.all([["alerts"], ["reviews", "tide"], ["usage"]].map(run))
  expect([alerts?.code, reviews?.code, usage?.code]).toEqual([0, 0, 0])
  expect(reviews?.out).toContain("not read yet, so it is unknown whether there are reviews")
  expect(usage?.out).toMatch(/trackedKeywords +10 /)
  expect(alerts?.out.length).toBeGreaterThan(0)
})

slow("the command alerts prints one line per drop, with day and app before the text", async () => {
  const search = (daysAgo: number, rank: number) => {
    const results = [...above(rank), IOS].map((id) => ({ id, name: `App ${id}` }))
    const head = { kind: "search", source: "import", platform: "ios", storefront: "us", term: "moon" }
    return JSON.stringify({ ...head, seenAt: at(daysAgo), depth: 20, complete: true, results })
  }
  const file = join(scratch(), "moon.jsonl")
  writeFileSync(file, [search(21, 3), search(20, 9)].join("\n"))
  expect((await run(["import", file])).code).toBe(0)
  // the command shows the year of a day of another year
  const year = at(20).slice(0, 4) === at(0).slice(0, 4) ? {} : { year: "numeric" as const }
  const day = new Date(at(20)).toLocaleDateString("en-GB", { day: "2-digit", month: "short", ...year, timeZone: "UTC" })
  const { out } = await run(["alerts"])
  const line = out.split("\n").find((row) => row.includes("from 3 to 9"))!
  expect(line.replace(day, "DAY")).toStartWith(
    'DAY  Tide！Times  ▼ "moon" fell from 3 to 9 in the US App Store; 6 apps passed you: App 1200000017, ' +
      "App 1200000016, App 1200000015 and 3 more",
  )
})

slow("the command alerts accepts the filters of the API, and explains an invalid value", async () => {
  const count = async (...filters: string[]) => {
    const { code, out, err } = await run(["alerts", "--limit", "500", "--json", ...filters])
    expect([filters, code, err]).toEqual([filters, 0, ""])
    return (JSON.parse(out) as { alerts: { type: string; day: string; read: boolean }[] }).alerts
  }
  const all = await count()
  const drops = all.filter(({ type }) => type === "rank_drop")
  expect([drops.length > 0, drops.length < all.length]).toEqual([true, true])
  expect(await count("--type", "rank_drop")).toEqual(drops)
  expect(await count("--type", "rank_drop", "--app", "tide", "--read", "--since", addDays(TODAY, -40))).toEqual(drops)
  expect(await count("--to", addDays(TODAY, -10))).toEqual(all.filter(({ day }) => day <= addDays(TODAY, -10)))
  expect(await count("--from", addDays(TODAY, -1), "--until", TODAY)).toEqual(
    all.filter(({ day }) => day >= addDays(TODAY, -1)),
  )
  expect(await count("--unread")).toEqual(all.filter(({ read }) => !read))
  expect((await run(["alerts", "--to", "2020-01-01"])).out).toContain("no alert matches")
  for (const [wrong, expected] of [
    [["--type", "rank"], "rank_drop"],
    [["--since", "yesterday"], "since"],
    [["--unread", "--read"], "exclude each other"],
    [["--app", "Nobody"], "no tracked app matches"],
  ] as const) {
    const { code, err } = await run(["alerts", ...wrong])
    expect([wrong, code, err.includes(expected)]).toEqual([wrong, 2, true])
  }
})

describe("completion", () => {
  const complete = async (typed: string[]) => {
    const { out } = await run(["completion", "bash"])
    const script = join(scratch(), "completion.bash")
    writeFileSync(
      script,
      `${out}
COMP_WORDS=(appmeter ${typed.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${typed.length}
_appmeter; printf '%s\\n' "\${COMPREPLY[@]}"`,
    )
    return Bun.spawnSync(["bash", script]).stdout.toString().trim().split("\n")
  }

  test.skipIf(!Bun.which("bash"))("completion in bash offers the words that match what was typed", async () => {
    expect(await complete(["ra"])).toEqual(["ranks"])
    expect(await complete(["key", "re"])).toEqual(["revoke", "resume"])
    expect(await complete(["app", "keywords", ""])).toEqual(["add", "list", "remove"])
    expect(await complete(["ranks", "Tide Times", "--co"])).toEqual(["--country"])
    expect(await complete(["call", "get_rank"])).toEqual(["get_rank_history"])
    expect(await complete(["call", "get_rank_history", "--js"])).toEqual(["--jsonl", "--json"])
  })

  test("completion offers commands, options and operations in zsh and fish, and refuses other shells", async () => {
    for (const shell of ["zsh", "fish"]) {
      const { code, out } = await run(["completion", shell])
      expect(code).toBe(0)
      for (const word of ["ranks", "revoke", "country", "get_rank_history"]) expect(out).toContain(word)
    }
    const { code, err } = await run(["completion", "nu"])
    expect([code, err]).toEqual([2, "appmeter: the shell must be one of bash, zsh, fish\n"])
  })
})
