import { beforeEach, expect, test } from "bun:test"
import type { Sql } from "../../../src/database/types.ts"
import { KINDS } from "../../../src/kinds.ts"
import { createBatchSize } from "../../../src/measuring/import/batch-size.ts"
import { LineProblem } from "../../../src/measuring/import/lines.ts"
import { freshDatabase } from "../../database.ts"
import { long, slow } from "../../long.ts"
import { importLines, parseLine } from "../../record.ts"
import { NOW, stored } from "../record/measured.ts"

let sql: Sql
const now = () => NOW

beforeEach(async () => {
  sql = await freshDatabase()
})

const search = (rest: object = {}) => ({
  kind: "search",
  source: "import",
  platform: "ios",
  storefront: "us",
  term: "tea",
  seenAt: "2025-10-25T03:25:01.530039+00:00",
  results: [{ id: "10001", name: "Tea" }, { id: "10002" }],
  ...rest,
})
const attempt = (rest: object = {}) => ({
  kind: "attempt",
  source: "import",
  platform: "ios",
  storefront: "us",
  term: "tea",
  at: "2025-10-25T03:25:01Z",
  outcome: "blocked",
  ...rest,
})

async function* lines(...values: (object | string)[]): AsyncGenerator<string> {
  for (const value of values) yield typeof value === "string" ? value : JSON.stringify(value)
}

function reasonOf(value: object | string): string {
  try {
    parseLine(typeof value === "string" ? value : JSON.stringify(value))
    return "accepted"
  } catch (error) {
    expect(error).toBeInstanceOf(LineProblem)
    return (error as Error).message
  }
}

test("a line may leave out optional fields, which get their defaults", () => {
  const text = JSON.stringify(search({ term: "  TEA  Time ", storefront: "US" }))
  const parsed = parseLine(text)
  if (parsed.kind !== "observation" || parsed.observation.kind !== "search") throw new Error("read as another kind")
  const { term, storefront, depth, complete, parser, origin, seenAt, sha256 } = parsed.observation
  expect({ term, storefront, depth, complete, parser, origin, seenAt }).toEqual({
    term: "tea  time",
    storefront: "us",
    depth: 2,
    complete: true,
    parser: 1,
    origin: "own",
    seenAt: new Date("2025-10-25T03:25:01.530Z"),
  })
  expect(Buffer.from(sha256).toString("hex")).toBe(new Bun.SHA256().update(text).digest("hex"))
})

test("a line's ending is not part of its hash", () => {
  const hashes = ["", "\r", " \n"].map((end) => {
    const parsed = parseLine(JSON.stringify(search()) + end)
    return parsed.kind === "observation" && Buffer.from(parsed.observation.sha256).toString("hex")
  })
  expect(new Set(hashes).size).toBe(1)
})

test("an unreadable line is refused with the field and the rule, and is not quoted", () => {
  const cases: [object | string, string][] = [
    ["{", "the line is not JSON"],
    ["[]", "the line is not a JSON object"],
    [
      { kind: "secret" },
      `kind: must be one of ${KINDS.map(({ name }) => name)
        .join(", ")
        .replace("search, ", "search, attempt, ")}`,
    ],
    [
      search({ source: "itunes-search" }),
      "source: the iTunes Search API is not a source of ranks: its order differs from the order on a phone",
    ],
    [
      search({ source: "hearsay" }),
      "source: must be one of apple-web-search, apple-store-search, play-search, import, foreign",
    ],
    [search({ platform: "web" }), "platform: must be ios or android"],
    [search({ storefront: "usa" }), "storefront: must be two letters"],
    [search({ seenAt: "yesterday" }), "seenAt: must be an ISO 8601 time with its zone"],
    [search({ seenAt: "2025-10-25T03:25:01" }), "seenAt: must be an ISO 8601 time with its zone"],
    [search({ seenAt: "2025-02-30T03:25:01Z" }), "seenAt: is not an existing day"],
    [search({ seenAt: undefined }), "seenAt: is missing"],
    [search({ term: 5 }), "term: must be text"],
    [search({ results: [] }), "depth: must be given when results is empty"],
    [search({ results: {} }), "results: must be a list"],
    [search({ results: [{ id: "10001" }, { id: 10002 }] }), "results[1].id: must be text"],
    [search({ results: [{ name: "Tea" }] }), "results[0].id: is missing"],
    [search({ results: [5] }), "results[0]: must be an object"],
    [search({ results: [{ id: "10001", secret: 1 }] }), "results[0]: has an unknown field"],
    [search({ secret: 1 }), "the line: has an unknown field"],
    [search({ depth: 1.5 }), "depth: must be a whole number"],
    [search({ sha256: "12" }), "sha256: must be 64 hex digits"],
    [search({ complete: "yes" }), "complete: must be true or false"],
    [
      attempt({ outcome: "bored" }),
      "outcome: must be one of blocked, rate_limited, not_found, changed, mismatched, failed",
    ],
    [
      attempt({ source: "itunes-search" }),
      "source: the iTunes Search API is not a source of ranks: its order differs from the order on a phone",
    ],
    [`"${"x".repeat(1_000_001)}"`, "the line has more than 1,000,000 characters"],
  ]
  for (const [line, reason] of cases) expect(reasonOf(line)).toBe(reason)
})

