import { rootOf } from "../../database/scheduled-sql.ts"
import { createSharedReads } from "../../database/shared-reads.ts"
import type { Sql } from "../../database/types.ts"
import type { Figure, StoredEstimate } from "./estimates.ts"

/**
 * What all apps are thought to bring, by store_app id, by what is known of their store at large: an amount and more is a
 * value, less than zero only under that amount, NaN not known. 77 bytes an app.
 */
export interface FigureTable {
  downloads: Float64Array
  revenue: Float64Array
  /** Percent; NaN = not known. */
  growth: Float64Array
  /** Six of each app: between which downloads, revenue and growth lie, where they are values. */
  ends: Float64Array
  /** See BY_PRIOR, BY_PRICE, BY_PLACE; above them BASES. */
  flags: Uint8Array
  /** The App Store's ids of genres as numbers; 0 = not known. */
  genres: Uint32Array
}

/** Downloads rest on the store's prior. */
export const BY_PRIOR = 1
/** Revenue follows from downloads. */
export const BY_PRICE = 2
/** Revenue follows from a place on the grossing list. */
export const BY_PLACE = 4
/** What downloads rest on. */
const BASES = [null, "measured", "own", "genre", "prior"] as const
const BASIS_SHIFT = 3
const ENDS = 6

export interface KeptTable {
  /** The newest row's, as the database writes it: another = some figure is. */
  version: string
  table: FigureTable
}

const tables = new WeakMap<Sql, KeptTable>()
const ROW_BYTES = 81
const ROWS_AT_ONCE = 20_000

const readTogether = createSharedReads<Readonly<KeptTable>>()

/**
 * With all up to a version, which this process may have read already; where it has not, in one reading for all who ask
 * meanwhile. What it gives goes on: version and table are those of one moment.
 */
export async function readFigureTable(sql: Sql, newest: string | null): Promise<Readonly<KeptTable>> {
  const kept = tables.get(rootOf(sql))
  if (kept && kept.version === newest) return kept
  return await readTogether(sql, "figures", readChanges)
}

/** Of what a process has read before it reads what changed since, in one statement, by versions. */
async function readChanges(sql: Sql): Promise<Readonly<KeptTable>> {
  const database = rootOf(sql)
  const kept = tables.get(database) ?? { version: "0", table: emptyTable(0) }
  tables.set(database, kept)
  for (;;) {
    const since = kept.version
    const [row] = await sql<[{ version: string | null; rows: Buffer | null }]>`
      select max(version)::text as version,
        string_agg(
          int4send(app_id) || float8send(coalesce(downloads, -downloads_under, 'NaN'))
            || float8send(coalesce(revenue, -revenue_under, 'NaN')) || float8send(coalesce(growth, 'NaN'))
            || float8send(coalesce(downloads_low, 'NaN')) || float8send(coalesce(downloads_high, 'NaN'))
            || float8send(coalesce(revenue_low, 'NaN')) || float8send(coalesce(revenue_high, 'NaN'))
            || float8send(coalesce(growth_low, 'NaN')) || float8send(coalesce(growth_high, 'NaN'))
            || int4send(case when genre ~ '^\\d{1,9}$' then genre::int else 0 end)
            || substring(
              int4send(
                (basis is not distinct from 'prior')::int + 2 * (revenue_by is not distinct from 'price')::int
                  + 4 * (revenue_by is not distinct from 'place')::int
                  + ${2 ** BASIS_SHIFT}::int * coalesce(array_position(${BASES.slice(1)}::text[], basis), 0)
              ) from 4
            ),
          ''
        ) as rows
      from (
        select *
        from app_estimate
        where version > ${since}::bigint
        order by version
        fetch first ${ROWS_AT_ONCE} rows with ties
      ) e`
    if (row.rows === null) return kept
    // another call came before: what it read is no older than its version
    if (kept.version !== since) continue
    kept.version = row.version!
    addRows(kept, row.rows)
    if (row.rows.length < ROWS_AT_ONCE * ROW_BYTES) return kept
  }
}

/** What the table has of an app, as its row says it. */
export function tableFigures(
  { downloads, revenue, growth, ends, flags }: FigureTable,
  app: number,
): Pick<StoredEstimate, "downloads" | "growth" | "basis"> & { revenue: Figure | null } {
  if (app >= flags.length) return { downloads: null, revenue: null, growth: null, basis: null }
  const at = ENDS * app
  const percent = growth[app]!
  return {
    downloads: figureOf(downloads[app]!, ends[at]!, ends[at + 1]!),
    revenue: figureOf(revenue[app]!, ends[at + 2]!, ends[at + 3]!),
    growth: Number.isNaN(percent) ? null : { percent, low: ends[at + 4]!, high: ends[at + 5]! },
    basis: BASES[flags[app]! >> BASIS_SHIFT]!,
  }
}

function figureOf(held: number, low: number, high: number): Figure | null {
  if (Number.isNaN(held)) return null
  return held < 0 ? { value: null, low: null, high: null, under: -held } : { value: held, low, high, under: null }
}

function emptyTable(length: number): FigureTable {
  const unknown = () => new Float64Array(length).fill(Number.NaN)
  return {
    ...{ downloads: unknown(), revenue: unknown(), growth: unknown(), ends: new Float64Array(ENDS * length) },
    ...{ flags: new Uint8Array(length), genres: new Uint32Array(length) },
  }
}

function addRows(kept: KeptTable, rows: Buffer): void {
  const highest = highestIn(rows)
  // a third more, so that ids that come one by one do not copy it each time
  if (highest >= kept.table.flags.length) kept.table = grown(kept.table, Math.ceil((highest + 1) * 1.33))
  const { downloads, revenue, growth, ends, flags, genres } = kept.table
  for (let at = 0; at < rows.length; at += ROW_BYTES) {
    const app = rows.readInt32BE(at)
    downloads[app] = rows.readDoubleBE(at + 4)
    revenue[app] = rows.readDoubleBE(at + 12)
    growth[app] = rows.readDoubleBE(at + 20)
    for (let end = 0; end < ENDS; end++) ends[ENDS * app + end] = rows.readDoubleBE(at + 28 + 8 * end)
    genres[app] = rows.readInt32BE(at + 76)
    flags[app] = rows[at + 80]!
  }
}

function highestIn(rows: Buffer): number {
  let highest = 0
  for (let at = 0; at < rows.length; at += ROW_BYTES) highest = Math.max(highest, rows.readInt32BE(at))
  return highest
}

function grown(table: FigureTable, length: number): FigureTable {
  const larger = emptyTable(length)
  larger.downloads.set(table.downloads)
  larger.revenue.set(table.revenue)
  larger.growth.set(table.growth)
  larger.ends.set(table.ends)
  larger.flags.set(table.flags)
  larger.genres.set(table.genres)
  return larger
}
