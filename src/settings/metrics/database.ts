import { createGate, type Gate } from "../../database/gate.ts"
import type { Sql } from "../../database/types.ts"
import { gauge, type Metric } from "./text.ts"

export interface Kind {
  kind: "postgres" | "embedded"
  /** Maximum number of connections of this process. */
  connections: number
  /** Undefined if no language model is configured. */
  writer?: WriterPrice | undefined
}

/** Price of a million input and output tokens. Undefined if it is not configured. */
interface WriterPrice {
  price?: { input: number; output: number } | undefined
}

/**
 * Reads the state of the database and its jobs. Cached for 5 s, so that frequent scrapes cannot overload the database.
 * Never throws.
 */
export function createDatabaseReader(sql: Sql, facts: Kind, now: () => Date): () => Promise<Metric[]> {
  const { connections } = facts
  return remembered(now, async (gate) => {
    const figures = await gate.run(() => ask(sql, facts)).catch(() => null)
    return [up(figures !== null), most(connections), ...(figures ?? [])]
  })
}

/** Caches the metrics of `read`. Never throws if `read` does not. */
export function remembered(now: () => Date, read: (gate: Gate) => Promise<Metric[]>): () => Promise<Metric[]> {
  // A separate gate, so that calls and metrics do not wait for each other.
  const gate = createGate({ deadlineMs: DEADLINE_MS, maxWaiting: 1 })
  let cached: { until: number; metrics: Promise<Metric[]> } | undefined
  return () => {
    const at = now().getTime()
    if (!cached || at >= cached.until) cached = { until: at + REMEMBERED_MS, metrics: read(gate) }
    return cached.metrics
  }
}

const DEADLINE_MS = 1_000
const REMEMBERED_MS = 5_000
const MAX_JOBS = 10_000

const up = (answers: boolean) =>
  gauge("appmeter_database_up", "Whether the database answered within a second.", [{ value: answers ? 1 : 0 }])
const most = (value: number) =>
  gauge("appmeter_database_connections_limit", "Maximum database connections of this process.", [{ value }])

async function ask(sql: Sql, { kind, writer }: Kind): Promise<Metric[]> {
  return [
    await countJobs(sql),
    kind === "embedded" ? await measureSize(sql) : await countConnections(sql),
    ...(writer ? await countWriterTokens(sql, writer) : []),
  ]
}

/** Counts the tokens of all processes since 00:00 UTC, which AI_TOKENS_A_DAY limits. */
async function countWriterTokens(sql: Sql, { price }: WriterPrice): Promise<Metric[]> {
  const [row] = await sql<{ input: number; output: number }[]>`
    select input, output
    from writer_day
    where day = (now() at time zone 'utc')::date`
  const { input, output } = row ?? { input: 0, output: 0 }
  const tokens = gauge("appmeter_writer_tokens_today", "Tokens of the language model since 00:00 UTC.", [
    { labels: { direction: "read" }, value: input },
    { labels: { direction: "written" }, value: output },
  ])
  if (!price) return [tokens]
  const cents = (input * price.input + output * price.output) / 1e4
  return [
    tokens,
    gauge("appmeter_writer_cents_today", "Cost of the language model since 00:00 UTC by AI_PRICE, in cents.", [
      { value: cents },
    ]),
  ]
}

async function countJobs(sql: Sql): Promise<Metric> {
  const rows = await sql<{ state: string; value: number }[]>`
    select s.state, (
      select count(*)
      from (
        select
        from job
        where status = s.state
        limit ${MAX_JOBS}
      ) j
    ) as value
    from unnest(array['queued', 'running', 'done', 'failed', 'unknown']) s (state)
    order by s.state
    limit 5`
  const samples = rows.map(({ state, value }) => ({ labels: { state }, value }))
  return gauge("appmeter_jobs", `Jobs by state, counted up to ${MAX_JOBS} of each.`, samples)
}

async function measureSize(sql: Sql): Promise<Metric> {
  const [row] = await sql<[{ bytes: number }]>`select pg_database_size(current_database()) as bytes`
  return gauge("appmeter_database_size_bytes", "Size of the embedded database.", [{ value: row.bytes }])
}

/** Counts the connections of all processes. The driver does not report its own pool. */
async function countConnections(sql: Sql): Promise<Metric> {
  const rows = await sql<{ state: string; value: number }[]>`
    select s.state, count(a.pid) as value
    from unnest(array['active', 'idle', 'idle in transaction']) s (state)
    left join pg_stat_activity a
      on a.state = s.state and a.datname = current_database() and a.application_name = 'appmeter server'
    group by s.state
    order by s.state
    limit 3`
  const samples = rows.map(({ state, value }) => ({ labels: { state: state.replaceAll(" ", "_") }, value }))
  return gauge("appmeter_database_connections", "Connections of all servers to this database, by state.", samples)
}
