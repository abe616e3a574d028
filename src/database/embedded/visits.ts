import type { Duplex } from "node:stream"
import type { Log } from "../../lib/log.ts"
import { openPool } from "../driver/pool.ts"
import { embeddedOptions } from "../options.ts"
import type { Database } from "../types.ts"
import { controlStream, deadStream } from "./control.ts"
import { type EmbeddedDatabase, openEmbedded } from "./open.ts"

interface VisitOptions {
  dataDir: string
  log: Log
  maxConnections: number
  /** Checks that the database can be used. Called each time the database was opened. */
  arrive(database: EmbeddedDatabase): Promise<void>
  /** Milliseconds from the last statement to the release of the directory. */
  idleMs?: number
}

/**
 * Shorter than the time that other processes wait for the directory (open.ts), and longer than the pauses between
 * related statements.
 */
const IDLE_MS = 1_000

/**
 * Opens the database on demand (0.6 s) and releases the directory when idle. For long-lived processes with few queries.
 */
export async function openVisits(options: VisitOptions): Promise<Database> {
  const { maxConnections, idleMs = IDLE_MS } = options
  const visits = new Visits(options)
  const settings = { ...embeddedOptions(visits.stream, maxConnections), idle_timeout: idleMs / 1_000 }
  const sql = openPool(settings)
  const close = async () => {
    await sql.end({ timeout: 5 })
    await visits.left()
  }
  try {
    await sql`select 1`
  } catch (error) {
    await close()
    throw error
  }
  return { sql, background: sql, kind: "embedded", close }
}

/** The error code of a server that is not ready yet: calls that wait get 503 and may retry. */
const AWAY = { code: "57P03" }

class Visits {
  readonly #options: VisitOptions
  #visit: Promise<EmbeddedDatabase> | null = null
  #leaving: Promise<void> = Promise.resolve()
  #streams = 0

  constructor(options: VisitOptions) {
    this.#options = options
  }

  /** Returns a connection for the driver. If it cannot be opened, the stream fails once it has listeners. */
  stream = async (): Promise<Duplex> => {
    this.#streams++
    let stream: Duplex
    try {
      this.#visit ??= this.#enter()
      const { bridge } = await this.#visit
      stream = bridge ? bridge.client(Number.POSITIVE_INFINITY) : await controlStream(this.#options.dataDir)
    } catch (error) {
      stream = deadStream(Object.assign(error as Error, AWAY))
    }
    stream.once("close", () => {
      if (--this.#streams === 0) this.#leave()
    })
    return stream
  }

  /** Resolves when the directory is released. Statements that still run on it are cut off. */
  left(): Promise<void> {
    this.#leave()
    return this.#leaving
  }

  async #enter(): Promise<EmbeddedDatabase> {
    await this.#leaving
    const { dataDir, log, arrive } = this.#options
    const database = await openEmbedded({ dataDir, log, as: "command" })
    try {
      await arrive(database)
      return database
    } catch (error) {
      await database.close()
      throw error
    }
  }

  #leave(): void {
    const visit = this.#visit
    if (!visit) return
    this.#visit = null
    this.#leaving = visit.then(({ close }) => close()).catch(() => {})
  }
}
