import { mkdirSync, statSync } from "node:fs"
import { join, resolve } from "node:path"
import type { Log } from "../../lib/log.ts"
import { assertDataVersion } from "../data-version.ts"
import { createDiskWatch } from "../disk.ts"
import { openPool } from "../driver/pool.ts"
import { embeddedOptions } from "../options.ts"
import { assertDriverPatched } from "../patched.ts"
import { DatabaseProblem } from "../problem.ts"
import type { Database, Sql } from "../types.ts"
import { Bridge } from "./bridge.ts"
import { type Control, controlAnswers, controlStream, listenControl } from "./control.ts"
import { guardDisk } from "./disk-guard.ts"
import { type HousekeepingOptions, restWhenIdle, startHousekeeping } from "./housekeeping.ts"
import { lockDirectory } from "./lock.ts"
import { Runaways } from "./runaways.ts"
import { type Backend, startBackend } from "./thread.ts"
import type { TurnLimits } from "./turns.ts"
import { startWatched } from "./watched.ts"

export interface EmbeddedOptions {
  /** The data directory. Without it the database is only in memory, does not use fsync, and ends with the process. */
  dataDir?: string | undefined
  as: "server" | "command"
  log: Log
  maxConnections?: number
  /** A data directory (a tar from `dump`). The first start uses it instead of initdb. */
  template?: Uint8Array<ArrayBuffer>
  housekeeping?: HousekeepingOptions
  /** Called once when the thread died. All later queries fail. */
  onLoss?: (error: Error) => void
  limits?: TurnLimits
  /**
   * Time limits after which statements are stopped: one for the server's own statements, and one for those of commands
   * that use the server's database.
   */
  statements?: { serverMs?: number; commandMs?: number }
}

/**
 * PostgreSQL's 4 s (../options.ts) plus reserve for slow machines, because stopping a statement here delays everyone by
 * a second.
 */
const STATEMENTS = { serverMs: 10_000, commandMs: 60_000 }

/**
 * Number of connections for background work. There are several, so that a heartbeat or the end of a job does not wait
 * for other jobs.
 */
const BEHIND = 4

export interface EmbeddedDatabase extends Database {
  kind: "embedded"
  backend?: Backend
  bridge?: Bridge
}

/**
 * Opens the embedded database. Only one process can have a directory open: a second server is refused, and a command
 * uses the socket of the process that has it open.
 */
export async function openEmbedded(options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  assertDriverPatched()
  if (options.dataDir === undefined) return start(options, null)
  const dataDir = resolve(options.dataDir)
  let release: (() => void) | null = null
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    release = await hold(dataDir, options.as)
    if (!release) return connectHolder(dataDir, options.maxConnections)
    assertDataVersion(join(dataDir, "postgres"))
    return await start(options, { dataDir, release })
  } catch (error) {
    release?.()
    if (error instanceof DatabaseProblem) throw error
    throw new DatabaseProblem(`the data directory ${dataDir} cannot be opened: ${(error as Error).message}`, {
      cause: error,
    })
  }
}

// Waits for a command that has the directory open, because a command opens no socket, and for a server that is
// starting.
const PATIENCE_MS = 10_000

