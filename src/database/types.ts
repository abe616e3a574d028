import type postgres from "postgres"
import type { DiskWatch } from "./disk.ts"

/** int8 is a number, date is "YYYY-MM-DD", timestamptz is a Date. */
export type Sql = postgres.Sql<{ bigint: number; date: string }>
export type Tx = postgres.TransactionSql<{ bigint: number; date: string }>

/** A pool or a transaction, for functions that only query. */
export type Db = postgres.ISql<{ bigint: number; date: string }>

/**
 * The pooler between this process and PostgreSQL. "session": a server connection per client connection, as PgBouncer
 * can provide. "transaction": a server connection per transaction, so that settings and prepared statements are lost.
 */
export type PoolerMode = "none" | "session" | "transaction"

export interface Database {
  sql: Sql
  /** A handle on the same database for work that no request waits for. On the embedded database, requests go first. */
  background: Sql
  kind: "postgres" | "embedded"
  /** Set for PostgreSQL behind a pooler. */
  pooling?: Exclude<PoolerMode, "none">
  /** Undefined if a command uses the embedded database of a server. */
  disk?: DiskWatch
  close(): Promise<void>
}
