import { expect } from "bun:test"
import fc from "fast-check"
import { deriveMarketFigures } from "../../../../src/charts/store/market-apps.ts"
import type { Sql } from "../../../../src/database/types.ts"
import { freshDatabase } from "../../../database.ts"
import { beforeSlow, cases, slow } from "../../../long.ts"
import { charted } from "../../../measuring/record/charted.ts"
import { record } from "../../../record.ts"
import { openService, type Service } from "../../../service.ts"

const APPS = 60
const NOW = new Date("2025-08-31T12:00:00Z")
let sql: Sql
let service: Service
let key: string
let apps: { id: number; storeId: string }[]

beforeSlow(async () => {
  sql = await freshDatabase()
  service = openService({ sql, now: () => NOW })
  const overrides = { credits: 1e9, ratePerSecond: 1e6 }
  key = await service.key(await service.workspace({ explorer: true, plan: "enterprise", overrides }))
  const ids = Array.from({ length: APPS }, (_, at) => 30_001 + at)
  await record(sql, [charted("2025-08-30T06:00:00Z", ids, { depth: APPS })], () => NOW)
  apps = await sql<{ id: number; storeId: string }[]>`
    select id, store_id as "storeId"
    from store_app
    order by store_id`
})

const amount = fc.oneof(
  fc.constant({}),
  fc.record({ under: fc.integer({ min: 1, max: 2_000 }) }),
  fc.double({ min: 0, max: 3_000, noNaN: true }).map((value) => ({ value, low: value / 3, high: value * 7 })),
)
const row = fc.record({
  app: fc.integer({ min: 0, max: APPS - 1 }),
  downloads: amount,
  revenue: amount,
  // as in JSON, without -0
  growth: fc.option(fc.double({ min: -100, max: 300, noNaN: true }).map((percent) => percent + 0)),
  basis: fc.constantFrom(null, "measured", "own", "genre", "prior"),
})
type Row = typeof row extends fc.Arbitrary<infer R> ? R : never
type Amount = { value?: number; low?: number; high?: number; under?: number }

let version = 0
async function write(rows: readonly Row[]): Promise<void> {
  const columns = (name: string, { value, low, high, under }: Amount) => ({
    [name]: value,
    [`${name}_low`]: low,
    [`${name}_high`]: high,
    [`${name}_under`]: under,
  })
  const latest = [...new Map(rows.map((entry) => [entry.app, entry])).values()].map(
    ({ app, basis, growth, downloads, revenue }) => ({
      app: apps[app]!.id,
      basis,
      growth,
      ...columns("downloads", downloads),
      ...columns("revenue", revenue),
    }),
  )
  const ids = latest.map(({ app }) => app)
  await sql.begin(async (tx) => {
    await tx`delete from app_estimate where app_id = any(${ids}::int[])`
    await tx`
      insert into app_estimate (app_id, version, made_at, formula, basis, downloads, downloads_low, downloads_high,
        downloads_under, revenue, revenue_low, revenue_high, revenue_under, growth, growth_low, growth_high)
      select app, ${++version}, now(), 1, basis, downloads, downloads_low, downloads_high, downloads_under, revenue,
        revenue_low, revenue_high, revenue_under, growth, growth - 9, growth * 3
      from jsonb_to_recordset(${tx.json(latest)}) r (app int, basis text, growth float8, downloads float8,
        downloads_low float8, downloads_high float8, downloads_under float8, revenue float8, revenue_low float8,
        revenue_high float8, revenue_under float8)`
    await deriveMarketFigures(tx, ids)
  })
}

const round = (of: number | undefined) => (of === undefined ? null : Math.round(of))

function wholeOf({ value, low, high, under }: Amount) {
  if (value === undefined && under === undefined) return null
  return { value: round(value), low: round(low), high: round(high), under: round(under) }
}

function toEstimate(row: Row | undefined) {
  if (!row) return null
  const { downloads, revenue, growth, basis } = row
  if (wholeOf(downloads) === null && wholeOf(revenue) === null && growth === null) return null
  return {
    downloads: wholeOf(downloads),
    revenue: wholeOf(revenue),
    growth,
    growthLow: growth === null ? null : growth - 9,
    growthHigh: growth === null ? null : growth * 3,
    basis,
  }
}

type Range = { min?: number | undefined; max?: number | undefined }
const bound = fc.option(fc.integer({ min: -50, max: 2_500 }), { nil: undefined })
const range = fc
  .record({ min: bound, max: bound })
  .filter(({ min, max }) => min === undefined || max === undefined || min <= max)
const question = fc
  .record({ downloads: range, revenue: range, growth: range })
  .filter((ranges) => Object.values(ranges).some(({ min, max }) => (min ?? max) !== undefined))

/** An upper bound means any amount from zero to the bound. */
function fitOf({ value, under }: Amount, { min = -1e9, max = 1e9 }: Range): "yes" | "no" | "perhaps" {
  if (value !== undefined) return Math.round(value) >= min && Math.round(value) <= max ? "yes" : "no"
  const high = under === undefined ? 1e8 : Math.round(under) - 0.5
  const low = under === undefined ? -1e8 : 0
  if (high < min || low > max) return "no"
  return low >= min && (under ?? 1e9) <= max ? "yes" : "perhaps"
}

function growthFit(percent: number | null, { min = -1e9, max = 1e9 }: Range) {
  if (percent === null) return "perhaps"
  return percent >= min && percent <= max ? "yes" : "no"
}

slow("a filter finds apps by their displayed estimates and counts apps with unknown estimates", async () => {
  const rows = new Map<string, Row>()
  const run = fc.asyncProperty(
    fc.array(fc.array(row, { minLength: 1, maxLength: 40 }), { minLength: 1, maxLength: 3 }),
    fc.array(question, { minLength: 1, maxLength: 4 }),
    async (writes, questions) => {
      for (const written of writes) {
        await write(written)
        for (const entry of written) rows.set(apps[entry.app]!.storeId, entry)
        for (const ranges of questions) {
          const bounds = Object.entries(ranges).flatMap(([name, { min, max }]) => [
            ...(min === undefined ? [] : [[`${name}Min`, String(min)]]),
            ...(max === undefined ? [] : [[`${name}Max`, String(max)]]),
          ])
          const { body } = await service.call(`/v1/hive/find?limit=200&${new URLSearchParams(bounds)}`, { key })
          const fits = apps.map(({ storeId }) => {
            const { downloads = {}, revenue = {}, growth = null } = rows.get(storeId) ?? {}
            const answers = [
              ...(isAsked(ranges.downloads) ? [fitOf(downloads, ranges.downloads)] : []),
              ...(isAsked(ranges.revenue) ? [fitOf(revenue, ranges.revenue)] : []),
              ...(isAsked(ranges.growth) ? [growthFit(growth, ranges.growth)] : []),
            ]
            return answers.includes("no") ? "no" : answers.includes("perhaps") ? "perhaps" : "yes"
          })
          const found = apps.filter((_, at) => fits[at] === "yes").map(({ storeId }) => storeId)
          const expected = found.map((id) => [id, toEstimate(rows.get(id))])
          // biome-ignore lint/suspicious/noExplicitAny: rows of an answer
          expect([ranges, body.apps.map(({ id, estimates }: any) => [id, estimates])]).toEqual([ranges, expected])
          expect(body).toMatchObject({
            total: found.length,
            noEstimate: fits.filter((fit) => fit === "perhaps").length,
          })
        }
      }
    },
  )
  await fc.assert(run, { seed: 20_261_126, numRuns: cases(4, 60) })
})

const isAsked = ({ min, max }: Range) => (min ?? max) !== undefined
