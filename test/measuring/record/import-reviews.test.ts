import { beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { hash } from "node:crypto"
import type { Sql } from "../../../src/database/types.ts"
import { freshDatabase } from "../../database.ts"
import { slow } from "../../long.ts"
import { importLines, parseLine } from "../../record.ts"
import { reasonOf } from "../import/reason-of.ts"
import { stored } from "./measured.ts"
import { ALL, COUNTRIES, GAMES, isAllHere, linesOf, type Row, rowsOf, SEEN_AT, SOME } from "./review-rows.ts"

setDefaultTimeout(60_000)

let sql: Sql
const options = { now: () => new Date("2026-02-01T00:00:00Z"), pause: async () => {} }

beforeEach(async () => {
  sql = await freshDatabase()
})

async function* each(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines
}

const line = (rest: object = {}) => ({
  kind: "reviews",
  source: "apple-reviews",
  platform: "ios",
  storefront: "US",
  storeId: "1482155847",
  seenAt: "2026-01-12T02:00:00+02:00",
  reviews: [{ id: "9", stars: 5, text: "Fine", at: "2026-01-11T06:23:00-07:00" }],
  ...rest,
})

function observationOf(value: object) {
  const parsed = parseLine(JSON.stringify(value))
  if (parsed.kind !== "observation") throw new Error("read as an attempt")
  return parsed.observation
}

describe("a line of reviews", () => {
  test("a line of reviews is parsed with the reviews of an app, and by default as incomplete", () => {
    const expected = {
      ...line(),
      parser: 1,
      origin: "own",
      egress: undefined,
      sha256: hash("sha256", JSON.stringify(line()), "buffer"),
      storefront: "us",
      seenAt: new Date("2026-01-12T00:00:00Z"),
      reviews: [{ id: "9", stars: 5, text: "Fine", at: new Date("2026-01-11T13:23:00Z") }],
    }
    expect(observationOf(line())).toEqual(expected as never)
    expect(observationOf(line({ pages: 4, complete: false }))).toMatchObject({
      end: { pages: 4, complete: false, empty: false },
    })
    expect(observationOf(line({ complete: true, reviews: [] }))).toMatchObject({
      end: { pages: 1, complete: true, empty: true },
    })
    const play = { source: "play-reviews", platform: "android", storeId: "com.example.tea", language: "pt-BR" }
    expect(observationOf(line(play))).toMatchObject(play as never)
  })

  test("a malformed line of reviews is refused with the field and the rule", () => {
    const [review] = line().reviews
    const cases: [object, string][] = [
      [line({ source: "import" }), "source: must be one of apple-reviews, play-reviews"],
      [line({ storeId: undefined }), "storeId: is missing"],
      [line({ reviews: {} }), "reviews: must be a list"],
      [line({ reviews: [{ ...review, stars: "5" }] }), "reviews[0].stars: must be a number"],
      [line({ reviews: [{ ...review, text: undefined }] }), "reviews[0].text: is missing"],
      [line({ reviews: [{ ...review, at: "2026-01-11" }] }), "reviews[0].at: must be an ISO 8601 time with its zone"],
      [line({ reviews: [{ ...review, author: "Ann" }] }), "reviews[0]: has an unknown field"],
      [line({ reviews: [] }), "complete: must be true when reviews is empty"],
      [line({ reviews: [], complete: false }), "complete: must be true when reviews is empty"],
      [line({ complete: "yes" }), "complete: must be true or false"],
    ]
    for (const [value, reason] of cases) expect(reasonOf(value)).toBe(reason)
  })

  test("a line of reviews that breaks an invariant is skipped and reported", async () => {
    const bad = line({ reviews: [{ ...line().reviews[0], stars: 6 }] })
    const lines = [JSON.stringify(bad), JSON.stringify(line())]
    expect(await importLines(sql, each(lines), options)).toEqual({
      read: 2,
      recorded: 1,
      known: 0,
      attempts: 0,
      bad: [{ line: 1, reason: "reviews[0].stars: must be a whole number from 1 to 5" }],
    })
  })
})

describe("an invalid review among fifty", () => {
  const fifty = (odd: object) =>
    line({
      reviews: Array.from({ length: 50 }, (_, i) => ({
        id: String(100 + i),
        stars: 1 + (i % 5),
        title: `title ${i}`,
        text: `text ${i}`,
        version: "1.2",
        at: new Date(Date.parse("2026-01-11T00:00:00Z") - i * 60_000).toISOString(),
        ...(i === 30 && odd),
      })),
    })
  const imported = async (odd: object) => {
    expect(await importLines(sql, each([JSON.stringify(fifty(odd))]), options)).toMatchObject({ recorded: 1, bad: [] })
    const rows = await sql<{ review_id: string; title: string | null; text: string; version: string | null }[]>`
      select review_id, title, text, version from review where review_id = '130' or title is null or version is null`
    return [...rows]
  }

  test("a review with a blank title is stored without the title", async () => {
    expect(await imported({ title: "\u3000" })).toEqual([
      { review_id: "130", title: null, text: "text 30", version: "1.2" },
    ])
  })

  test("a review with an invalid version or unstorable characters is stored without them", async () => {
    const odd = { title: "a\0b", text: `\ud83d${"x".repeat(30_000)}`, version: "9".repeat(101) }
    expect(await imported(odd)).toEqual([
      { review_id: "130", title: "ab", text: `\ufffd${"x".repeat(19_999)}`, version: null },
    ])
  })

  test("a review with an impossible rating, id or date is skipped and reported", async () => {
    const cases: [object, string][] = [
      [{ stars: 0 }, "reviews[30].stars: must be a whole number from 1 to 5"],
      [{ id: "a b" }, "reviews[30].id: must have 1 to 100 ASCII characters without spaces"],
      [
        { at: "2026-01-14T00:00:00Z" },
        "reviews[30].at: must lie after the stores opened, and at most a day after the review was seen",
      ],
    ]
    for (const [odd, reason] of cases) {
      const { bad, skipped } = await importLines(sql, each([JSON.stringify(fifty(odd))]), options)
      expect({ bad, skipped }).toEqual({ bad: [], skipped: [{ line: 1, reason }] })
    }
  })
})

const SETS: [name: string, path: string, size: number][] = [["203 real reviews", SOME, 203]]
if (isAllHere) SETS.push(["the 8,820 real reviews", ALL, 8_820])

for (const [name, path, size] of SETS) {
  slow(`${name} are imported completely, and a second import changes nothing`, async () => {
    const rows = rowsOf(path)
    expect(rows).toHaveLength(size)
    const lines = linesOf(rows)
    const whole = { read: 18, recorded: 18, known: 0, attempts: 0, bad: [] }
    expect(await importLines(sql, each(lines), options)).toEqual(whole)
    const before = await stored(sql)
    expect(await importLines(sql, each(lines), options)).toEqual({ ...whole, recorded: 0, known: 18 })
    expect(await stored(sql)).toBe(before)

    expect(await counted()).toEqual(tallied(rows))
    expect(await texts()).toEqual(
      rows.map(({ review_id, title, review }) => `${review_id} ${title.trim() && title} ${review}`).sort(),
    )
    const reads = await sql`select distinct seen_at, pages, complete, empty, count(*) over () as rows from review_read`
    expect([...reads]).toEqual([{ seen_at: new Date(SEEN_AT), pages: 10, complete: true, empty: false, rows: 18 }])
  })
}

interface Count {
  reviews: number
  stars: number
  days: string
  versions: number
}

/** Returns what is stored, by app and country. */
async function counted(): Promise<Record<string, Count>> {
  const rows = await sql<(Count & { feed: string; app: string })[]>`
    select a.store_id as app, r.feed, count(*)::int as reviews, sum(r.stars)::int as stars,
      to_char(min(r.at at time zone 'utc'), 'YYYY-MM-DD') || ' ' || to_char(max(r.at at time zone 'utc'),
        'YYYY-MM-DD') as days,
      count(distinct r.version)::int as versions
    from review r
    join store_app a on a.id = r.app_id
    group by a.store_id, r.feed
    order by a.store_id, r.feed`
  return Object.fromEntries(rows.map(({ app, feed, ...count }) => [`${app} ${feed}`, count]))
}

/** Returns the same, computed from the rows themselves. */
function tallied(rows: readonly Row[]): Record<string, Count> {
  const feeds = Map.groupBy(rows, ({ game, country }) => `${GAMES[game]} ${COUNTRIES[country]}`)
  const tally = [...feeds].map(([feed, reviews]): [string, Count] => {
    const days = reviews.map(dayOf).sort()
    const stars = reviews.reduce((sum, { rating }) => sum + Number(rating), 0)
    const versions = new Set(reviews.map(({ version }) => version)).size
    return [feed, { reviews: reviews.length, stars, days: `${days[0]} ${days.at(-1)}`, versions }]
  })
  return Object.fromEntries(tally)
}

/** Returns the day in UTC; the times are written with an offset of -7 hours. */
function dayOf({ date }: Row): string {
  const local = Date.parse(`${date.slice(0, 19).replace(" ", "T")}Z`)
  return new Date(local + 7 * 3_600_000).toISOString().slice(0, 10)
}

async function texts(): Promise<string[]> {
  const rows = await sql<{ text: string }[]>`
    select review_id || ' ' || coalesce(title, '') || ' ' || text as text
    from review`
  return rows.map(({ text }) => text).sort()
}
