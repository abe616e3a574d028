import type { Log } from "../lib/log.ts"
import { createDiskWatch } from "./disk.ts"
import { openPool } from "./driver/pool.ts"
import { detectPooling, isUnprepared } from "./driver/pooling.ts"
import { createGate, DatabaseUnavailable } from "./gate.ts"
import { hasSessions, serverOptions, sessionSettings } from "./options.ts"
import { assertDriverPatched } from "./patched.ts"
import { DatabaseProblem } from "./problem.ts"
import type { Database, PoolerMode, Sql } from "./types.ts"

export { DatabaseProblem } from "./problem.ts"

interface OpenOptions {
  /** A postgres:// URL. Omit it for the embedded database in `dataDir`. */
  databaseUrl?: string | undefined
  dataDir: string
  /** "command" shares the embedded database of a running server. A second "server" is refused. */
  as: "server" | "command"
  log: Log
  maxConnections?: number
  /**
   * Called once if the embedded database is lost permanently. The driver reconnects to a PostgreSQL server
   * automatically.
   */
  onLoss?: (error: Error) => void
}

/** Opens the database and checks its version. Throws `DatabaseProblem` with a one-line explanation. */
export async function openDatabase(options: OpenOptions): Promise<Database> {
  assertDriverPatched()
  if (options.databaseUrl) return openServer(options.databaseUrl, options)
  assertHasBun()
  const { openEmbedded } = await import("./embedded/open.ts")
  return openEmbedded(options)
}

/** Throws a readable problem on other runtimes, where the module would fail to load. */
export function assertHasBun(): void {
  if (process.versions.bun !== undefined) return
  throw new DatabaseProblem("the embedded database needs Bun; set DATABASE_URL to a PostgreSQL 15 or newer")
}

async function openServer(url: string, { as, log, maxConnections = 10 }: OpenOptions): Promise<Database> {
  const at = whereabouts(url)
  const pooling = await explained(at, () => choosePooling(url, as, at))
  const sql = openPool(serverOptions(as, maxConnections, pooling), url)
  try {
    await explained(at, () => assertSuitable(sql, as, at))
  } catch (error) {
    await sql.end({ timeout: 0 })
    throw error
  }
  const disk = createDiskWatch(log, `the disk of ${at} is full; free some space on it`)
  const close = () => sql.end({ timeout: 5 })
  return { sql, background: sql, kind: "postgres", ...(pooling !== "none" && { pooling }), disk, close }
}

async function explained<T>(at: string, work: () => Promise<T>): Promise<T> {
  try {
    // The first query has a deadline, because the driver retries forever when several hosts are down.
    return await createGate({ deadlineMs: 6_000 }).run(work)
  } catch (error) {
    throw error instanceof DatabaseProblem ? error : new DatabaseProblem(explain(error, at), { cause: error })
  }
}

/**
 * Detects a pooler. Returns "transaction" if there is a pooler and the URL has ?prepare=false. Throws DatabaseProblem
 * for a transaction pooler without ?prepare=false.
 */
async function choosePooling(url: string, as: "server" | "command", at: string): Promise<PoolerMode> {
  const pooling = await detectPooling(url, serverOptions(as, 1, "transaction"))
  if (pooling === "none") return pooling
  // This answer is safe behind either kind of pooler, because the transaction mode needs no session.
  if (isUnprepared(url)) return "transaction"
  if (pooling === "transaction") throw poolerProblem(at, "is a transaction pooler, which loses prepared statements")
  return pooling
}

/** Name of the check in doctor. */
export const POOLER_PROBLEM = "POOLER"

function poolerProblem(at: string, says: string): DatabaseProblem {
  const cure = "add ?prepare=false to DATABASE_URL, or use a session pooler or the server's own address"
  return new DatabaseProblem(`${at} ${says}; ${cure}`, { cause: { code: POOLER_PROBLEM } })
}

const OLDEST = 15

/** Checks the version of the server and that it applied the session settings. */
async function assertSuitable(sql: Sql, as: "server" | "command", at: string): Promise<void> {
  const [row] = await sql<[{ version: number; limit: string; zone: string; dates: string }]>`
    select current_setting('server_version_num')::int as version, current_setting('statement_timeout') as limit,
      current_setting('TimeZone') as zone, current_setting('DateStyle') as dates`
  const major = Math.floor((row?.version ?? 0) / 10_000)
  if (major < OLDEST) {
    throw new DatabaseProblem(`${at} is PostgreSQL ${major}; Appmeter needs ${OLDEST} or newer`)
  }
  if (hasSessions(sql) && row.limit !== sessionSettings(as).statement_timeout)
    throw poolerProblem(at, "loses the settings of a connection, as a transaction pooler does")
  if (row.zone !== "UTC" || row.dates !== "ISO, MDY")
    throw poolerProblem(at, `does not pass on TimeZone and DateStyle: they are ${row.zone} and ${row.dates}`)
}

// Describes the address without user and password. Accepts several hosts separated by commas, although they do not form
// a valid URL.
function whereabouts(url: string): string {
  const found = /^postgres(?:ql)?:\/\/(?:[^/?]*@)?([^/?]*)(\/[^?]*)?/.exec(url)
  if (found) return `the database at ${found[1]}${found[2] ?? ""}`
  const [, scheme] = /^(\w+:)\/\//.exec(url) ?? []
  if (scheme) throw new DatabaseProblem(`DATABASE_URL begins with ${scheme} but must begin with postgres:`)
  throw new DatabaseProblem("DATABASE_URL is not an address like postgres://user:password@host:5432/name")
}

function explain(error: unknown, at: string): string {
  const { code, message } =
    error instanceof DatabaseUnavailable ? { code: "CONNECT_TIMEOUT" } : (error as { code?: string; message?: string })
  switch (code) {
    case "28P01":
    case "28000":
      return `${at} refused the user name or password in DATABASE_URL`
    case "3D000":
      return `${at} does not exist; create it with: createdb`
    case "53300":
      return `${at} has no connections left`
    case "08P01":
      return `${at} refused a connection setting; remove what follows "?" in DATABASE_URL, except prepare=false`
    case "ECONNREFUSED":
      return `${at} is not reachable: nothing listens there`
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `${at} is not reachable: the host name is unknown`
    case "CONNECT_TIMEOUT":
    case "ETIMEDOUT":
      return `${at} is not reachable: no answer within 5 s`
    default:
      return `${at} cannot be used: ${message ?? code ?? String(error)}`.split("\n")[0]!
  }
}
