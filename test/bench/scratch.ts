import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import postgres from "postgres"
import { createWorkspace } from "../../src/access/workspaces.ts"
import { readTree } from "../../src/database/assets.ts"
import { openDatabase } from "../../src/database/connect.ts"
import { migrate } from "../../src/database/migrate.ts"
import type { Sql } from "../../src/database/types.ts"
import { silentLog } from "../../src/lib/log.ts"
import { trackOwn } from "../world/tracked.ts"

export interface Scratch {
  sql: Sql
  /** Closes the database and removes it. */
  remove(): Promise<void>
}

let count = 0

/** Creates a migrated database: on the given server, else embedded, on disk and flushed. */
export async function scratchOn(server: string | undefined, maxConnections = 4): Promise<Scratch> {
  const folder = mkdtempSync(join(tmpdir(), "appmeter-bench-"))
  // the next test run drops a database that is left over (test/database.ts)
  const name = `appmeter_test_${process.pid}_bench_${++count}`
  const address = server && new URL(server)
  if (address) {
    await asAdmin(address.href, (admin) => admin`create database ${admin(name)}`)
    address.pathname = `/${name}`
  }
  const databaseUrl = address ? address.href : undefined
  const database = await openDatabase({ databaseUrl, dataDir: folder, as: "server", log: silentLog, maxConnections })
  await migrate(database.sql, readTree("sql", ".sql"), silentLog)
  const remove = async () => {
    await database.close()
    if (server) await asAdmin(server, (admin) => admin`drop database ${admin(name)} with (force)`)
    rmSync(folder, { recursive: true, force: true })
  }
  return { sql: database.sql, remove }
}

async function asAdmin(url: string, work: (admin: postgres.Sql) => Promise<unknown>): Promise<void> {
  const admin = postgres(url, { max: 1, onnotice: () => {} })
  await work(admin).finally(() => admin.end())
}

/** Creates a workspace with large limits and `historyDays` days of history. */
export async function benchWorkspace(sql: Sql, historyDays = 365): Promise<number> {
  const overrides = { credits: 1e12, ratePerSecond: 1e9, trackedKeywords: 1e9, apps: 1e6, historyDays }
  return (await createWorkspace(sql, { name: `bench ${++count}`, plan: "enterprise", overrides })).id
}

/** Tracks an app of the App Store in the US. Returns its id. */
export async function track(
  sql: Sql,
  workspaceId: number,
  iosId: string,
  keywords: readonly string[],
): Promise<string> {
  return await trackOwn(sql, { workspaceId, iosId, keywords })
}
