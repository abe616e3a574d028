import { beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { readChartMovers } from "../../../src/charts/read/chart-movers.ts"
import { readChartSeries } from "../../../src/charts/read/charts.ts"
import type { Sql } from "../../../src/database/types.ts"
import { addDays } from "../../../src/lib/days.ts"
import { freshDatabase } from "../../database.ts"
import { LONG, long, slow } from "../../long.ts"
import { importLines, parseLine } from "../../record.ts"
import { reasonOf } from "../import/reason-of.ts"
import { ALL, daysOf, isAllHere, JP_FINANCE, linesOf, movedBetween, rowsOf, SOME } from "./chart-rows.ts"
import { chartTables, places, placesFromReadings } from "./charted.ts"
import { stored } from "./measured.ts"

setDefaultTimeout(120_000)

let sql: Sql
const options = { now: () => new Date("2025-11-20T00:00:00Z"), pause: async () => {} }

beforeEach(async () => {
  sql = await freshDatabase()
})

async function* each(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines
}

const line = (rest: object = {}) => ({
  kind: "chart",
  source: "import",
  platform: "ios",
  storefront: "JP",
  device: "iphone",
  chart: "free",
  genre: "6015",
  seenAt: "2025-10-25T05:25:01+02:00",
  apps: [{ id: "10001", name: "Coins" }, { id: "10002" }],
  ...rest,
})

describe("a line of a chart", () => {
  test("a line of a chart may leave out optional fields, which get their defaults", () => {
    const parsed = parseLine(JSON.stringify(line()))
    if (parsed.kind !== "observation" || parsed.observation.kind !== "chart") throw new Error("read as another kind")
    const { sha256, ...observation } = parsed.observation
    expect(observation).toEqual({
      ...line(),
      kind: "chart",
      storefront: "jp",
      seenAt: new Date("2025-10-25T03:25:01Z"),
      depth: 2,
      complete: true,
      parser: 1,
      origin: "own",
      egress: undefined,
    } as never)
    expect(sha256).toHaveLength(32)
  })

  test("an unreadable line of a chart is refused with the field", () => {
    const wrong: [object, string][] = [
      [line({ apps: [] }), "depth: must be given when apps is empty"],
      [line({ apps: [], depth: 0 }), "accepted"],
      [line({ device: undefined }), "device: is missing"],
      [line({ device: "watch" }), "device: must be iphone or ipad"],
      [line({ chart: "new" }), "chart: must be one of free, paid, grossing"],
      [line({ source: "itunes-search" }), "source: must be one of apple-charts, import"],
      [line({ genre: 6015 }), "genre: must be text"],
      [line({ apps: [{ id: "10001", rank: 1 }] }), "apps[0]: has an unknown field"],
      [line({ apps: [{ id: "10001", price: "0" }] }), "apps[0].price: must be a number"],
    ]
    expect(wrong.map(([value]) => reasonOf(value))).toEqual(wrong.map(([, reason]) => reason))
  })
})

describe.each([["12 days", SOME, 12, 16], ...(LONG && isAllHere ? [["247 days", ALL, 247, 251] as const] : [])])(
  "%s of the finance chart of Japan",
  (_, path, dayCount, readingCount) => {
    const rows = rowsOf(path)
    const lines = linesOf(rows)

    slow("chart lines import completely, give every app's history, and change nothing when repeated", async () => {
      const first = await importLines(sql, each(lines), options)
      expect(first).toEqual({ read: readingCount, recorded: readingCount, known: 0, attempts: 0, bad: [] })
      const [counts] = await sql`
      select count(*) as readings, sum(cardinality(app_ids)) as places, min(day) as first, max(day) as last
      from chart_results`
      expect(counts).toMatchObject({ readings: readingCount, places: rows.length, first: "2024-12-28" })
      const named = await sql<{ id: string; name: string; developer: string }[]>`
      select store_id as id, name, developer
      from store_app
      join store_app_name on app_id = id
      order by store_id`
      const last = new Map(rows.map(({ id, name, developer }) => [id, { id, name, developer }]))
      expect([...named]).toEqual([...last.values()].sort((a, b) => (a.id < b.id ? -1 : 1)))
      const before = await stored(sql)
      expect(await importLines(sql, each(lines), options)).toMatchObject({ recorded: 0, known: readingCount })
      expect(await stored(sql)).toBe(before)
      expect(await places(sql)).toEqual(await placesFromReadings(sql))
      const days = daysOf(rows)
      const window = { from: "2024-12-28", to: "2025-08-31" }
      for (const [id, app] of await storeIds()) {
        const [series] = await readChartSeries(sql, id, [JP_FINANCE], window)
        const expected = [...days].map(([day, ranks]) => [day, ranks.get(app) ?? null])
        expect(series!.points.map(({ day, rank }) => [day, rank])).toEqual(expected)
      }
    })

    long("chart lines in any order give the same tables and each day's movers, entrants and drop-outs", async () => {
      await importLines(sql, each(lines), options)
      const inOrder = await chartTables(sql)
      for (const seed of LONG ? [1, 2] : [2]) {
        await freshDatabase()
        await importLines(sql, each(shuffled(lines, seed)), { ...options, batch: 7 * seed })
        expect(await chartTables(sql)).toEqual(inOrder)
      }
      const days = daysOf(rows)
      expect(days.size).toBe(dayCount)
      const storeId = await storeIds()
      for (const back of [1, 7]) {
        let compared = 0
        for (const [day, later] of days) {
          const found = (await readChartMovers(sql, JP_FINANCE, { day, days: back }))!
          expect(found.day).toMatchObject({ day, depth: 100, firstDay: "2024-12-28" })
          const earlier = days.get(addDays(day, -back))
          if (!earlier) {
            expect([day, found.against, found.movers]).toEqual([day, null, null])
            continue
          }
          expect(inWords(found.movers!, storeId).sort()).toEqual(movedBetween(earlier, later).sort())
          compared++
        }
        expect(compared).toBe(dayCount - back)
      }
    })
  },
)

async function storeIds(): Promise<Map<number, string>> {
  const rows = await sql<{ id: number; storeId: string }[]>`select id, store_id as "storeId" from store_app`
  return new Map(rows.map(({ id, storeId }) => [id, storeId]))
}

type Found = NonNullable<NonNullable<Awaited<ReturnType<typeof readChartMovers>>>["movers"]>

function inWords({ climbed, fell, entered, left: gone }: Found, storeId: Map<number, string>): string[] {
  return [
    ...climbed.map(({ app, rank, was }) => `${storeId.get(app)} climbed ${was} to ${rank}`),
    ...fell.map(({ app, rank, was }) => `${storeId.get(app)} fell ${was} to ${rank}`),
    ...entered.map(({ app, rank }) => `${storeId.get(app)} entered at ${rank}`),
    ...gone.map(({ app, was }) => `${storeId.get(app)} left from ${was}`),
  ]
}

/** Returns the items in another order, the same for each seed. */
function shuffled(lines: readonly string[], seed: number): string[] {
  const order = [...lines]
  let state = seed
  for (let i = order.length - 1; i > 0; i--) {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    const other = state % (i + 1)
    const [a, b] = [order[i]!, order[other]!]
    order[i] = b
    order[other] = a
  }
  return order
}