async function hold(dataDir: string, as: "server" | "command"): Promise<(() => void) | null> {
  if (isAnothers(dataDir)) {
    if (as === "command" && (await controlAnswers(dataDir))) return null
    const { uid } = statSync(join(dataDir, "postgres"))
    throw new DatabaseProblem(
      `the database in ${dataDir} belongs to user ${uid}, who could not open it afterwards; run this as that ` +
        `user: setpriv --reuid ${uid} --clear-groups …`,
    )
  }
  const until = performance.now() + PATIENCE_MS
  for (;;) {
    const release = lockDirectory(dataDir)
    if (release) return release
    const served = await controlAnswers(dataDir)
    if (served && as === "command") return null
    if (served) throw new DatabaseProblem(`the data directory ${dataDir} is in use by another server`)
    if (performance.now() > until)
      throw new DatabaseProblem(`the data directory ${dataDir} is in use by another process`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

// Root could open another user's directory, but would leave files in it that this user cannot read.
function isAnothers(dataDir: string): boolean {
  const data = statSync(join(dataDir, "postgres"), { throwIfNoEntry: false })
  return process.getuid !== undefined && data !== undefined && data.uid !== process.getuid()
}

function connectHolder(dataDir: string, maxConnections = 2): EmbeddedDatabase {
  const sql = openPool(embeddedOptions(() => controlStream(dataDir), maxConnections))
  return { sql, background: sql, kind: "embedded", close: () => sql.end({ timeout: 5 }) }
}

interface LockedFolder {
  dataDir: string
  release: () => void
}

async function start(options: EmbeddedOptions, folder: LockedFolder | null): Promise<EmbeddedDatabase> {
  const { log, maxConnections = 10 } = options
  const { serverMs, commandMs } = { ...STATEMENTS, ...options.statements }
  const { backend, bridge } = await startBridge(options, folder)
  // A command that holds the directory delays no other process.
  const limitMs = options.as === "server" && folder ? serverMs : Number.POSITIVE_INFINITY
  const sql = openPool(embeddedOptions(() => bridge().client(limitMs), maxConnections))
  const background = openPool(embeddedOptions(() => bridge().client(limitMs, "worker"), BEHIND))
  const control = await openControl(options, folder, () => bridge().client(commandMs, "command")).catch((error) => {
    backend.kill()
    throw error
  })
  const stopHousekeeping = folder ? startHousekeeping(background, log, options.housekeeping) : async () => {}
  const guarded = folder && options.as === "server" ? watchDisk(sql, log, folder.dataDir) : null
  const rest = async () => {
    Bun.gc(true)
    Bun.shrink()
    bridge().statements.drop()
    await background`select 1`
    await backend.rest()
  }
  const stopResting = folder && options.as === "server" ? restWhenIdle(rest, options.housekeeping) : () => {}
  const close = once(async () => {
    stopResting()
    await stopHousekeeping()
    await guarded?.stop()
    control?.close()
    await Promise.all([sql.end({ timeout: 5 }), background.end({ timeout: 5 })])
    await backend.close().catch(() => {}) // The backend may already be gone.
    folder?.release()
  })
  return {
    sql,
    background,
    kind: "embedded",
    ...(guarded && { disk: guarded.watch }),
    backend,
    get bridge() {
      return bridge()
    },
    close,
  }
}

function watchDisk(sql: Sql, log: Log, dataDir: string) {
  const cure =
    `the disk of ${dataDir} is almost full: nothing can be written until there is more space; free some, or move ` +
    "the folder to a larger disk"
  const watch = createDiskWatch(log, cure)
  return { watch, stop: guardDisk(sql, { dataDir, watch }) }
}

/** Starts the thread and the bridge to it. A restart replaces the bridge. A database in memory cannot be restarted. */
async function startBridge(options: EmbeddedOptions, folder: LockedFolder | null) {
  const { log, limits, template } = options
  let bridge: Bridge | null = null
  const runaways = new Runaways()
  const onLoss = (error: Error) => {
    log("error", "database_stopped", { reason: error.message })
    bridge?.fail(error)
    options.onLoss?.(error)
  }
  const onRestart = (error: Error) => {
    log("error", "database_restarted", { reason: error.message })
    const old = bridge
    bridge = new Bridge(backend.exec, limits, runaways)
    old?.fail(error)
  }
  const backend = folder
    ? await startWatched(join(folder.dataDir, "postgres"), { onRestart, onLoss, template })
    : await startBackend(null, onLoss, template)
  const first = new Bridge(backend.exec, limits, runaways)
  bridge = first
  return { backend, bridge: () => bridge ?? first }
}

type OpenSession = Parameters<typeof listenControl>[1]

async function openControl(
  { as }: EmbeddedOptions,
  folder: LockedFolder | null,
  session: OpenSession,
): Promise<Control | null> {
  return folder && as === "server" ? listenControl(folder.dataDir, session) : null
}

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | null = null
  return () => {
    running ??= work()
    return running
  }
}
