import { beforeAll, describe, expect, test } from "bun:test"
import { catalog } from "../../src/catalog.ts"
import type { Operation } from "../../src/core/operation.ts"
import { readTree } from "../../src/database/assets.ts"
import { type TableType, tableColumns, tableText, tableTypeFor } from "../../src/http/tables.ts"
import { freshDatabase } from "../database.ts"
import { NOW, reading } from "../measuring/record/measured.ts"
import { record } from "../record.ts"
import { openService, type Service } from "../service.ts"
import { readCsv } from "../sharing/read-csv.ts"
import { trackOwn } from "../world/tracked.ts"

const CSV = "text/csv; charset=utf-8; header=present"
const tabular = catalog.filter(({ table }) => table !== undefined)

/** Parses CSV into rows by column. */
function csvRows(text: string): Record<string, string>[] {
  const [header, ...records] = readCsv(text) as [string[], ...string[][]]
  for (const fields of records) expect(fields.length).toBe(header.length)
  return records.map((fields) => Object.fromEntries(header.map((name, at) => [name, fields[at] as string])))
}

// biome-ignore lint/suspicious/noExplicitAny: rows of every operation
const jsonRows = (text: string): any[] =>
  text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line))

/** Operations whose table is one list of the answer, with that list. */
const LISTS: Record<string, string> = {
  get_keyword_competition: "keywords",
  get_rival_ad_networks: "networks",
  get_storefront_audit: "rows",
  get_timeline: "changes",
  hive_find_apps: "apps",
  hive_get_chart: "apps",
  hive_get_keyword_gap: "keywords",
  hive_get_landscape: "categories",
  hive_get_publisher: "apps",
  hive_get_similar_apps: "apps",
  hive_list_new_apps: "apps",
  hive_list_reviews: "reviews",
  hive_research_keyword: "keywords",
  hive_resolve_app: "apps",
  hive_spy_app: "keywords",
  list_ads_commands: "commands",
  list_ads_keywords: "keywords",
  list_ads_search_terms: "terms",
  list_alerts: "alerts",
  list_apps: "apps",
  list_campaigns: "campaigns",
  list_rivals: "rivals",
}

/**
 * Returns the part of an answer that its rows contain: the whole answer, or one list and each single value, unless a
 * column has the same name.
 */
function partOf({ id, table }: Operation, answer: Record<string, unknown>): Record<string, unknown> {
  const list = LISTS[id]
  if (!list) return answer
  const isOnce = (name: string) => typeof answer[name] !== "object" && !table!.columns.includes(name)
  return Object.fromEntries(Object.entries(answer).filter(([name]) => name === list || isOnce(name)))
}

