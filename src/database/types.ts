import type postgres from "postgres"

/** int8 arrives as a number, date as "YYYY-MM-DD", timestamptz as a Date. */
export type Sql = postgres.Sql<{ bigint: number; date: string }>
export type Tx = postgres.TransactionSql<{ bigint: number; date: string }>

export interface Database {
  sql: Sql
  kind: "postgres" | "embedded"
  close(): Promise<void>
}
