import type postgres from "postgres"

/** bigint as number (our counts stay far below 2^53), date as "YYYY-MM-DD"; timestamptz stays a Date. */
const types = {
  bigint: { to: 20, from: [20], parse: Number, serialize: String },
  date: {
    to: 1082,
    from: [1082],
    parse: (day: string) => day,
    serialize: (day: string | Date) => (day instanceof Date ? day.toISOString().slice(0, 10) : day),
  },
}

type Options = postgres.Options<{ bigint: postgres.PostgresType<number>; date: postgres.PostgresType<string> }>

/** A request is given up after 4.5 s (gate.ts), so a statement has 4 s. Longer work sets its own statement_timeout. */
export function serverOptions(as: "server" | "command", max: number): Options {
  return {
    max,
    types: types as unknown as Options["types"],
    onnotice: () => {},
    connect_timeout: 5,
    max_lifetime: 1_800,
    connection: {
      application_name: `appmeter ${as}`,
      TimeZone: "UTC",
      DateStyle: "ISO, MDY",
      // by a disk's costs of going to and fro, which memory has not, a table of a few pages is read whole for each key
      random_page_cost: 1.1,
      statement_timeout: as === "server" ? 4_000 : 0,
      idle_in_transaction_session_timeout: as === "server" ? 10_000 : 60_000,
    },
  }
}

/** The embedded database: `socket` gives a stream that speaks the protocol. Sessions live as long as the process. */
export function embeddedOptions(socket: () => unknown, max: number): Options {
  return {
    max,
    types: types as unknown as Options["types"],
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
  } as unknown as Options
}
