// The subset of PostgreSQL's frontend/backend protocol (version 3) that the bridge needs.

export const FRONTEND = {
  parse: 0x50,
  bind: 0x42,
  close: 0x43,
  describe: 0x44,
  sync: 0x53,
  flush: 0x48,
  query: 0x51,
  terminate: 0x58,
  copyData: 0x64,
  copyDone: 0x63,
  copyFail: 0x66,
} as const

export const BACKEND = {
  parseComplete: 0x31,
  closeComplete: 0x33,
  commandComplete: 0x43,
  error: 0x45,
  readyForQuery: 0x5a,
  notification: 0x41,
  copyIn: 0x47,
} as const

/** Codes of start-up packets that request something other than a connection. */
const REQUEST = { cancel: 80_877_102, tls: 80_877_103, gss: 80_877_104 } as const

/** Builds a message: its type (one character), its length, its body. */
export function message(type: string, body: Buffer = Buffer.alloc(0)): Buffer {
  const bytes = Buffer.allocUnsafe(5 + body.length)
  bytes.write(type, 0, "latin1")
  bytes.writeInt32BE(4 + body.length, 1)
  body.copy(bytes, 5)
  return bytes
}

export const text = (value: string): Buffer => Buffer.from(`${value}\0`)

export const query = (statement: string): Buffer => message("Q", text(statement))

export const sync = (): Buffer => message("S")

/** `definition`: the bytes after the name, one per character. */
export const parseStatement = (name: string, definition: string): Buffer =>
  message("P", Buffer.concat([text(name), Buffer.from(definition, "latin1")]))

export const closeStatement = (name: string): Buffer => message("C", text(`S${name}`))

/** "I": idle, "T": in a transaction, "E": in a failed transaction. */
export const readyForQuery = (status: "I" | "T" | "E" = "I"): Buffer => message("Z", Buffer.from(status))

export const copyInResponse = (): Buffer => message("G", Buffer.from([0, 0, 0]))

/** Builds an ErrorResponse. `code` is the SQLSTATE. */
export function errorResponse(severity: "ERROR" | "FATAL", code: string, sentence: string): Buffer {
  const fields = [`S${severity}`, `V${severity}`, `C${code}`, `M${sentence}`]
  return message("E", Buffer.concat([...fields.map(text), Buffer.from([0])]))
}

export function greeting(pid: number): Buffer {
  const key = Buffer.alloc(8)
  key.writeInt32BE(pid, 0)
  return Buffer.concat([
    message("R", Buffer.alloc(4)),
    ...Object.entries(PARAMETERS).map(([name, value]) => message("S", Buffer.concat([text(name), text(value)]))),
    message("K", key),
    readyForQuery(),
  ])
}

const PARAMETERS = {
  server_version: "18.0",
  server_encoding: "UTF8",
  client_encoding: "UTF8",
  DateStyle: "ISO, MDY",
  IntervalStyle: "postgres",
  TimeZone: "UTC",
  integer_datetimes: "on",
  standard_conforming_strings: "on",
  is_superuser: "on",
}

/** Returns a field of the ErrorResponse at `from` by its letter. Empty if it is missing. */
export function errorField(bytes: Buffer, from: number, letter: string): string {
  for (let at = from + 5; bytes[at]; at = bytes.indexOf(0, at) + 1) {
    if (bytes[at] === letter.charCodeAt(0)) return textAt(bytes, at + 1)
  }
  return ""
}

export function textAt(bytes: Buffer, from: number): string {
  const end = bytes.indexOf(0, from)
  return bytes.toString("utf8", from, end < 0 ? bytes.length : end)
}

type Frame = { kind: "startup" | "no_encryption" | "cancel" } | { kind: "message"; bytes: Buffer }

/** Splits a client's byte stream into messages. Copies the chunks of a message only once, when it is complete. */
export class Frames {
  #chunks: Buffer[] = []
  #length = 0
  #started = false

  push(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#length += chunk.length
  }

  /** Returns the next message, or null until it is complete. Throws on an invalid length. */
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
    const [first] = this.#chunks
    if (first && first.length >= length) return first
    const joined = Buffer.concat(this.#chunks)
    this.#chunks = [joined]
    return joined
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
