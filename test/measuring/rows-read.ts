import type { Sql, Tx } from "../../src/database/types.ts"

/**
 * How often a row of these tables, or of any (null), is read by what runs in a transaction of its own: each once for each time it
 * is looked at.
 */
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

/** Of this connection, also by transactions before that it has not handed in yet: only the difference of two says something. */
export async function readRowCount(tx: Tx, tables: readonly string[] | null): Promise<number> {
  const [row] = await tx<{ rows: number }[]>`
    select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int as rows
    from pg_stat_xact_user_tables
    where ${tables as string[] | null}::text[] is null or relname = any(${tables as string[] | null}::text[])`
  return row!.rows
}
