import { Buffer } from "node:buffer"
import { OutboundProblem } from "./problem.ts"

const NONE: Uint8Array = Buffer.alloc(0)

/** The bytes that a connection brings, taken by lines or as they come. Never holds more than a line and what came last. */
export class IncomingBytes {
  readonly #chunks: AsyncIterator<Uint8Array>
  readonly #signal: AbortSignal
  #held = NONE

  constructor(chunks: AsyncIterable<Uint8Array>, signal: AbortSignal) {
    this.#chunks = chunks[Symbol.asyncIterator]()
    this.#signal = signal
  }

  /** Settles as soon as a byte is there. Throws where the connection ends without one. */
  async first(): Promise<void> {
    if (!(await this.#more())) throw new OutboundProblem("bad_answer")
  }

  /** The next line without its end. Throws `bad_answer` where it has more than `most` bytes or breaks off. */
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

  /** What is there, `most` bytes at most; null at the end. */
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
      // a connection that was destroyed may also just end
      if (this.#signal.aborted) throw this.#signal.reason
      if (done) return false
      if (value.length === 0) continue
      this.#held = this.#held.length === 0 ? value : Buffer.concat([this.#held, value])
      return true
    }
  }
}
