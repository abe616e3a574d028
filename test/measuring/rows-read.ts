import type { Sql, Tx } from "../../src/database/types.ts"

/** Returns how many rows of these tables (null: of any) a transaction reads, counting each read of the same row. */
export async function countRowsRead(
  sql: Sql,
  tables: readonly string[] | null,
  run: (tx: Tx) => Promise<unknown>,
): Promise<number> {
  return await sql.begin(async (tx) => {
    const before = await readRowCount(tx, tables)
    await run(tx)
    return (await readRowCount(tx, tables)) - before
  })
}

/**
 * Returns the number of rows read on this connection, including earlier transactions not yet reported: only the
 * difference of two values counts.
 */
export async function readRowCount(tx: Tx, tables: readonly string[] | null): Promise<number> {
  const [row] = await tx<{ rows: number }[]>`
    select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int as rows
    from pg_stat_xact_user_tables
    where ${tables as string[] | null}::text[] is null or relname = any(${tables as string[] | null}::text[])`
  return row!.rows
}
