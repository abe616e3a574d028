import { setTimeout as sleep } from "node:timers/promises"
import { createSignInLink } from "../../access/sign-in/code.ts"
import { openDatabase } from "../../database/connect.ts"
import { isConnectionProblem } from "../../database/gate.ts"
import type { Database, Sql } from "../../database/types.ts"
import { loadDemoOnce, loadRestOnce } from "../../demo/load-at-start.ts"
import type { Log } from "../../lib/log.ts"
import { recording } from "../../recording.ts"
import type { Invocation } from "../cli/command.ts"
import { claimFirstStart, createFirstKeys, isFirstStart, markShown } from "./first-start.ts"
import type { Stop } from "./stop.ts"
import { findAppToShow, type Welcome, welcome } from "./welcome.ts"

interface LiveServer {
  database: Database
  url: string
}

/**
 * Prints the welcome, with new keys at a first start. If the database becomes unreachable, waits for it: the server
 * answers calls already, and a key that was shown must not be replaced by the next start.
 */
export async function greet(invocation: Invocation, server: LiveServer, stop: Stop, log: Log): Promise<void> {
  const { sql } = server.database
  const { claim, isDemo, first, ...shown } = await lasting(stop, log, () => prepared(invocation, server, stop, log))
  try {
    if (stop.isAsked()) return
    welcome(invocation, { url: server.url, first, ...shown })
    await invocation.terminal.flush()
    if (first) await lasting(stop, log, () => markShown(sql))
  } finally {
    await claim?.release()
  }
  if (isDemo) await addRestOfDemo(sql, stop, log)
}

/** Prepares the welcome. Can be repeated after a failure: a repetition revokes keys that were not shown. */
async function prepared(invocation: Invocation, server: LiveServer, stop: Stop, log: Log) {
  const { sql } = server.database
  const claim = (await isFirstStart(sql)) ? await claimed(invocation, server, log) : null
  try {
    const first = claim && (await createFirstKeys(sql, invocation.settings.firstWorkspace))
    const workspaceId = first?.workspace.id ?? null
    const isDemo = invocation.has("demo") && (await addDemo(sql, workspaceId, stop, log))
    const app = workspaceId === null ? null : await findAppToShow(sql, workspaceId)
    const signInLink = workspaceId === null ? null : await createSignInLink(sql, workspaceId, server.url)
    return { claim, isDemo, first, signInLink, app } satisfies Omit<Welcome, "url"> & Record<string, unknown>
  } catch (error) {
    await claim?.release()
    throw error
  }
}

const FIRST_PAUSE_MS = 10
const LONGEST_PAUSE_MS = 1_000

/** Repeats `work` until the database is reachable or the process stops. Throws all other errors. */
async function lasting<T>(stop: Stop, log: Log, work: () => Promise<T>): Promise<T> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    try {
      return await work()
    } catch (error) {
      // opening a connection wraps the driver's error in one with a message for the operator
      const isAway = isConnectionProblem(error) || isConnectionProblem((error as Error).cause)
      if (!isAway || stop.isAsked()) throw error
      if (pauseMs === FIRST_PAUSE_MS) log("warn", "welcome_waiting", { reason: (error as Error).message })
      await sleep(pauseMs)
    }
  }
}

interface Claim {
  release(): Promise<void>
}

/** Null if another process is at its first start. An embedded database has one server, which needs no lock. */
async function claimed({ settings }: Invocation, { database }: LiveServer, log: Log): Promise<Claim | null> {
  if (database.kind === "embedded") return { release: async () => {} }
  // a separate connection: with DATABASE_CONNECTIONS=1 the pool has none to spare
  const { databaseUrl, dataDir } = settings
  const session = await openDatabase({ databaseUrl, dataDir, as: "server", log, maxConnections: 1 })
  try {
    const end = await claimFirstStart(session)
    if (end) return { release: () => end().then(session.close) }
  } catch (error) {
    await session.close()
    throw error
  }
  await session.close()
  return null
}

/** Loads the demo. A failure must not prevent showing the keys; the next start tries again. */
async function addDemo(sql: Sql, workspaceId: number | null, stop: Stop, log: Log): Promise<boolean> {
  try {
    const isLoaded = await loadDemoOnce(recording, sql, workspaceId)
    if (isLoaded) log("info", "demo_loaded")
    return isLoaded
  } catch (error) {
    if (!stop.isAsked()) log("error", "demo_failed", { reason: (error as Error).message })
    return false
  }
}

/** Loads the parts of the demo that the welcome does not need. */
async function addRestOfDemo(sql: Sql, stop: Stop, log: Log): Promise<void> {
  try {
    if (await loadRestOnce(recording, sql)) log("info", "demo_completed")
  } catch (error) {
    if (!stop.isAsked()) log("error", "demo_failed", { reason: (error as Error).message })
  }
}
