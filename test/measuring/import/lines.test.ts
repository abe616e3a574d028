import { beforeEach, describe, expect, test } from "bun:test"
import { hash } from "node:crypto"
import type { Sql } from "../../../src/database/types.ts"
import { KINDS } from "../../../src/kinds.ts"
import { freshDatabase } from "../../database.ts"
import { slow } from "../../long.ts"
import { importLines, parseLine } from "../../record.ts"
import { NOW, stored } from "../record/measured.ts"
import { reasonOf } from "./reason-of.ts"

let sql: Sql

beforeEach(async () => {
  sql = await freshDatabase()
})

const apps = (rest: object = {}) => ({
  kind: "apps",
  source: "itunes-lookup",
  platform: "ios",
  storefront: "US",
  seenAt: "2025-10-25T05:25:01+02:00",
  asked: ["10001", "10002"],
  apps: [{ id: "10001", name: "Tea", price: 0, currency: "USD", ratings: 5, updatedAt: "2025-10-20T08:00:00Z" }],
  ...rest,
})
const hints = (rest: object = {}) => ({
  kind: "hints",
  source: "play-suggest",
  platform: "android",
  storefront: "de",
  prefix: " TE",
  seenAt: "2025-10-25T03:25:01Z",
  terms: ["tea", "tea room"],
  ...rest,
})
const popularity = (rest: object = {}) => ({
  kind: "popularity",
  storefront: "us",
  term: "Tea ",
  month: "2025-09",
  popularity: 71,
  ...rest,
})

function observationOf(line: object) {
  const parsed = parseLine(JSON.stringify(line))
  if (parsed.kind !== "observation") throw new Error("read as an attempt")
  return parsed.observation
}

async function* lines(...values: object[]): AsyncGenerator<string> {
  for (const value of values) yield JSON.stringify(value)
}

describe("a line", () => {
  const rest = (line: object) => ({
    parser: 1,
    origin: "own",
    egress: undefined,
    sha256: hash("sha256", JSON.stringify(line), "buffer"),
  })

  test("a line of apps is parsed with the facts that a store returned", () => {
    expect(observationOf(apps())).toEqual({
      ...apps(),
      ...rest(apps()),
      storefront: "us",
      seenAt: new Date("2025-10-25T03:25:01Z"),
      apps: [
        {
          id: "10001",
          name: "Tea",
          price: 0,
          currency: "USD",
          listing: {},
          ratings: 5,
          updatedAt: new Date("2025-10-20T08:00:00Z"),
        },
      ],
    } as never)
  })

  test("a line of hints is parsed with the suggestions for a prefix", () => {
    const line = hints({
      terms: ["tea", "Tea Room", " tea"],
      egress: "DE",
      sha256: "ab".repeat(32),
      parser: 3,
      origin: "elsewhere",
    })
    expect(observationOf(line)).toEqual({
      ...hints(),
      parser: 3,
      origin: "elsewhere",
      egress: "de",
      sha256: Buffer.alloc(32, 0xab),
      prefix: "te",
      seenAt: new Date("2025-10-25T03:25:01Z"),
    } as never)
  })

  test("a line of a popularity has the end of its month as its time by default", () => {
    const whole = {
      ...popularity(),
      ...rest(popularity()),
      source: "apple-ads-report",
      platform: "ios",
      term: "tea",
      month: "2025-09-01",
      genres: [],
      seenAt: new Date("2025-10-01T00:00:00Z"),
    }
    expect(observationOf(popularity())).toEqual(whole as never)
    expect(observationOf(popularity({ month: "2024-12" })).seenAt).toEqual(new Date("2025-01-01T00:00:00Z"))
    expect(observationOf(popularity({ seenAt: "2025-10-05T00:00:00Z" })).seenAt).toEqual(
      new Date("2025-10-05T00:00:00Z"),
    )
  })

  test("an unreadable line is refused with the field and the rule", () => {
    const cases: [object, string][] = [
      [
        { kind: "toString" },
        "kind: must be one of " +
          `${KINDS.map(({ name }) => name)
            .join(", ")
            .replace("search, ", "search, attempt, ")}`,
      ],
      [apps({ source: "apple-hints" }), "source: must be one of itunes-lookup, itunes-search, play-details"],
      [apps({ asked: undefined }), "asked: is missing"],
      [apps({ asked: [10001] }), "asked[0]: must be text"],
      [apps({ apps: {} }), "apps: must be a list"],
      [apps({ apps: [{ id: "10001", secret: 1 }] }), "apps[0]: has an unknown field"],
      [apps({ apps: [{ id: "10001", price: "0" }] }), "apps[0].price: must be a number"],
      [
        apps({ apps: [{ id: "10001", updatedAt: "2025-02-30T00:00:00Z" }] }),
        "apps[0].updatedAt: is not an existing day",
      ],
      [apps({ apps: [{ id: "10001", ratings: 1.5 }] }), "apps[0].ratings: must be a whole number"],
      [hints({ source: "play-search" }), "source: must be one of apple-hints, play-suggest"],
      [hints({ term: "tea" }), "the line: has an unknown field"],
      [hints({ prefix: undefined }), "prefix: is missing"],
      [hints({ terms: ["tea", null] }), "terms[1]: must be text"],
      [popularity({ month: "2025-13" }), "month: must be a month, YYYY-MM"],
      [popularity({ month: "2025-09-01" }), "month: must be a month, YYYY-MM"],
      [popularity({ source: "import" }), "the line: has an unknown field"],
      [popularity({ popularity: "71" }), "popularity: must be a number"],
      [popularity({ genres: [{ genre: "Games", rank: 1 }] }), "genres[0].popularity: is missing"],
    ]
    for (const [line, reason] of cases) expect(reasonOf(line)).toBe(reason)
  })
})