test("invalid lines are skipped and reported by their line number, and all valid lines are stored", async () => {
  const progress: number[] = []
  const result = await importLines(
    sql,
    lines(
      `\uFEFF${JSON.stringify(search())}`,
      "",
      "not json",
      search({ term: "mate", results: [], depth: 20 }),
      search({ term: "odd", results: [{ id: "10003" }, { id: "12" }] }),
      attempt(),
      attempt({ storefront: "xx" }),
      search({ term: "late", seenAt: "2031-01-01T00:00:00Z" }),
      search(),
    ),
    { batch: 2, now, onProgress: ({ read }) => progress.push(read) },
  )
  expect(result).toEqual({
    read: 8,
    recorded: 2,
    known: 1,
    attempts: 1,
    bad: [
      { line: 3, reason: "the line is not JSON" },
      { line: 5, reason: "an id among the results is not an id of that store" },
      { line: 7, reason: "the storefront must be a lower-case two-letter code of the store" },
      { line: 8, reason: "the time lies in the future" },
    ],
  } as never)
  expect(progress.length).toBeGreaterThan(2)
  expect(progress.at(-1)).toBe(8)
  const terms =
    await sql`select term, cardinality(app_ids) as apps from list join search_results on list_id = id order by term`
  expect([...terms]).toEqual([
    { term: "mate", apps: 0 },
    { term: "tea", apps: 2 },
  ])
  expect(await sql`select 1 from store_app where store_id = '10003'`).toHaveLength(0)
})

slow("a transaction has at most 1,000 results, with a pause before the next", async () => {
  const deep = (minute: number) =>
    search({
      seenAt: `2025-10-25T03:${10 + minute}:00Z`,
      results: Array.from({ length: 250 }, (_, place) => ({ id: String(10_000 + place) })),
    })
  const steps: (number | string)[] = []
  await importLines(sql, lines(...Array.from({ length: 9 }, (_, minute) => deep(minute))), {
    now,
    onProgress: ({ recorded }) => steps.push(recorded),
    pause: async () => void steps.push("pause"),
  })
  const counts = steps.filter((step) => step !== "pause") as number[]
  expect(counts.at(-1)).toBe(9)
  expect(counts.filter((count, i) => count - (counts[i - 1] ?? 0) > 4)).toEqual([])
  // one pause between every two transactions, and one before keyword metrics are derived
  expect(steps).toEqual(counts.flatMap((count) => [count, "pause"]))
})

long("a long page of reviews is stored in parts, and is recorded as read with its last part", async () => {
  const page = {
    kind: "reviews",
    source: "apple-reviews",
    platform: "ios",
    storefront: "us",
    storeId: "897446215",
    seenAt: "2025-10-25T03:00:00Z",
    complete: true,
    reviews: Array.from({ length: 1_000 }, (_, i) => {
      return {
        id: String(i),
        stars: 1 + (i % 5),
        text: `Text ${i}`,
        at: new Date(Date.UTC(2025, 9, 24) - i * 60_000).toISOString(),
      }
    }),
  }
  const counts: [number, number][] = []
  const pause = async () => {
    const [row] = await sql<{ reviews: number; ends: number }[]>`
      select (select count(*) from review_version) as reviews, (select count(*) from review_read) as ends`
    counts.push([row!.reviews, row!.ends])
  }
  const file = [page]
  expect(await importLines(sql, lines(...file), { now, pause })).toMatchObject({
    read: 1,
    recorded: 1,
    known: 0,
    bad: [],
  })
  await pause()
  expect(counts.length).toBeGreaterThan(2)
  expect(counts.filter(([reviews, ends]) => reviews < 1_000 && ends > 0)).toEqual([])
  expect(counts.at(-1)).toEqual([1_000, 1])
  expect(await importLines(sql, lines(...file), { now })).toMatchObject({ read: 1, recorded: 0, known: 1, bad: [] })
})

