import type { PendingQuery, Row } from "postgres"
import {
  aboutOf,
  type Facts,
  type ReportSets,
  type ReportSubject,
  type RowsObservation,
  type StagedSets,
} from "../../core/observation/facts.ts"
import { json } from "../../database/json.ts"
import type { Db, Sql, Tx } from "../../database/types.ts"
import type { Sweep } from "../retention/tables.ts"

/**
 * Batch size. The embedded database stores and derives this many rows without a noticeable delay
 * (bench/report-pieces.ts).
 */
export const PIECE_ROWS = 250

/** A set must be referenced within this many minutes. Unreferenced sets are deleted later. */
const NAMED_WITHIN_MINUTES = 50
const SWEPT_AFTER_MINUTES = 60

/**
 * Stores the rows of a reading and its derived rows in batches, each in its own transaction, in sets that are not
 * referenced yet. Null if the account does not exist.
 */
export async function storePieces(sql: Sql, seen: RowsObservation, facts: Facts): Promise<StagedSets | null> {
  const sets = await beginSets(sql, seen.account, ["report_piece", facts.table])
  if (!sets) return null
  const [rows, of] = sets as [number, number]
  for (let before = 0; before < seen.rows.length; before += PIECE_ROWS) {
    await sql.begin(async (tx) => {
      await tx`
        insert into report_piece (set_id, place, rows)
        values (${rows}, ${before}, ${json(tx, seen.rows.slice(before, before + PIECE_ROWS))})`
      await facts.insert(tx, { from: pieceOf(tx, seen, { set: rows, place: before }), set: of, before })
    })
  }
  return { rows, facts: of }
}

/** Creates a set for each table and returns the ids in order. Null if the account does not exist. */
export async function beginSets(db: Db, account: string, tables: readonly string[]): Promise<number[] | null> {
  const sets = await db<{ id: number }[]>`
    insert into report_set (account_id, holds)
    select c.id, t.name
    from connected_account c
    cross join unnest(${tables as string[]}::text[]) with ordinality t (name, place)
    where c.id = ${account}
    order by t.place
    returning id`
  return sets.length > 0 ? sets.map(({ id }) => id).sort((a, b) => a - b) : null
}

/** Returns SQL for the rows of a piece in the form from which facts are derived. */
export function pieceOf(
  db: Db,
  seen: ReportSubject,
  { set, place }: { set: number; place: number },
): PendingQuery<Row[]> {
  return db`
    select ${seen.account}::text as account_id, ${aboutOf(seen)}::text as about, ${seen.day}::date as day, r.row,
      p.place + r.place as place
    from report_piece p
    cross join lateral jsonb_array_elements(p.rows) with ordinality r (row, place)
    where p.set_id = ${set} and p.place = ${place}`
}

/** Throws when sets were begun so long ago that they may have been deleted. */
export async function assertFresh(tx: Tx, staged: ReportSets): Promise<void> {
  if (staged.size === 0) return
  const ids = [...staged.values()].flatMap(({ rows, facts }) => [rows, facts])
  const fresh = await tx`
    select id
    from report_set
    where id = any(${ids}::bigint[])
      and begun_at > clock_timestamp() - ${NAMED_WITHIN_MINUTES}::int * interval '1 minute'
    order by id
    for key share`
  if (fresh.length < ids.length) throw new Error("storing a report took too long; it must be read again")
}

/** Returns the columns for a reading's rows: inline, or as a reference to pieces. */
export function rowColumns(seen: RowsObservation, staged: ReportSets) {
  const sets = staged.get(seen)
  return sets ? { rows: null, pieces: sets.rows } : { rows: seen.rows, pieces: null }
}

const PIECES_AT_ONCE = 4

/** Yields readings with their rows. Readings stored in pieces come one at a time. */
export async function* readWithPieces<Seen extends object>(
  sql: Sql,
  pages: AsyncGenerator<(Seen & { pieces: number | null })[]>,
): AsyncGenerator<Seen[]> {
  for await (const page of pages) {
    let whole: Seen[] = []
    for (const { pieces, ...rest } of page) {
      // The compiler does not see that the generic type without the added property is the original type.
      const reading = rest as unknown as Seen
      if (pieces === null) {
        whole.push(reading)
        continue
      }
      if (whole.length > 0) yield whole
      whole = []
      yield [{ ...reading, rows: await readPieces(sql, pieces) }]
    }
    if (whole.length > 0) yield whole
  }
}

async function readPieces(sql: Sql, set: number): Promise<object[]> {
  const rows: object[] = []
  for (let after = -1; ; ) {
    const page = await sql<{ place: number; rows: object[] }[]>`
      select place, rows
      from report_piece
      where set_id = ${set} and place > ${after}
      order by place
      limit ${PIECES_AT_ONCE}`
    const last = page.at(-1)
    if (!last) return rows
    for (const piece of page) rows.push(...piece.rows)
    after = last.place
  }
}

export const reportSweep: Sweep = { table: "report_set", sweep: sweepSets }

interface SweepStep {
  /** Maximum number of rows to delete at once. */
  chunk: number
  /** The smallest set id to consider. */
  from: number
  afterMinutes?: number
}

/** Deletes some rows of the next unreferenced set: of a replaced report, or of one that was never completely stored. */
export async function sweepSets(
  tx: Tx,
  { chunk, from, afterMinutes = SWEPT_AFTER_MINUTES }: SweepStep,
): Promise<{ removed: number; next: number | null }> {
  const [set] = await tx<SetRows[]>`
    select id, holds
    from report_set s
    where id >= ${from} and begun_at <= now() - ${afterMinutes}::int * interval '1 minute'
      and not exists (select from fact_set where set_id = s.id)
      and not exists (select from report_day where pieces = s.id)
      and not exists (select from analytics_day where pieces = s.id)
      and not exists (select from ads_report where pieces = s.id)
    order by id
    limit 1
    for update skip locked`
  if (!set) return { removed: 0, next: null }
  const removed = await removeSome(tx, set, chunk)
  return removed === null ? { removed: 1, next: set.id + 1 } : { removed, next: set.id }
}

/** Deletes a set that is not referenced and never will be. */
export async function removeSet(sql: Sql, set: SetRows, pause: () => Promise<void>): Promise<void> {
  while ((await sql.begin((tx) => removeSome(tx, set, PIECE_ROWS))) !== null) await pause()
}

interface SetRows {
  id: number
  holds: string
}

/** Deletes some rows of a set and returns their number. Null if no rows were left; the set itself is then deleted. */
async function removeSome(tx: Tx, { id, holds }: SetRows, chunk: number): Promise<number | null> {
  // A piece contains many rows, so delete fewer pieces at once.
  const most = holds === "report_piece" ? Math.ceil(chunk / 50) : chunk
  const { count } = await tx`
    delete from ${tx(holds)}
    where ctid = any(array(
      select ctid
      from ${tx(holds)}
      where set_id = ${id} and set_id > 0
      limit ${most}
    ))`
  if (count > 0) return count
  await tx`
    delete from report_set
    where id = ${id}`
  return null
}
