import { join } from "node:path"
import { openDatabase } from "../../src/database/connect.ts"
import { silentLog } from "../../src/lib/log.ts"
import { type Serving, serving } from "../commands/child.ts"
import { scratchDatabase } from "../database/server.ts"
import { type Platform, standIn } from "../jobs/platform.ts"
import { isLeftOut } from "../long.ts"
import { openService, type Service } from "../service.ts"

/** Several servers on one database and one Redis, with one outside platform for writes. */
export interface Fleet extends AsyncDisposable {
  servers: Serving[]
  /** The URL of the servers' database. */
  databaseUrl: string
  platform: Platform
  /** Creates workspaces and keys in the servers' database. The service itself gets no requests. */
  service: Service
  /** Starts another server of the fleet. */
  start(env?: Record<string, string>): Promise<Serving>
}

/** The real servers need DATABASE_URL and REDIS_URL, and run only in a long run. */
export const cannotRun = isLeftOut || !process.env.DATABASE_URL || !process.env.REDIS_URL

/** Starts this many servers at once, on a new empty database. */
export async function fleetOf(count: number, name: string, env: Record<string, string> = {}): Promise<Fleet> {
  const [scratch, platform] = [await scratchDatabase(name), standIn()]
  const servers: Serving[] = []
  const end = async () => {
    for (const server of servers) server.kill("SIGKILL")
    await Promise.all(servers.map(({ exited }) => exited))
    await platform.stop()
    await scratch[Symbol.asyncDispose]()
  }
  const start = async (overrides: Record<string, string> = {}) => {
    const fleetEnv = {
      ...env,
      DATABASE_URL: scratch.url,
      REDIS_URL: process.env.REDIS_URL as string,
      REDIS_PREFIX: `test-${process.pid}-${name}`,
      PLATFORM_URL: platform.url,
    }
    const preload = join(import.meta.dirname, "server-preload.ts")
    const server = await serving({ env: { ...fleetEnv, ...overrides }, preload }, ["--json"])
    servers.push(server)
    return server
  }
  const starts = await Promise.allSettled(Array.from({ length: count }, () => start()))
  const failed = starts.find(({ status }) => status === "rejected")
  if (failed) {
    await end()
    throw (failed as PromiseRejectedResult).reason
  }
  const database = await openDatabase({ databaseUrl: scratch.url, dataDir: "", as: "command", log: silentLog })
  return {
    servers,
    databaseUrl: scratch.url,
    platform,
    service: openService({ sql: database.sql }),
    start,
    async [Symbol.asyncDispose]() {
      await database.close()
      await end()
    },
  }
}

/** Returns the log lines of a server. */
// biome-ignore lint/suspicious/noExplicitAny: tests read every field
export function linesOf(server: Serving): any[] {
  return server
    .err()
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line))
}

/** Calls a server and returns its answer. */
export async function call(at: string, path: string, key: string, init: RequestInit = {}) {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
  const response = await fetch(`${at}${path}`, { ...init, headers })
  return { status: response.status, headers: response.headers, body: await response.json() }
}

export const post = (at: string, path: string, key: string, body: object) =>
  call(at, path, key, { method: "POST", body: JSON.stringify(body) })