test("the size of transactions adapts to about 25 ms on any machine", () => {
  const stored = (perMs: number) => {
    const size = createBatchSize()
    for (let i = 0; i < 20; i++) size.note(size.results, size.results / perMs)
    return size.results
  }
  expect([stored(10), stored(4), stored(1_000), stored(0.1)]).toEqual([250, 100, 1_000, 50])
})

slow("a second import of the same lines changes no row", async () => {
  const file = [search(), search({ term: "mate" }), attempt(), search({ seenAt: "2023-01-31T00:00:00Z" })]
  const first = await importLines(sql, lines(...file), { now })
  expect(first).toMatchObject({ recorded: 3, known: 0, attempts: 1 })
  const before = await stored(sql)
  const repeated = await importLines(sql, lines(...file), { now, batch: 1 })
  expect(repeated).toMatchObject({ recorded: 0, known: 4, attempts: 0, bad: [] })
  expect(await stored(sql)).toBe(before)
})

test("a line with a duplicate item or with null in an optional field is imported", async () => {
  const cases = await Bun.file(new URL("../../cases/stores/imports.jsonl", import.meta.url)).text()
  const result = await importLines(sql, lines(...cases.trim().split("\n")), {
    now: () => new Date("2026-11-28T00:00:00Z"),
    pause: async () => {},
  })
  expect([result.recorded, result.bad]).toEqual([3, []] as never)
  const reviews = await sql`select review_id, title from review order by review_id`
  expect(reviews.map(({ review_id, title }) => [review_id, title])).toEqual([
    ["13100000001", "Good"],
    ["13100000002", "Bad"],
    ["13100000003", null],
  ])
  expect(reasonOf(search({ results: [{ id: "10001" }, { id: "10002" }, { id: "10001" }], depth: null }))).toBe(
    "accepted",
  )
  expect(reasonOf(search({ term: null }))).toBe("term: is missing")
})

const review = (id: string, rest: object = {}) => ({
  id,
  stars: 5,
  text: "x",
  at: "2025-10-20T20:11:00Z",
  ...rest,
})
const page = (reviews: object[], rest: object = {}) => ({
  kind: "reviews",
  source: "apple-reviews",
  platform: "ios",
  storefront: "us",
  storeId: "6744000010",
  seenAt: "2025-10-21T03:25:01Z",
  complete: true,
  reviews,
  ...rest,
})

test("an invalid review is skipped and reported by line and index, and the others are recorded", async () => {
  const reviews = [
    review("1"),
    review("1"),
    review("2", { stars: 7 }),
    review("3", { text: 4 }),
    review("4", { at: "2035-01-01T00:00:00Z" }),
    review("5"),
  ]
  const result = await importLines(sql, lines(search(), page(reviews)), { now })
  expect([result.recorded, result.bad]).toEqual([2, []] as never)
  expect(result.skipped?.map(({ line, reason }) => `${line} ${reason.split(":")[0]}`)).toEqual([
    "2 reviews[3].text",
    "2 reviews[2].stars",
    "2 reviews[4].at",
  ])
  const rows = await sql`select review_id from review_version order by review_id`
  expect(rows.map(({ review_id }) => review_id)).toEqual(["1", "5"])
  expect((await sql`select from review_read`).length).toBe(0)
})

test("a line is refused as a whole if it has no valid review or if one app of a ranking is invalid", async () => {
  const ranking = search({ results: [{ id: "10001" }, { id: "10002", ratings: "many" }] })
  const result = await importLines(sql, lines(page([review("2", { stars: 7 })]), ranking), { now })
  expect([result.recorded, result.skipped, result.bad.map(({ line }) => line)]).toEqual([0, undefined, [1, 2]] as never)
  expect(result.bad[0]?.reason).toStartWith("reviews[0].stars: ")
})
