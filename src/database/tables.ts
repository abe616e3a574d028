import { DatabaseProblem } from "./problem.ts"
import type { Db, Tx } from "./types.ts"

/** A table of this program, as the catalogs describe it. Partitions are part of their table. */
export interface Table {
  name: string
  columns: Column[]
  /** The tables that are referenced by its rows. */
  needs: string[]
  identity: string | null
  /** Whether writing fires triggers of this program. */
  hasTriggers: boolean
}

interface Column {
  name: string
  isJson: boolean
}

/** The next value of the identity column is `last` + 1. Null if no value was assigned yet. */
export interface Sequence {
  table: string
  column: string
  last: number | null
}

/** Returns the tables that the files under sql/ create. Other tables in the schema do not belong to Appmeter. */
export function tablesMadeBy(files: ReadonlyMap<string, string>): string[] {
  const names = new Set<string>()
  for (const text of files.values())
    for (const [, made, from, to, dropped] of text.matchAll(CHANGES_TABLES)) {
      for (const gone of [from, dropped]) if (gone !== undefined) names.delete(gone)
      const there = made ?? to
      if (there !== undefined) names.add(there)
    }
  return [...names].sort()
}

const CHANGES_TABLES = /^create table (\w+) \(|^alter table (\w+) rename to (\w+);|^drop table (\w+);/gm

/**
 * Returns the named tables that exist, each after the tables it references. Throws DatabaseProblem for circular
 * references.
 */
export async function describeTables(sql: Db, names: readonly string[]): Promise<Table[]> {
  const found = await sql<Table[]>`
    select c.relname::text as name,
      (select json_agg(
          json_build_object('name', a.attname, 'isJson', a.atttypid in ('json'::regtype, 'jsonb'::regtype))
          order by a.attnum)
        from pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as columns,
      array(
        select distinct r.relname::text
        from pg_constraint k
        join pg_class r on r.oid = k.confrelid
        where k.conrelid = c.oid and k.contype = 'f' and k.conparentid = 0 and k.confrelid <> c.oid
        order by 1
      ) as needs,
      (select a.attname::text
        from pg_attribute a
        where a.attrelid = c.oid and a.attidentity <> '' and not a.attisdropped) as identity,
      exists (select from pg_trigger t where t.tgrelid = c.oid and not t.tgisinternal) as "hasTriggers"
    from pg_class c
    where c.relnamespace = current_schema()::regnamespace
      and c.relkind in ('r', 'p')
      and not c.relispartition
      and c.relname = any(${names as string[]}::text[])
    order by c.relname`
  return inOrder(found)
}

/** Returns the months (first day, "YYYY-MM-DD") for which these tables have partitions, earliest first. */
export async function readPartitionedMonths(sql: Db, tables: readonly Table[]): Promise<string[]> {
  const rows = await sql<{ month: string }[]>`
    select distinct substring(pg_get_expr(c.relpartbound, c.oid) from '\\d{4}-\\d\\d-\\d\\d') as month
    from pg_inherits i
    join pg_class c on c.oid = i.inhrelid
    join pg_class p on p.oid = i.inhparent
    where p.relnamespace = current_schema()::regnamespace and p.relname = any(${tables.map(({ name }) => name)}::text[])
    order by 1`
  return rows.map(({ month }) => month)
}

export async function readSequences(tx: Tx, tables: readonly Table[]): Promise<Sequence[]> {
  const sequences: Sequence[] = []
  for (const { name: table, identity: column } of tables) {
    if (column === null) continue
    const [row] = await tx<{ last: number | null }[]>`
      select s.last_value as last
      from pg_sequences s
      where format('%I.%I', s.schemaname, s.sequencename)::regclass
        = pg_get_serial_sequence(format('%I.%I', current_schema(), ${table}::text), ${column})::regclass`
    sequences.push({ table, column, last: row?.last ?? null })
  }
  return sequences
}

function inOrder(tables: readonly Table[]): Table[] {
  const ordered: Table[] = []
  let left = [...tables]
  while (left.length > 0) {
    const free = left.filter(({ needs }) => !needs.some((need) => left.some(({ name }) => name === need)))
    if (free.length === 0) {
      throw new DatabaseProblem(
        `these tables refer to each other in a circle: ${left.map(({ name }) => name).join(", ")}`,
      )
    }
    ordered.push(...free)
    left = left.filter((table) => !free.includes(table))
  }
  return ordered
}
