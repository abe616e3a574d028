import { hasSessions, sessionStatement } from "./options.ts"
import type { Sql } from "./types.ts"

interface TableName {
  schema: string
  name: string
}

/**
 * Vacuums and analyzes tables. Call it after a bulk load, because the embedded database has no autovacuum. Through a
 * transaction pooler, tables are only analyzed, because the time limit of a vacuum cannot be disabled there; the
 * server's autovacuum does the rest.
 */
export async function vacuumTables(
  sql: Sql,
  tables: readonly TableName[],
  { pauseMs = 20, signal }: { pauseMs?: number; signal?: AbortSignal } = {},
): Promise<void> {
  const pause = () => new Promise((resolve) => setTimeout(resolve, pauseMs))
  if (!hasSessions(sql)) {
    for (const table of tables) {
      if (signal?.aborted) return
      await analyzeTable(sql, table)
      await pause()
    }
    return
  }
  await runUnhurried(sql, async (session) => {
    for (const { schema, name } of tables) {
      if (signal?.aborted) return
      await session`vacuum (analyze) ${session(schema)}.${session(name)}`
      await pause()
    }
  })
}

async function analyzeTable(sql: Sql, { schema, name, columns }: TableName & { columns?: string[] }): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`set local statement_timeout = 0`
    if (columns) await tx`set local default_statistics_target = 10`
    await tx`analyze ${tx(schema)}.${tx(name)} ${columns ? tx`(${tx(columns)})` : tx``}`
  })
}

/**
 * Vacuums and analyzes every table that was written to since the last time, smallest first. Returns the names of these
 * tables.
 */
export async function vacuumChanged(
  sql: Sql,
  options: { pauseMs?: number; signal?: AbortSignal } = {},
): Promise<TableName[]> {
  // Without this, counts are published at most once a second.
  await sql`select pg_stat_force_next_flush()`
  const tables = await findChangedTables(sql)
  await vacuumTables(sql, tables, options)
  return tables
}

/**
 * Analyzes tables that consist mostly of rows without statistics: a read of 400 keywords would not finish in 90 s. Only
 * analyzes columns that searches use, and at most 3,000 rows, because analyzing all of 30,000 lists takes the embedded
 * database 2 s.
 */
export async function analyzeGrown(sql: Sql, { pauseMs = 20 }: { pauseMs?: number } = {}): Promise<TableName[]> {
  await sql`select pg_stat_force_next_flush()`
  const tables = await findGrownTables(sql)
  for (const table of tables) {
    await analyzeTable(sql, table)
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
  return tables.map(({ schema, name }) => ({ schema, name }))
}

// Also uses file sizes, because the counts are lost when the process is killed.
async function findGrownTables(sql: Sql): Promise<(TableName & { columns: string[] })[]> {
  return await sql<(TableName & { columns: string[] })[]>`
    select s.schemaname as schema, s.relname as name, array(
        select a.attname::text
        from pg_attribute a
        join pg_type t on t.oid = a.atttypid
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
          and t.typcategory <> 'A' and t.typname not in ('bytea', 'json', 'jsonb')
        order by a.attnum
      ) as columns
    from pg_stat_user_tables s
    join pg_class c on c.oid = s.relid
    where c.relkind = 'r'
      and (
        s.n_live_tup > 500 and s.n_live_tup > 2 * greatest(c.reltuples, 0)
        or pg_relation_size(c.oid) > greatest(65536, 2 * 8192 * c.relpages::bigint * (c.reltuples >= 0)::int)
      )
    order by pg_relation_size(c.oid), 1, 2
    limit 1000`
}

/**
 * Analyzes every table that has doubled in size since its last statistics. Compares file sizes, which are not lost in a
 * kill. About 10 ms per table.
 */
export const ANALYZE_UNKNOWN = `
  do $$
  declare
    grown record;
  begin
    perform set_config('default_statistics_target', '10', true);
    for grown in
      select c.oid::regclass as name
      from pg_class c
      join pg_namespace n on n.oid = c.relnamespace
      where c.relkind = 'r' and n.nspname not in ('pg_catalog', 'information_schema') and n.nspname !~ '^pg_t'
        and pg_relation_size(c.oid) > greatest(65536, 2 * 8192 * c.relpages::bigint * (c.reltuples >= 0)::int)
      order by pg_relation_size(c.oid)
    loop
      execute format('analyze %s', grown.name);
    end loop;
  end $$`

// Vacuum cannot run in a transaction, so "set local" cannot disable the server's time limit.
async function runUnhurried(sql: Sql, work: (session: Sql) => Promise<void>): Promise<void> {
  const connection = await sql.reserve()
  try {
    await connection`set statement_timeout = 0`
    await work(connection)
  } finally {
    await setLimit(sql, connection).catch(() => {}) // The connection is gone.
    connection.release()
  }
}

/**
 * Restores the time limit of a session. RESET would give the server's default, so the pool's setting is applied again.
 */
async function setLimit(sql: Sql, session: Sql): Promise<void> {
  await session`reset statement_timeout`
  const settings = sessionStatement(sql)
  if (settings) await session.unsafe(settings)
}

// A kill loses the counts, so a table whose last vacuum is unknown is vacuumed once, which is quick when there is
// nothing to do.
async function findChangedTables(sql: Sql): Promise<TableName[]> {
  return await sql<TableName[]>`
    select s.schemaname as schema, s.relname as name
    from pg_stat_user_tables s
    join pg_class c on c.oid = s.relid
    where c.relkind = 'r'
      and (s.n_dead_tup > 0 or s.n_mod_since_analyze > 0 or s.n_ins_since_vacuum > 0 or s.last_vacuum is null)
    order by pg_relation_size(c.oid), 1, 2`
}
