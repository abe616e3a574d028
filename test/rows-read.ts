import type { Sql, Tx } from "../src/database/types.ts"

/** How often a row of the table is read by what runs in a transaction of its own: each once for each time it is looked at. */
export async function countRowsRead(sql: Sql, table: string, run: (tx: Tx) => Promise<unknown>): Promise<number> {
  return await sql.begin(async (tx) => {
    const before = await readCount(tx, table)
    await run(tx)
    return (await readCount(tx, table)) - before
  })
}

/** Of this connection, also by transactions before that it has not handed in yet. */
async function readCount(tx: Tx, table: string): Promise<number> {
  const [row] = await tx<{ rows: number }[]>`
    select (seq_tup_read + idx_tup_fetch)::int as rows
    from pg_stat_xact_user_tables
    where relname = ${table}`
  return row!.rows
}
