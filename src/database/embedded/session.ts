import { Duplex } from "node:stream"
import { type Answer, readAnswer } from "./answers.ts"
import { type Batch, Batches, type Event, joined, merged } from "./batches.ts"
import { type Channels, quoted } from "./channels.ts"
import type { Runaways } from "./runaways.ts"
import { ClientStatements, type PreparedStatements } from "./statements.ts"
import { TimeLimits } from "./time-limits.ts"
import type { Background, Turn, Turns } from "./turns.ts"
import { copyInResponse, errorResponse, greeting, query, readyForQuery, sync } from "./wire.ts"

export interface SharedBackend {
  readonly turns: Turns
  readonly runaways: Runaways
  readonly channels: Channels<Session>
  readonly sessions: Set<Session>
  readonly statements: PreparedStatements
  exec(batch: Uint8Array<ArrayBuffer>, limitMs?: number, statements?: readonly string[]): Promise<Buffer>
}

/** A client of the bridge as a stream, like a socket to a server. */
export class Session extends Duplex implements Turn {
  readonly background: Background | null
  #backend: SharedBackend
  #pid: number
  #timeLimits: TimeLimits
  #statements: ClientStatements
  #incoming = new Batches()
  #waiting: Batch[] = []
  #running = false
  #started = false
  /** True from the first message of a transaction, or of an unfinished sequence, until its end. */
  #holding = false
  #idleSince: number | null = null
  /**
   * Set if the refused batch ended with Flush: the client will send a Sync, which is answered here with this status.
   */
  #skipping: Answer["status"] = null
  #relisten = false
  /** True if the client has disconnected. Messages that it sent before are still processed. */
  #ending = false
  #closing = false

  /** `limitMs`: default time limit for statements of this client. */
  constructor(backend: SharedBackend, pid: number, limitMs: number, background: Background | null) {
    super({ allowHalfOpen: false, highWaterMark: 1 << 20 })
    this.#backend = backend
    this.#pid = pid
    this.#statements = new ClientStatements(backend.statements)
    this.background = background
    this.#timeLimits = new TimeLimits(limitMs)
  }

  /** postgres.js reads this property before it ends a connection. */
  get readyState(): "open" | "closed" {
    return this.destroyed || this.#closing ? "closed" : "open"
  }

  get idleSince(): number | null {
    return this.#idleSince
  }

