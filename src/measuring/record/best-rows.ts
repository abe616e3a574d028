import type { PendingQuery, Row } from "postgres"
import { hexOf } from "../../core/observation/precedence.ts"
import type { AnyObservation } from "../../core/observation/provenance.ts"
import { json } from "../../database/json.ts"
import type { Tx } from "../../database/types.ts"

/** A table row by column name, and its reading. */
export interface RowOf<Seen> {
  from: Seen
  row: Record<string, unknown>
}

export interface BestOptions {
  table: string
  /** Columns of the primary key, in its order. */
  key: readonly string[]
  /** SQL whose value takes precedence over time, parser and sha256; the row with the greater value wins. */
  first?: (tx: Tx, row: string) => PendingQuery<Row[]>
}

/**
 * Stores the best row of each key: the latest, then the newer parser, then the greater sha256. Returns the readings of
 * stored rows.
 */
export async function storeBest<Seen>(
  tx: Tx,
  { table, key, first }: BestOptions,
  rows: readonly RowOf<Seen>[],
): Promise<Seen[]> {
  const [one] = rows
  if (!one) return []
  const columns = Object.keys(one.row)
  const rank = (row: string) => {
    const last = tx`${tx(`${row}.seen_at`)}, ${tx(`${row}.parser`)}, ${tx(`${row}.sha256`)}`
    return first ? tx`(${first(tx, row)}, ${last})` : tx`(${last})`
  }
  const set = columns.filter((name) => !key.includes(name)).map((name) => tx`${tx(name)} = ${tx(`excluded.${name}`)}`)
  const taken = await tx<{ place: number }[]>`
    with best as materialized (
      select distinct on (${tx(key as string[])}) *
      from jsonb_populate_recordset(null::${tx(table)}, ${json(
        tx,
        rows.map(({ row }) => row),
      )})
        with ordinality r
      order by ${tx(key as string[])}, ${rank("r")} desc, ordinality
    ), written as (
      insert into ${tx(table)} as held (${tx(columns)})
      select ${tx(columns)}
      from best
      order by ${tx(key as string[])}
      on conflict (${tx(key as string[])}) do update
      set ${listed(tx, set)}
      where ${rank("excluded")} > ${rank("held")}
      returning ${tx(key as string[])}
    )
    select ordinality::int as place
    from best
    join written using (${tx(key as string[])})`
  return [...new Set(taken.map(({ place }) => rows[place - 1]?.from as Seen))]
}

function listed(tx: Tx, parts: readonly PendingQuery<Row[]>[]) {
  return parts.map((part, place) => (place === 0 ? part : tx`, ${part}`))
}

/** Returns the provenance columns of a row. */
export function provenanceOf({ source, seenAt, parser, origin, sha256 }: AnyObservation) {
  return { source, seen_at: seenAt.toISOString(), parser, origin, sha256: `\\x${hexOf(sha256)}` }
}

/** Yields rows page by page. Each page starts after the last row of the previous one. */
export async function* pagesOf<Of>(read: (after: Of | null) => Promise<Of[]>): AsyncGenerator<Of[]> {
  for (let after: Of | null = null; ; ) {
    const rows: Of[] = await read(after)
    if (rows.length === 0) return
    yield rows
    after = rows.at(-1) as Of
  }
}

/** Splits rows, in their order, into parts with distinct keys: one statement cannot write a row twice. */
export function wavesOf<Keyed extends { key: string }>(rows: readonly Keyed[]): Keyed[][] {
  const waves: Keyed[][] = []
  const seen = new Map<string, number>()
  for (const row of rows) {
    const wave = seen.get(row.key) ?? 0
    seen.set(row.key, wave + 1)
    waves[wave] ??= []
    waves[wave].push(row)
  }
  return waves
}
