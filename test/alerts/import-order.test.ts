import { expect } from "bun:test"
import type { Sql } from "../../src/database/types.ts"
import { freshDatabase } from "../database.ts"
import { slow } from "../long.ts"
import { trackNew } from "./derived-alerts.ts"
import { importAll } from "./import-world.ts"

const TODAY = new Date("2025-11-25T12:00:00Z")
const OWN = "6446000001"
const RIVAL = "6100000001"
const US = { platform: "ios", storefront: "us" }
let sql: Sql

const line = (rest: object) => JSON.stringify({ ...US, ...rest })

function search(day: string, ids: string[], hour = "08"): string {
  const results = ids.map((id) => ({ id }))
  return line({
    kind: "search",
    source: "import",
    term: "tea",
    seenAt: `2025-11-${day}T${hour}:00:00Z`,
    depth: results.length,
    results,
  })
}

const fillers = (count: number) => Array.from({ length: count }, (_, at) => String(6_200_000_001 + at))

const page = (day: string, cards: string[]) =>
  line({
    kind: "listing",
    source: "apple-app-page",
    id: OWN,
    seenAt: `2025-11-${day}T08:00:00Z`,
    listing: { name: "Tea", editorial: cards.map((id) => ({ id, kind: "story", title: id })) },
  })

const chart = (day: string, rank: number) => {
  const ids = fillers(100)
  ids.splice(rank - 1, 1, OWN)
  const apps = ids.map((id) => ({ id }))
  const common = { kind: "chart", source: "import", device: "iphone", chart: "free", genre: "6015" }
  return line({ ...common, seenAt: `2025-11-${day}T08:00:00Z`, depth: 100, apps })
}

const lookUp = (day: string, app: object) => {
  const { id } = app as { id: string }
  return line({ kind: "apps", source: "itunes-lookup", seenAt: `2025-11-${day}T08:00:00Z`, asked: [id], apps: [app] })
}

const rival = (day: string, version: string) => lookUp(day, { id: RIVAL, name: "Cup", version })

const ofDay = (day: string, count: number, stars: number) =>
  Array.from({ length: count }, (_, at) => {
    return { id: `${day}${stars}${at}`, stars, title: "t", text: "x", at: `2025-11-${day}T0${at % 10}:00:00Z` }
  })

const reviews = (day: string, written: object[]) =>
  line({
    kind: "reviews",
    source: "apple-reviews",
    storeId: OWN,
    seenAt: `2025-11-${day}T23:30:00Z`,
    complete: true,
    reviews: written,
  })

const days = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => String(from + at).padStart(2, "0"))

/** Returns the feed after these imports one after another, without alerts about found rivals. */
async function feedAfter(imports: string[][]): Promise<string[]> {
  sql = await freshDatabase()
  await trackNew(sql, ["tea"], { iosId: OWN, manualRivals: [`ios:${RIVAL}`] })
  for (const lines of imports) await importAll(sql, lines, TODAY)
  const rows = await sql<{ line: string }[]>`
    select concat_ws(' ', day, type, facts ->> 'against', facts ->> 'before', facts ->> 'after') as line
    from alert
    where facts ->> 'manual' is distinct from 'false'
    order by day, type, subject`
  return rows.map((row) => row.line)
}

const fiveStars = days(12, 19).flatMap((day) => ofDay(day, 1, 5))

slow.each([
  [
    "a passing gets one alert, on the middle day",
    [search("05", [OWN, RIVAL]), search("07", [RIVAL, OWN])],
    [search("06", [RIVAL, OWN])],
    ["2025-11-06 rival_passed 2025-11-05"],
  ],
  [
    "a passing gets no alert if a later reading of the earlier day has the rival above",
    [search("05", [OWN, RIVAL]), search("07", [RIVAL, OWN])],
    [search("05", [RIVAL, OWN], "12"), search("06", [RIVAL, OWN])],
    [],
  ],
  [
    "a recent fall gets one alert, on the middle day",
    [search("23", [OWN, ...fillers(9)]), search("25", [...fillers(5), OWN])],
    [search("24", [...fillers(5), OWN])],
    ["2025-11-24 rank_drop 2025-11-23"],
  ],
  [
    "a feature gets its alert on the first day that shows it",
    [page("05", []), page("07", ["c1"])],
    [page("06", ["c1"])],
    ["2025-11-06 featured"],
  ],
  [
    "a fall on a chart gets its alert once the app's category is known",
    [chart("05", 10), chart("06", 60)],
    [lookUp("04", { id: OWN, genre: "6015" })],
    ["2025-11-06 chart_drop 2025-11-05"],
  ],
  [
    "a rival's change gets its alert even if the earlier value is imported later",
    [search("04", [OWN, RIVAL]), rival("07", "1.1")],
    [rival("06", "1.0")],
    ["2025-11-07 rival_event 1.0 1.1"],
  ],
  [
    "a rival added by hand and never read before gets an alert for its first change",
    [rival("06", "1.0")],
    [rival("07", "1.1")],
    ["2025-11-07 rival_event 1.0 1.1"],
  ],
  [
    "a wave of reviews gets no alert if earlier reviews raise the mean",
    [reviews("20", [...fiveStars, ...ofDay("20", 8, 1)])],
    [
      reviews(
        "11",
        days(1, 11).flatMap((day) => ofDay(day, 5, 1)),
      ),
    ],
    [],
  ],
])(
  "imports in any order give the same alerts: %s",
  async (_, first, second, expected) => {
    expect(await feedAfter([[...first, ...second]])).toEqual(expected)
    expect(await feedAfter([first, second])).toEqual(expected)
    expect(await feedAfter([second, first])).toEqual(expected)
  },
  60_000,
)
