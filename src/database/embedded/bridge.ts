import { Channels } from "./channels.ts"
import { Runaways } from "./runaways.ts"
import { Session, type SharedBackend } from "./session.ts"
import { PreparedStatements } from "./statements.ts"
import { StatementStopped } from "./stopped.ts"
import { type Background, type TurnLimits, Turns } from "./turns.ts"

/**
 * Sends a batch and returns the backend's whole response. The backend may stop the batch after `limitMs`. Default: no
 * limit.
 */
export type Exec = (batch: Uint8Array<ArrayBuffer>, limitMs?: number) => Promise<Uint8Array>

/**
 * Shares PGlite's single backend among many clients. A client uses the backend alone from its first message until the
 * backend is idle, so that other clients do not affect its transactions, cursors and unnamed statement.
 */
export class Bridge implements SharedBackend {
  readonly turns: Turns
  readonly runaways: Runaways
  readonly channels = new Channels<Session>()
  readonly sessions = new Set<Session>()
  readonly statements = new PreparedStatements()
  trips = 0
  #exec: Exec
  #dead: Error | null = null
  #pid = 0

  /** `runaways` exists longer than one bridge, so that the next bridge refuses the same statements. */
  constructor(exec: Exec, limits?: TurnLimits, runaways = new Runaways()) {
    this.#exec = exec
    this.runaways = runaways
    this.turns = new Turns(limits)
  }

  /**
   * Returns a stream for a client, for `postgres({ socket })` or to pipe a real socket through. After a call of `fail`,
   * the stream ends with an error.
   */
  socket = (): Session => this.client(Number.POSITIVE_INFINITY)

  /**
   * Creates a session whose statements may take `limitMs` by default. `background` marks work that no request waits
   * for.
   */
  client(limitMs: number, background: Background | null = null): Session {
    const session = new Session(this, ++this.#pid, limitMs, background)
    this.sessions.add(session)
    const dead = this.#dead
    // Delayed, because postgres.js adds its error listener only after this function returns; if the function threw,
    // postgres.js would lose the connection permanently.
    if (dead) setTimeout(() => session.destroy(dead), 0)
    return session
  }

  async exec(batch: Uint8Array<ArrayBuffer>, limitMs?: number, statements: readonly string[] = []): Promise<Buffer> {
    if (this.#dead) throw this.#dead
    this.trips++
    const raw = await this.#exec(batch, limitMs).catch((error) => {
      if (error instanceof StatementStopped) this.runaways.note(statements)
      throw error
    })
    return Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
  }

  /** Makes present and future statements of every client fail with this error, because the backend is gone. */
  fail(error: Error): void {
    if (this.#dead) return
    this.#dead = error
    this.turns.stop()
    for (const session of [...this.sessions]) session.fail(error)
  }
}
