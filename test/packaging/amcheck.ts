import { cpSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PGlite } from "@electric-sql/pglite"
import { amcheck } from "@electric-sql/pglite/contrib/amcheck"
import { loadEngine } from "../../src/database/embedded/engine.ts"

export interface Checked {
  tables: number
  indexes: number
  /** The problems found by PostgreSQL, each with the relation's name, or the reason why the copy did not open. */
  problems: string[]
}

/**
 * Opens a copy of an embedded data directory in any state. PostgreSQL's amcheck reads every table, system tables
 * included, and compares every B-tree with its table. The product does not contain amcheck, so the test has its own
 * PGlite.
 */
export async function checkDirectory(directory: string): Promise<Checked> {
  const folder = mkdtempSync(join(tmpdir(), "appmeter-amcheck-"))
  const problems: string[] = []
  try {
    engine ??= loadEngine({ initdb: false })
    cpSync(directory, join(folder, "postgres"), { recursive: true })
    const cluster = await PGlite.create({
      dataDir: join(folder, "postgres"),
      extensions: { amcheck },
      ...(await engine),
    })
    const counts = await checkAll(cluster, problems).finally(() => cluster.close())
    return { ...counts, problems }
  } catch (error) {
    return { tables: 0, indexes: 0, problems: [...problems, `it does not open: ${(error as Error).message}`] }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Compiled once, because each check opens a cluster of its own. */
let engine: ReturnType<typeof loadEngine> | undefined

async function checkAll(cluster: PGlite, problems: string[]): Promise<Pick<Checked, "tables" | "indexes">> {
  await cluster.exec("create extension if not exists amcheck")
  const relations = async (kinds: string[], method: string) =>
    (
      await cluster.query<{ oid: number; name: string }>(
        `select c.oid::int, c.oid::regclass::text as name
        from pg_class c
        join pg_am a on a.oid = c.relam
        where c.relkind = any($1) and a.amname = $2 and c.relpersistence = 'p'
        order by c.oid`,
        [kinds, method],
      )
    ).rows
  const tables = await relations(["r", "t", "m"], "heap")
  const indexes = await relations(["i"], "btree")
  const check = async (name: string, statement: string, oid: number) => {
    const found = await cluster.query<{ msg?: string }>(statement, [oid]).catch((error: Error) => error)
    if (found instanceof Error) problems.push(`${name}: ${found.message}`)
    else for (const { msg } of found.rows) if (msg) problems.push(`${name}: ${msg}`)
  }
  for (const { oid, name } of tables) await check(name, "select msg from verify_heapam($1::oid::regclass)", oid)
  for (const { oid, name } of indexes)
    await check(name, "select bt_index_parent_check($1::oid::regclass, true, true, true)", oid)
  return { tables: tables.length, indexes: indexes.length }
}
