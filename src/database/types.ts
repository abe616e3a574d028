import type postgres from "postgres"
import type { DiskWatch } from "./disk.ts"

/** int8 arrives as a number, date as "YYYY-MM-DD", timestamptz as a Date. */
export type Sql = postgres.Sql<{ bigint: number; date: string }>
export type Tx = postgres.TransactionSql<{ bigint: number; date: string }>

/** Either, for what only asks: inside a transaction or outside. */
export type Db = postgres.ISql<{ bigint: number; date: string }>

/**
 * What stands between this process and PostgreSQL. "session": a pooler, such as PgBouncer, that gives each connection a
 * connection to the server for as long as it is open. "transaction": one that gives it another for each transaction, so
 * that settings and prepared statements are lost.
 */
export type PoolerMode = "none" | "session" | "transaction"

export interface Database {
  sql: Sql
  /** The same for work that no request waits for: on the embedded database requests go first. */
  background: Sql
  kind: "postgres" | "embedded"
  /** Set for PostgreSQL behind a pooler. */
  pooling?: Exclude<PoolerMode, "none">
  /** Left out where a command works through a server's embedded database. */
  disk?: DiskWatch
  close(): Promise<void>
}