test("lines of every kind are imported together, and a second import changes nothing", async () => {
  const file = [
    apps(),
    hints(),
    popularity({ genres: [{ genre: "Games", rank: 1, popularity: 100 }] }),
    popularity({ month: "2025-11" }),
    popularity({ term: "mate", popularity: 101 }),
    hints({ storefront: "xx" }),
    apps({ source: "play-details" }),
  ]
  const first = await importLines(sql, lines(...file), { now: () => NOW })
  expect(first).toEqual({
    read: 7,
    recorded: 3,
    known: 0,
    attempts: 0,
    bad: [
      { line: 4, reason: "the time lies in the future" },
      { line: 5, reason: "the popularity must be a whole number from 1 to 100" },
      { line: 6, reason: "the storefront must be a lower-case two-letter code of the store" },
      { line: 7, reason: "the source does not read that platform's store" },
    ],
  })
  const [counts] = await sql`
    select (select count(*) from app_storefront) as apps, (select count(*) from hint_answer) as hints,
      (select count(*) from keyword_metric) as figures, (select count(*) from list) as lists`
  expect(counts).toEqual({ apps: 2, hints: 1, figures: 1, lists: 1 })
  const before = await stored(sql)
  expect(await importLines(sql, lines(...file), { now: () => NOW, batch: 1 })).toMatchObject({ recorded: 0, known: 3 })
  expect(await stored(sql)).toBe(before)
})

slow("a transaction stores at most 1,000 apps, and all apps are stored", async () => {
  const many = (minute: number) =>
    apps({
      seenAt: `2025-10-25T03:1${minute}:00Z`,
      asked: Array.from({ length: 400 }, (_, i) => String(10_000 + i)),
      apps: [],
    })
  const steps: number[] = []
  await importLines(sql, lines(many(0), many(1), many(2), many(3)), {
    now: () => NOW,
    onProgress: ({ read }) => steps.push(read),
    pause: async () => {},
  })
  // the number of transactions follows from the duration of the earlier ones
  expect(steps.length).toBeGreaterThanOrEqual(2)
  expect(steps).toEqual([...steps].sort((a, b) => a - b))
  expect(steps.at(-1)).toBe(4)
})

slow("an imported look-up stores a store page of each named app, and an imported search stores none", () => {
  const line = (source: string, apps: object[]) => {
    const about = { kind: "apps", source, platform: "ios", storefront: "us", seenAt: "2025-10-25T03:25:01Z" }
    return JSON.stringify({ ...about, asked: apps.map((app) => (app as { id: string }).id), apps })
  }
  const listings = (text: string) => {
    const parsed = parseLine(text) as { observation: { apps: { listing?: object }[] } }
    return parsed.observation.apps.map(({ listing }) => listing)
  }
  const apps = [
    { id: "897446215", name: "Canva", version: "4.1" },
    { id: "399355755", version: "4.1" },
    { id: "310633997", name: "WhatsApp", listing: { description: "Talk." } },
    { id: "310633998", name: "Tide", listing: null },
  ]
  expect(listings(line("itunes-lookup", apps))).toEqual([{}, undefined, { description: "Talk." }, {}])
  expect(listings(line("itunes-search", apps.slice(0, 1)))).toEqual([undefined])
})
