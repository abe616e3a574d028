import { Channels } from "./channels.ts"
import { Runaways } from "./runaways.ts"
import { Session, type SharedBackend } from "./session.ts"
import { KeptStatements } from "./statements.ts"
import { StatementStopped } from "./stopped.ts"
import { type Background, type TurnLimits, Turns } from "./turns.ts"

/** Gives back every byte that the backend answers. It may be stopped after `limitMs`; without one never. */
export type Exec = (batch: Uint8Array<ArrayBuffer>, limitMs?: number) => Promise<Uint8Array>

/**
 * Many clients on PGlite's one backend. A client has it from its first message until the backend is idle, so that
 * transactions, cursors and the unnamed statement stay its own.
 */
export class Bridge implements SharedBackend {
  readonly turns: Turns
  readonly runaways: Runaways
  readonly channels = new Channels<Session>()
  readonly sessions = new Set<Session>()
  readonly statements = new KeptStatements()
  trips = 0
  #exec: Exec
  #dead: Error | null = null
  #pid = 0

  /** `runaways` outlive a bridge: what was stopped is known to the next. */
  constructor(exec: Exec, limits?: TurnLimits, runaways = new Runaways()) {
    this.#exec = exec
    this.runaways = runaways
    this.turns = new Turns(limits)
  }

  /** A client's end, for `postgres({ socket })` or to pipe a real socket through. After `fail` it ends in an error. */
  socket = (): Session => this.client(Number.POSITIVE_INFINITY)

  /** The same for one whose statements may take `limitMs` where they say nothing else; in the background where no request waits. */
  client(limitMs: number, background: Background | null = null): Session {
    const session = new Session(this, ++this.#pid, limitMs, background)
    this.sessions.add(session)
    const dead = this.#dead
    // Thrown here, postgres.js would lose the connection for good; it listens for errors only after this returns.
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

  /** The backend is gone: every client's work ends with this error, now and later. */
  fail(error: Error): void {
    if (this.#dead) return
    this.#dead = error
    this.turns.stop()
    for (const session of [...this.sessions]) session.fail(error)
  }
}
