import { Buffer } from "node:buffer"
import { OutboundProblem } from "./problem.ts"

const NONE: Uint8Array = Buffer.alloc(0)

/** Reads a connection's bytes by line or by chunk. Buffers at most one line and the last chunk. */
export class IncomingBytes {
  readonly #chunks: AsyncIterator<Uint8Array>
  readonly #signal: AbortSignal
  #held = NONE

  constructor(chunks: AsyncIterable<Uint8Array>, signal: AbortSignal) {
    this.#chunks = chunks[Symbol.asyncIterator]()
    this.#signal = signal
  }

  /** Resolves when the first byte arrives. Throws when the connection ends before it. */
  async first(): Promise<void> {
    if (!(await this.#more())) throw new OutboundProblem("bad_answer")
  }

  /** Returns the next line without its end. Throws `bad_answer` when it is longer than `most` bytes or incomplete. */
  async line(most: number): Promise<string> {
    for (;;) {
      const end = this.#held.indexOf(10)
      if (end > most || (end < 0 && this.#held.length > most)) throw new OutboundProblem("bad_answer")
      if (end >= 0)
        return Buffer.from(this.#take(end + 1))
          .toString("latin1")
          .replace(/\r?\n$/, "")
      if (!(await this.#more())) throw new OutboundProblem("bad_answer")
    }
  }

  /** Returns the available bytes, at most `most`. Null at the end. */
  async some(most: number): Promise<Uint8Array | null> {
    if (this.#held.length === 0 && !(await this.#more())) return null
    return this.#take(Math.min(most, this.#held.length))
  }

  #take(count: number): Uint8Array {
    const taken = this.#held.subarray(0, count)
    this.#held = this.#held.subarray(count)
    return taken
  }

  async #more(): Promise<boolean> {
    for (;;) {
      const { done, value } = await this.#chunks.next().catch(() => {
        throw this.#signal.aborted ? this.#signal.reason : new OutboundProblem("bad_answer")
      })
      // A destroyed connection may also end without an error.
      if (this.#signal.aborted) throw this.#signal.reason
      if (done) return false
      if (value.length === 0) continue
      this.#held = this.#held.length === 0 ? value : Buffer.concat([this.#held, value])
      return true
    }
  }
}
