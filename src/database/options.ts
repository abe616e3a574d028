import type postgres from "postgres"
import type { PoolerMode, Sql } from "./types.ts"

/** bigint as number (all counts are far below 2^53), date as "YYYY-MM-DD"; timestamptz stays a Date. */
const types = {
  bigint: { to: 20, from: [20], parse: Number, serialize: String },
  date: {
    to: 1082,
    from: [1082],
    parse: (day: string) => day,
    serialize: (day: string | Date) => (day instanceof Date ? day.toISOString().slice(0, 10) : day),
  },
}

/**
 * Ids of types and their array types (`pg_type.dat` of PostgreSQL, which never changes them), limited to the types that
 * statements here send or return. Without this list the driver queries all types on each new connection, the slowest
 * statement of an embedded start.
 */
export const ARRAY_TYPES = [
  [16, 1000], // boolean
  [17, 1001], // bytea
  [19, 1003], // name
  [20, 1016], // bigint
  [21, 1005], // smallint
  [23, 1007], // integer
  [25, 1009], // text
  [26, 1028], // oid
  [114, 199], // json
  [700, 1021], // real
  [701, 1022], // double precision
  [1043, 1015], // character varying
  [1082, 1182], // date
  [1114, 1115], // timestamp
  [1184, 1185], // timestamptz
  [1700, 1231], // numeric
  [2950, 2951], // uuid
  [3802, 3807], // jsonb
] as const

// The driver's types allow only a boolean; the patch adds the list.
const KNOWN_TYPES = ARRAY_TYPES as unknown as boolean

/** The driver's options, and the additions of the patch. */
export type PoolOptions = postgres.Options<{
  bigint: postgres.PostgresType<number>
  date: postgres.PostgresType<string>
}> & { session?: string; socket?: () => unknown }

/** Values in the format in which PostgreSQL shows them. */
interface SessionSettings {
  statement_timeout: string
  idle_in_transaction_session_timeout: string
  random_page_cost: string
}

/**
 * Returns the settings of a session. A request times out after 4.5 s (gate.ts), so a statement gets 4 s. Longer work
 * sets its own statement_timeout.
 */
export function sessionSettings(as: "server" | "command"): SessionSettings {
  return {
    statement_timeout: as === "server" ? "4s" : "0",
    idle_in_transaction_session_timeout: as === "server" ? "10s" : "1min",
    // The default assumes a disk's seek time. With data in memory, it makes the planner scan small tables for each key.
    random_page_cost: "1.1",
  }
}

/**
 * Returns the options for a PostgreSQL server. Poolers accept the settings of `connection` and refuse others when a
 * connection opens; `session` (from the patch of the driver) runs on each connection before its first statement.
 * Through a transaction pooler, a session has neither settings nor prepared statements, and a second statement may
 * reach another server connection before the first is answered, so statements are sent one at a time.
 */
export function serverOptions(as: "server" | "command", max: number, pooling: PoolerMode = "none"): PoolOptions {
  const settings = Object.entries(sessionSettings(as)).map(
    ([name, value]) => `set_config('${name}', '${value}', false)`,
  )
  return {
    ...(pooling === "transaction" ? { prepare: false, max_pipeline: 0 } : { session: `select ${settings.join(", ")}` }),
    max,
    types,
    fetch_types: KNOWN_TYPES,
    onnotice: () => {},
    connect_timeout: 5,
    max_lifetime: 1_800,
    connection: {
      application_name: `appmeter ${as}`,
      TimeZone: "UTC",
      DateStyle: "ISO, MDY",
    },
  }
}

/** Returns the first statement of each connection of this pool. Undefined for the embedded database. */
export function sessionStatement({ options }: Pick<Sql, "options">): string | undefined {
  return (options as { session?: string }).session
}

/** Returns true if connections of this pool keep session settings. False through a transaction pooler. */
export function hasSessions({ options }: Pick<Sql, "options">): boolean {
  return (options as { max_pipeline?: number }).max_pipeline !== 0
}

/**
 * Returns the options for the embedded database. `socket` returns a stream with the PostgreSQL protocol. Sessions last
 * as long as the process.
 */
export function embeddedOptions(socket: () => unknown, max: number): PoolOptions {
  return {
    max,
    types,
    fetch_types: KNOWN_TYPES,
    onnotice: () => {},
    user: "postgres",
    database: "postgres",
    host: "embedded",
    pass: "",
    ssl: false,
    prepare: true,
    connect_timeout: 60,
    max_lifetime: null,
    socket,
  }
}
