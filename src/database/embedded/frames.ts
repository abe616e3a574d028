import { REQUEST } from "./wire.ts"

type Frame = { kind: "startup" | "no_encryption" | "cancel" } | { kind: "message"; bytes: Buffer }

/** Cuts a client's byte stream into whole messages; bytes of an unfinished one are joined once, when it is complete. */
export class Frames {
  #chunks: Buffer[] = []
  #length = 0
  #started = false

  push(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#length += chunk.length
  }

  /** The next message, or null until more bytes come. Throws on a length no client may send. */
  next(): Frame | null {
    return this.#started ? this.#message() : this.#opening()
  }

  #opening(): Frame | null {
    const head = this.#peek(8)
    const packet = head && this.#take(checked(head.readInt32BE(0), 8))
    if (!packet) return null
    const code = packet.readInt32BE(4)
    if (code === REQUEST.cancel) return { kind: "cancel" }
    if (code === REQUEST.tls || code === REQUEST.gss) return { kind: "no_encryption" }
    this.#started = true
    return { kind: "startup" }
  }

  #message(): Frame | null {
    const head = this.#peek(5)
    const bytes = head && this.#take(1 + checked(head.readInt32BE(1), 4))
    return bytes && { kind: "message", bytes }
  }

  #peek(length: number): Buffer | null {
    if (this.#length < length) return null
    if (this.#chunks[0]!.length < length) this.#chunks = [Buffer.concat(this.#chunks)]
    return this.#chunks[0]!
  }

  #take(length: number): Buffer | null {
    const joined = this.#peek(length)
    if (!joined) return null
    this.#chunks[0] = joined.subarray(length)
    if (joined.length === length) this.#chunks.shift()
    this.#length -= length
    return joined.subarray(0, length)
  }
}

function checked(length: number, least: number): number {
  if (length < least || length > 0x3fff_ffff) throw new Error("invalid message length")
  return length
}