  setKeepAlive(): this {
    return this
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    // Never answer inside write(): postgres.js clears its buffer after write() returns, and would lose what it queues
    // in reaction to the answer.
    queueMicrotask(() => {
      try {
        for (const event of this.#incoming.feed(chunk)) this.#on(event)
        done()
      } catch (error) {
        done(error as Error)
      }
    })
  }

  override _final(done: () => void): void {
    done()
    this.#end()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    void this.#close()
    done(error)
  }

  #on(event: Event): void {
    if (event.kind === "batch") this.#enqueue(event.batch)
    else if (event.kind === "copy_in") this.push(copyInResponse())
    else if (event.kind === "no_encryption") this.push("N")
    else if (event.kind === "startup") {
      this.#started = true
      this.push(greeting(this.#pid))
    } else this.#end() // Also ends the connection of a cancel request, because the single backend cannot be signalled.
  }

  #enqueue(batch: Batch): void {
    if (this.#skipping) {
      if (batch.ends === "flush") return
      this.push(readyForQuery(this.#skipping))
      this.#skipping = null
      return
    }
    this.#waiting.push(batch)
    if (this.#backend.turns.owns(this)) void this.#run()
    else this.#backend.turns.acquire(this)
  }

  begin(): void {
    void this.#run()
  }

  async #run(): Promise<void> {
    if (this.#running) return
    this.#running = true
    this.#idleSince = null
    try {
      while (this.#waiting.length > 0) {
        await this.#trip(this.#next())
        if (!this.#holding && this.#backend.turns.yields(this)) break
      }
      if (!this.#holding && this.#relisten) await this.#listenAgain()
    } catch (error) {
      this.#holding = false
      this.#running = false
      this.#backend.turns.release(this)
      this.destroy(error as Error)
      return
    }
    this.#running = false
    if (this.#holding) this.#idleSince = performance.now()
    else this.#backend.turns.release(this)
    if (this.#waiting.length > 0) this.#backend.turns.acquire(this)
    else if (this.#ending) void this.#close()
  }

  // Consecutive batches share a round trip to the backend. A COPY, or a statement that may run too long, gets a
  // separate round trip.
  #next(): Batch {
    const { runaways } = this.#backend
    const isAlone = ({ copy, mixed, statements }: Batch) =>
      copy || mixed || runaways.mustRunAlone(statements) || runaways.refusedFor(statements) > 0
    const alone = this.#waiting.findIndex(isAlone)
    return merged(this.#waiting.splice(0, alone < 0 ? this.#waiting.length : Math.max(alone, 1)))
  }

  async #trip(batch: Batch): Promise<void> {
    const { messages, ends, copy, listens, timeLimits, statements } = batch
    const refusedMs = this.#backend.runaways.refusedFor(statements)
    if (refusedMs > 0) return await this.#refuseRunaway(ends, refusedMs)
    const limitMs = this.#timeLimits.forBatch(timeLimits)
    const raw = await this.#backend.exec(joined(this.#statements.translated(messages)), limitMs, statements)
    const answer = readAnswer(raw, copy, this.#statements)
    this.#holding = ends === "flush" || answer.status !== "I"
    if (answer.status === "I") this.#timeLimits.transactionEnded()
    for (const listen of listens) if (this.#backend.channels.note(this, listen)) this.#relisten = true
    this.out(answer.bytes)
    this.#deliver(answer)
  }

  // The backend raises the error itself, so that the transaction fails like after any other error.
  async #refuseRunaway(ends: Batch["ends"], refusedMs: number): Promise<void> {
    const seconds = Math.ceil(refusedMs / 1_000)
    const sentence = `this statement exceeded its time limit and was stopped; it is not run again for ${seconds} s`
    const raise = query(`do $$ begin raise exception using errcode = '57014', message = '${sentence}'; end $$`)
    const { bytes, status } = readAnswer(await this.#backend.exec(new Uint8Array(raise)), false, this.#statements)
    this.#holding = status !== "I"
    if (status === "I") this.#timeLimits.transactionEnded()
    if (ends === "flush") this.#skipping = status
    this.out(ends === "flush" ? bytes.subarray(0, bytes.length - readyForQuery().length) : bytes)
  }

  #deliver({ notifications }: Answer): void {
    for (const { channel, bytes } of notifications) {
      for (const session of this.#backend.channels.to(channel)) session.out(bytes)
    }
  }

  async #listenAgain(): Promise<void> {
    this.#relisten = false
    await this.#backend.exec(new Uint8Array(this.#backend.channels.relisten()))
  }

  out(bytes: Buffer): void {
    if (this.#started && !this.destroyed && bytes.length > 0) this.push(bytes)
  }

  refuse(waitedMs: number): void {
    const sentence =
      `waited ${Math.round(waitedMs)} ms for a transaction that is idle; the embedded database runs one ` +
      "transaction at a time: inside sql.begin use only its tx, and await nothing else"
    const refused = this.#waiting
    this.#waiting = []
    for (const { ends } of refused) {
      if (!this.#skipping) this.out(errorResponse("ERROR", "55P03", sentence))
      this.#skipping = ends === "flush" ? "I" : null
      if (!this.#skipping) this.out(readyForQuery())
    }
    if (this.#ending) void this.#close()
  }

  evict(idleMs: number): void {
    const sentence = `idle in a transaction for ${Math.round(idleMs)} ms while others waited`
    this.out(errorResponse("FATAL", "25P03", sentence))
    void this.#close()
  }

  fail(error: Error): void {
    this.#backend.turns.leave(this)
    this.out(errorResponse("FATAL", "57P01", error.message))
    this.destroy(error)
  }

  #end(): void {
    this.#ending = true
    if (!this.#running && this.#waiting.length === 0) void this.#close()
  }

  async #close(): Promise<void> {
    if (this.#closing) return
    this.#closing = true
    this.#waiting = []
    this.#backend.sessions.delete(this)
    this.#backend.turns.leave(this)
    await this.#cleanUp().catch(() => {}) // Fails only if the backend is gone.
    this.push(null)
    this.destroy()
  }

  // Resets the state that a server resets when a connection ends, because the next client uses the same backend.
  async #cleanUp(): Promise<void> {
    this.#statements.leave()
    const parts: Buffer[] = []
    for (const channel of this.#backend.channels.leave(this)) parts.push(query(`unlisten ${quoted(channel)}`))
    const owns = this.#backend.turns.owns(this)
    if (owns) parts.unshift(sync(), query("rollback"))
    if (parts.length === 0) return
    const turn: Turn = owns ? this : await this.#turn()
    try {
      await this.#backend.exec(new Uint8Array(Buffer.concat(parts)))
    } finally {
      this.#backend.turns.release(turn)
    }
  }

  #turn(): Promise<Turn> {
    return new Promise((resolve) => {
      const turn: Turn = { begin: () => resolve(turn), background: this.background }
      this.#backend.turns.acquire(turn)
    })
  }
}
