import postgres from "postgres"
import type { PoolOptions } from "../options.ts"
import type { Db, PoolerMode, Sql } from "../types.ts"

/**
 * Number of comparisons of two connections. Several are needed, because a pooler may happen to give both the same
 * server connections again.
 */
const ROUNDS = 5

/**
 * Detects a pooler. A pooler issues its own cancel keys, so the process id in the key differs from the one the server
 * reports. A session pooler gives a connection the same server process each time, and no other connection uses that
 * process meanwhile.
 */
export async function detectPooling(url: string, options: PoolOptions): Promise<PoolerMode> {
  const first = openProbe(url, options)
  const second = openProbe(url, options)
  try {
    const answer = await first<[{ pid: number }]>`select pg_backend_pid() as pid`
    if ((answer.state as { pid?: number }).pid === answer[0].pid) return "none"
    for (let round = 0; round < ROUNDS; round++) if (!(await keepsProcess(first, second))) return "transaction"
    return "session"
  } finally {
    await Promise.all([first.end({ timeout: 1 }), second.end({ timeout: 1 })])
  }
}

/** Returns true if the URL disables prepared statements. */
export function isUnprepared(url: string): boolean {
  return postgres(url).options.prepare === false
}

/**
 * Uses no prepared statements and no name, so that the probe leaves nothing in server connections that other clients
 * get.
 */
function openProbe(url: string, options: PoolOptions): Sql {
  return postgres(url, { ...options, max: 1, prepare: false }) as Sql
}

async function keepsProcess(first: Sql, second: Sql): Promise<boolean> {
  const before = await readProcess(first)
  try {
    return (await second.begin(async (tx) => {
      if ((await readProcess(tx)) === before) return false
      return (await readProcess(first)) === before
    })) as boolean
  } catch (error) {
    // A statement pooler closes the connection of a client that begins a transaction.
    if (/^(08|CONNECTION_)/.test(String((error as { code?: unknown }).code))) return false
    throw error
  }
}

async function readProcess(sql: Db): Promise<number> {
  const [row] = await sql<[{ pid: number }]>`select pg_backend_pid() as pid`
  return row.pid
}