/** Returns the values of a cell. If the cell has a list, which is JSON, returns each of its values. */
const valuesOfCell = (cell: string): unknown[] => (/^[[{]/.test(cell) ? valuesIn(JSON.parse(cell)) : [cell])

/** Returns every known value of an answer, at any depth. */
function valuesIn(answer: unknown): (string | number | boolean)[] {
  if (answer === null || answer === undefined) return []
  if (typeof answer !== "object") return [answer as string | number | boolean]
  return Object.values(answer).flatMap(valuesIn)
}

const written = (operation: Operation, answer: unknown, type: TableType = "text/csv") =>
  tableText(operation, answer, type)

test("every answer that is one list of rows is available as CSV and JSON Lines", () => {
  const composed = [
    "get_chart_positions",
    "get_rank_history",
    "hive_get_keyword_ranks",
    "list_keyword_ranks",
    "list_reviews",
    "search_reviews",
  ]
  expect(tabular.map(({ id }) => id).sort()).toEqual([...composed, ...Object.keys(LISTS)].sort())
})

describe.each(tabular)("$id", (operation) => {
  const { answer } = JSON.parse(readTree("fixtures/sandbox", ".json").get(`${operation.id}.json`) as string)

  test("every value of the answer is in its rows, as CSV and as JSON Lines", async () => {
    const rows = csvRows(await written(operation, answer))
    const cells = new Set(rows.flatMap((row) => Object.values(row).flatMap(valuesOfCell).map(String)))
    const values = new Set(jsonRows(await written(operation, answer, "application/jsonl")).flatMap(valuesIn))
    const present = valuesIn(partOf(operation, answer))
    expect(present.length).toBeGreaterThan(10)
    for (const value of present) {
      expect([value, values.has(value)]).toEqual([value, true])
      expect([value, cells.has(String(value)) || cells.has(`'${value}`)]).toEqual([value, true])
    }
  })

  test("every row has the declared columns, and a cell is empty exactly if its value is unknown", async () => {
    const [csv, lines] = [
      csvRows(await written(operation, answer)),
      jsonRows(await written(operation, answer, "application/jsonl")),
    ]
    expect(csv.length).toBe(lines.length)
    const isFilled = (name: string) =>
      answer[name] !== undefined || [...operation.table!.rows(answer)].some((row) => row[name] !== undefined)
    const columns = tableColumns(operation).filter(isFilled)
    for (const [at, row] of csv.entries()) {
      expect(Object.keys(row)).toEqual(columns)
      expect(Object.keys(lines[at])).toEqual(columns)
      for (const [name, cell] of Object.entries(row)) {
        const value = lines[at][name]
        expect([name, cell]).toEqual([name, value === null ? "" : expect.stringMatching(/./s)])
        if (typeof value === "object" && value !== null) expect(cell).toBe(JSON.stringify(value))
        else if (typeof value !== "string" && value !== null) expect(cell).toBe(String(value))
      }
    }
  })

  test("a table has no duplicate column and no column that is always empty", () => {
    const columns = tableColumns(operation)
    expect(new Set(columns).size).toBe(columns.length)
    const rows = [...operation.table!.rows(answer)]
    for (const row of rows) expect(operation.table!.columns).toEqual(expect.arrayContaining(Object.keys(row)))
    const filled = (column: string) => rows.some((row) => row[column] !== undefined)
    // the column of an optional field exists if the answer has that field
    if (!LISTS[operation.id]) expect(operation.table!.columns.filter((column) => !filled(column))).toEqual([])
  })
})

describe("over HTTP", () => {
  let service: Service
  let workspace: number
  let key: string
  let app: string

  beforeAll(async () => {
    service = openService({ sql: await freshDatabase(), now: () => NOW })
    workspace = await service.workspace()
    key = await service.key(workspace)
    const tracked = { workspaceId: workspace, iosId: "10001", countries: ["us", "de"], origin: "own" }
    app = await trackOwn(service.sql, { ...tracked, keywords: ["tea", "mate", '=HYPERLINK("x")', "a,b"] })
    const days = [
      reading("tea", "2025-11-18T10:00:00Z", [10002, 10001], { source: "foreign" }),
      reading("tea", "2025-11-20T10:00:00Z", [10001]),
      reading("mate", "2025-11-20T11:00:00Z", [10002]),
      reading('=hyperlink("x")', "2025-11-20T10:30:00Z", [10001]),
    ]
    await record(service.sql, days, () => NOW)
  })

  const callAs = (path: string, accept: string, headers = {}) =>
    service.call(path, { key, headers: { accept, ...headers } })

  test("keyword rows distinguish ranked, unranked and unmeasured keywords, with source and time", async () => {
    const { status, headers, text } = await callAs(`/v1/apps/${app}/keywords`, "text/csv")
    expect([status, headers.get("content-type")]).toEqual([200, CSV])
    expect(headers.get("vary")).toContain("accept")
    expect(csvRows(text)).toMatchObject([
      {
        term: "tea",
        measured: "true",
        rank: "1",
        source: "import",
        measuredAt: "2025-11-20T10:00:00.000Z",
        country: "us",
        live: "true",
      },
      { term: "mate", measured: "true", rank: "", source: "import", measuredAt: "2025-11-20T11:00:00.000Z" },
      { term: `'=hyperlink("x")`, measured: "true", rank: "1" },
      { term: "a,b", measured: "false", rank: "", source: "", measuredAt: "", popularity: "", demand: "" },
    ])
  })

  test("history has one row per measured day with its source, or a single row if nothing was measured", async () => {
    const { text } = await callAs(`/v1/apps/${app}/history`, "application/jsonl")
    const window = { country: "us", platform: "ios", to: "2025-11-20" }
    expect(jsonRows(text)).toMatchObject([
      { day: "2025-11-18", term: "tea", measured: true, rank: 2, source: "foreign", ...window },
      { day: "2025-11-20", term: "tea", measured: true, rank: 1, source: "import", ...window },
      { day: "2025-11-20", term: "mate", measured: true, rank: null, source: "import", ...window },
      { day: "2025-11-20", term: '=hyperlink("x")', rank: 1 },
      { day: null, term: "a,b", measured: false, rank: null, source: null, ...window },
    ])
  })

  test("reviews that were never read are one row with the state never_read, instead of no rows", async () => {
    const { text } = await callAs(`/v1/apps/${app}/reviews`, "text/csv")
    expect(csvRows(text)).toMatchObject([
      { platform: "ios", id: "", rating: "", text: "", feed: "us", feedState: "never_read", total: "", newCount: "" },
      { platform: "android", id: "", feed: "", feedState: "no_app", total: "" },
    ])
    const found = await callAs(`/v1/apps/${app}/reviews/search`, "text/csv")
    expect(csvRows(found.text)).toMatchObject([{ id: "", feedState: "never_read", total: "", truncated: "false" }])
  })

  test("unread charts are rows without a figure, and an app without charts is one row", async () => {
    const rows = csvRows((await callAs(`/v1/apps/${app}/charts`, "text/csv")).text)
    expect(rows.length).toBe(12)
    for (const row of rows)
      expect(row).toMatchObject({ measured: "false", day: "", rank: "", depth: "", source: "", state: "not_measured" })
    const android = {
      workspaceId: workspace,
      androidPkg: "com.example.tea",
      countries: ["us"],
      keywords: [],
      origin: "own",
    }
    const other = await trackOwn(service.sql, android)
    const none = csvRows((await callAs(`/v1/apps/${other}/charts`, "text/csv")).text)
    expect(none).toMatchObject([{ device: "", rank: "", state: "no_ios_app" }])
  })

  test("rows cost the same as JSON, have their own ETag, and return 304 for it", async () => {
    const path = `/v1/apps/${app}/keywords`
    const tags = new Map<string, string>()
    for (const accept of ["application/json", "text/csv", "application/jsonl"]) {
      const before = (await service.call("/v1/account", { key })).credits.used
      const answer = await callAs(path, accept)
      expect(answer.credits.used - before).toBe(1)
      tags.set(accept, answer.headers.get("etag") as string)
    }
    expect(new Set(tags.values()).size).toBe(3)
    for (const [accept, etag] of tags)
      for (const other of tags.keys()) {
        const { status, credits } = await callAs(path, other, { "if-none-match": etag })
        expect([accept, other, status]).toEqual([accept, other, accept === other ? 304 : 200])
        expect(credits.used).toBeGreaterThan(0)
      }
  })

  test("a refusal and an answer without rows are sent as JSON even if CSV is requested", async () => {
    for (const path of [`/v1/apps/${app}/keywords?country=zz`, "/v1/apps/none/history", "/v1/account", "/v1/nowhere"]) {
      const { headers } = await callAs(path, "text/csv")
      expect([path, headers.get("content-type")]).toEqual([path, "application/json; charset=utf-8"])
    }
  })

  test("apps, alerts and hive_find_apps are also available as rows, at the price of the JSON", async () => {
    const apps = await callAs("/v1/apps", "text/csv")
    expect(csvRows(apps.text)).toMatchObject([{ id: app, iosId: "10001", countries: '["us","de"]', goal: "" }, {}])
    const alerts = await callAs("/v1/alerts", "application/jsonl")
    expect([alerts.headers.get("content-type"), alerts.status]).toEqual(["application/jsonl; charset=utf-8", 200])
    const explorer = await service.key(await service.workspace({ explorer: true, plan: "pro" }))
    const found = await service.call("/v1/hive/find?genre=6012&country=us", {
      key: explorer,
      headers: { accept: "text/csv" },
    })
    expect([found.status, found.headers.get("content-type"), found.credits.used]).toEqual([200, CSV, 1])
    expect(csvRows(found.text)).toMatchObject([{ id: "", rank: "", platform: "ios", total: "0", page: "1" }])
  })

  test("a test key gets the sample as rows, and the sandbox stays JSON", async () => {
    const testKey = await service.key(workspace, { kind: "test" })
    const path = "/apps/app_lumenjournal/keywords"
    const { text } = await service.call(`/v1${path}`, { key: testKey, headers: { accept: "text/csv" } })
    expect(csvRows(text).length).toBe((await service.call(`/v1/sandbox${path}`)).body.keywords.length)
    const sandbox = await service.call(`/v1/sandbox${path}`, { headers: { accept: "text/csv" } })
    expect(sandbox.body.keywords.length).toBeGreaterThan(1)
  })
})

test("the media type with the highest weight is used; unknown types get JSON instead of a refusal", () => {
  const cases: [string, TableType | null][] = [
    ["text/csv", "text/csv"],
    ["TEXT/CSV; charset=utf-8", "text/csv"],
    ["application/jsonl", "application/jsonl"],
    ["application/x-ndjson", "application/x-ndjson"],
    ["*/*", null],
    ["", null],
    ["application/json", null],
    ["text/html,*/*;q=0.8", null],
    ["text/csv, */*", "text/csv"],
    ["text/csv;q=0.5, */*", null],
    ["text/csv;q=0.5, application/json", null],
    ["text/csv;q=0.9, */*;q=0.1", "text/csv"],
    ["application/json, text/csv", null],
    ["text/csv, application/json", "text/csv"],
    ["application/json;q=0.5, text/csv", "text/csv"],
    ["text/csv;q=0", null],
    ["text/csv;q=x", null],
    ["text/*", null],
    ["image/png", null],
    ["application/jsonl;q=0.9, text/csv;q=0.8", "application/jsonl"],
    ["__proto__, constructor", null],
  ]
  for (const [accepted, type] of cases) expect([accepted, tableTypeFor(accepted)]).toEqual([accepted, type])
})

test("a column that the call excluded is absent; a column whose values are unknown stays and is empty", async () => {
  const operation = catalog.find(({ id }) => id === "list_keyword_ranks") as Operation
  const answer = {
    country: "us",
    platform: "ios",
    live: false,
    measuredAt: null,
    keywords: [{ term: "tea", rank: null }],
  }
  expect(csvRows(await written(operation, answer))).toEqual([
    { term: "tea", rank: "", country: "us", platform: "ios", live: "false" },
  ])
})
