import { beforeAll, expect, test } from "bun:test"
import fc from "fast-check"
import type { Sql } from "../../../../src/database/types.ts"
import type { AppBits } from "../../../../src/formulas/places/app-bits.ts"
import { readFigureTable } from "../../../../src/history/market/figure-table.ts"
import { type FigureGround, figureFits } from "../../../../src/operations/hive/estimates/figure-fits.ts"
import { readFoundFigures } from "../../../../src/operations/hive/estimates/found-figures.ts"
import type { OwnContext } from "../../../../src/operations/hive/estimates/own-sales.ts"
import { freshDatabase } from "../../../database.ts"
import { cases } from "../../../long.ts"

// What a process keeps of figures, against what their rows say: the columns of the table, and which apps a filter lets in.

const APPS = 120
let sql: Sql
let apps: number[]

beforeAll(async () => {
  sql = await freshDatabase()
  const rows = await sql<{ id: number }[]>`
    insert into store_app (platform, store_id)
    select 'ios', (30000 + i)::text
    from generate_series(1, ${APPS}::int) i
    returning id`
  apps = rows.map(({ id }) => id).toSorted((a, b) => a - b)
})

const BASES = [null, "measured", "own", "genre", "prior"] as const
const amount = fc.oneof(
  fc.constant({}),
  fc.record({ under: fc.integer({ min: 1, max: 2_000 }) }),
  fc.double({ min: 0, max: 3_000, noNaN: true }).map((value) => ({ value, low: value / 3, high: value * 7 })),
)
const row = fc.record({
  app: fc.integer({ min: 0, max: APPS - 1 }),
  downloads: amount,
  revenue: amount,
  // as JSON has it, without -0
  growth: fc.option(fc.double({ min: -100, max: 300, noNaN: true }).map((percent) => percent + 0)),
  basis: fc.constantFrom(...BASES),
})
type Row = typeof row extends fc.Arbitrary<infer R> ? R : never
type Amount = { value?: number; low?: number; high?: number; under?: number }

let version = 0
async function write(rows: readonly Row[]): Promise<void> {
  const columns = (name: string, { value, low, high, under }: Amount) => ({
    ...{ [name]: value, [`${name}_low`]: low, [`${name}_high`]: high, [`${name}_under`]: under },
  })
  const [latest] = [[...new Map(rows.map((one) => [one.app, one])).values()]]
  await sql`
    insert into app_estimate (app_id, version, made_at, formula, basis, downloads, downloads_low, downloads_high,
      downloads_under, revenue, revenue_low, revenue_high, revenue_under, growth, growth_low, growth_high)
    select app, ${++version}, now(), 1, basis, downloads, downloads_low, downloads_high, downloads_under, revenue,
      revenue_low, revenue_high, revenue_under, growth, growth - 9, growth * 3
    from jsonb_to_recordset(${sql.json(
      latest.map(({ app, basis, growth, downloads, revenue }) => ({
        ...{ app: apps[app]!, basis, growth, ...columns("downloads", downloads), ...columns("revenue", revenue) },
      })),
    )}) r (app int, basis text, growth float8, downloads float8, downloads_low float8, downloads_high float8,
      downloads_under float8, revenue float8, revenue_low float8, revenue_high float8, revenue_under float8)
    on conflict (app_id) do update
    set version = excluded.version, basis = excluded.basis, downloads = excluded.downloads,
      downloads_low = excluded.downloads_low, downloads_high = excluded.downloads_high,
      downloads_under = excluded.downloads_under, revenue = excluded.revenue, revenue_low = excluded.revenue_low,
      revenue_high = excluded.revenue_high, revenue_under = excluded.revenue_under, growth = excluded.growth,
      growth_low = excluded.growth_low, growth_high = excluded.growth_high`
}

const whole = ({ value, low, high, under }: Amount) =>
  value === undefined && under === undefined
    ? null
    : { value: round(value), low: round(low), high: round(high), under: round(under) }
const round = (of: number | undefined) => (of === undefined ? null : Math.round(of))

function shown(row: Row | undefined) {
  if (!row) return null
  const { downloads, revenue, growth, basis } = row
  if (whole(downloads) === null && whole(revenue) === null && growth === null) return null
  return {
    ...{ downloads: whole(downloads), revenue: whole(revenue), growth, growthLow: growth === null ? null : growth - 9 },
    ...{ growthHigh: growth === null ? null : growth * 3, basis },
  }
}

type Range = { min?: number | undefined; max?: number | undefined }
const bound = fc.option(fc.integer({ min: -50, max: 2_500 }), { nil: undefined })
const range = fc.record({ min: bound, max: bound })
const question = fc.record({
  ranges: fc.record({ downloads: range, revenue: range, growth: range }),
  sought: fc.option(fc.uniqueArray(fc.integer({ min: 0, max: APPS - 1 }))),
})

/** Of an amount that is only under another every one from nothing to below it may be the true one. */
function fitOf({ value, under }: Amount, { min = -1e9, max = 1e9 }: Range): "yes" | "no" | "perhaps" {
  const [low, high] = value !== undefined ? [Math.round(value), Math.round(value)] : under !== undefined ? [0, Math.round(under) - 0.5] : [-1e8, 1e8] // biome-ignore format: one line
  if (high < min || low > max) return "no"
  return low >= min && (value === undefined ? (under ?? 1e9) : high) <= max ? "yes" : "perhaps"
}

const isIn = (bits: AppBits, app: number) => ((bits[app >> 5] ?? 0) & (1 << app)) !== 0

test("figures and filters that are kept are those of the rows, however rows are written between", async () => {
  const rows = new Map<number, Row>()
  const ctx = { sql } as OwnContext
  const run = fc.asyncProperty(
    fc.array(fc.array(row, { minLength: 1, maxLength: 40 }), { minLength: 1, maxLength: 3 }),
    fc.array(question, { minLength: 1, maxLength: 4 }),
    async (writes, questions) => {
      for (const written of writes) {
        await write(written)
        for (const one of written) rows.set(apps[one.app]!, one)
        const ground: FigureGround = {
          figures: await readFigureTable(sql, String(version)),
          level: null,
        }
        expect(await readFoundFigures(ctx, apps, ground)).toEqual(apps.map((app) => shown(rows.get(app))))
        const lists = { apps: () => [Int32Array.from(apps)], highest: apps.at(-1)! }
        // twice: put together, and kept
        for (const { ranges, sought } of [...questions, ...questions]) {
          const wanted = sought?.map((at) => apps[at]!) ?? apps
          const fits = figureFits(ground, ranges, lists, sought && Int32Array.from(wanted))
          for (const app of apps) {
            const { downloads = {}, revenue = {}, growth = null } = rows.get(app) ?? {}
            const each = [
              [downloads, ranges.downloads],
              [revenue, ranges.revenue],
              [growth === null ? {} : { value: growth }, ranges.growth],
            ] as const
            const asked = each.filter(([, { min, max }]) => (min ?? max) !== undefined)
            const all = asked.map(([of, by], i) => (asked[i]![1] === ranges.growth && growth !== null ? exact(growth, by) : fitOf(of, by))) // biome-ignore format: one line
            const is = !wanted.includes(app) || all.includes("no") ? "no" : all.includes("perhaps") ? "perhaps" : "yes"
            const got = isIn(fits.fit, app) ? "yes" : isIn(fits.unsure, app) ? "perhaps" : "no"
            expect([ranges, app, got]).toEqual([ranges, app, is])
          }
        }
      }
    },
  )
  await fc.assert(run, { seed: 20_261_126, numRuns: cases(10, 100) })
})

/** Percents are shown as they are. */
const exact = (percent: number, { min = -1e9, max = 1e9 }: Range) => (percent >= min && percent <= max ? "yes" : "no")
