import { type TimeLimit, timeLimitIn } from "./time-limits.ts"
import { FRONTEND, Frames, message, text, textAt } from "./wire.ts"

export interface Batch {
  messages: Buffer[]
  /** After "flush" the backend waits for the rest of the sequence, so no other client may use the backend. */
  ends: "sync" | "flush"
  /** A COPY FROM STDIN with its data. The client already got its CopyInResponse. */
  copy: boolean
  /** A Query within an unfinished extended-protocol sequence. It is not answered if an earlier message failed. */
  mixed: boolean
  listens: Listen[]
  timeLimits: TimeLimit[]
  /** The distinct texts of the statements that the batch runs or prepares. */
  statements: string[]
}

/** LISTEN (on) or UNLISTEN (off) of a channel, or of all ("*"). */
export interface Listen {
  on: boolean
  channel: string
}

export type Event =
  | { kind: "startup" | "no_encryption" | "cancel" | "terminate" | "copy_in" }
  | { kind: "batch"; batch: Batch }

/** A COPY with more data than this fails, because all data is buffered until the client has sent the last byte. */
const COPY_LIMIT = 64 * 1024 * 1024

/** Groups a client's messages into batches. A batch ends where the backend responds: at Sync, Query or Flush. */
export class Batches {
  /** Prepared statements by name, with the effects that the bridge must track. */
  #statements = new Map<string, StatementScope>()
  #frames = new Frames()
  #parts: Buffer[] = []
  #listens: Listen[] = []
  #timeLimits: TimeLimit[] = []
  #texts = new Set<string>()
  #copy: { query: Buffer; data: Buffer[]; length: number } | null = null
  #copyLimit: number

  constructor(copyLimit = COPY_LIMIT) {
    this.#copyLimit = copyLimit
  }

  *feed(chunk: Buffer): Generator<Event> {
    this.#frames.push(chunk)
    for (let frame = this.#frames.next(); frame; frame = this.#frames.next()) {
      const event = frame.kind === "message" ? this.#message(frame.bytes) : frame
      if (event) yield event
    }
  }

  #message(bytes: Buffer): Event | null {
    const type = bytes[0]
    if (type === FRONTEND.terminate) return { kind: "terminate" }
    if (this.#copy) return this.#copying(bytes)
    if (type === FRONTEND.query && isCopyIn(bytes)) {
      this.#copy = { query: bytes, data: [], length: 0 }
      return { kind: "copy_in" }
    }
    this.#note(bytes)
    this.#parts.push(bytes)
    if (type !== FRONTEND.sync && type !== FRONTEND.query && type !== FRONTEND.flush) return null
    const batch = {
      messages: this.#parts,
      copy: false,
      mixed: type === FRONTEND.query && this.#parts.length > 1,
      listens: this.#listens,
      timeLimits: this.#timeLimits,
      statements: [...this.#texts],
    }
    this.#parts = []
    this.#listens = []
    this.#timeLimits = []
    this.#texts.clear()
    return { kind: "batch", batch: { ...batch, ends: type === FRONTEND.flush ? "flush" : "sync" } }
  }

  // The backend reads CopyData from the buffer of the query, so all data must be there when the query begins.
  #copying(bytes: Buffer): Event | null {
    const copy = this.#copy!
    const type = bytes[0]
    if (type === FRONTEND.copyData) {
      copy.length += bytes.length
      if (copy.length <= this.#copyLimit) copy.data.push(Buffer.from(bytes))
      else copy.data = []
      return null
    }
    if (type !== FRONTEND.copyDone && type !== FRONTEND.copyFail) return null
    this.#copy = null
    const limit = `the embedded database takes at most ${this.#copyLimit} bytes in one COPY`
    const end = copy.length > this.#copyLimit ? message("f", text(limit)) : bytes
    return { kind: "batch", batch: { ...COPIED, messages: [copy.query, ...copy.data, end] } }
  }

  #note(bytes: Buffer): void {
    const type = bytes[0]
    if (type === FRONTEND.query) this.#heed(scopeOf(textAt(bytes, 5)))
    else if (type === FRONTEND.parse) {
      const name = textAt(bytes, 5)
      const scope = scopeOf(textAt(bytes, 6 + Buffer.byteLength(name)))
      this.#statements.set(name, scope)
      this.#texts.add(scope.text)
    } else if (type === FRONTEND.bind) {
      const portal = textAt(bytes, 5)
      this.#heed(this.#statements.get(textAt(bytes, 6 + Buffer.byteLength(portal))))
    } else if (type === FRONTEND.close && bytes[5] === FRONTEND.sync) this.#statements.delete(textAt(bytes, 6))
  }

  #heed(declared: StatementScope | undefined): void {
    if (declared) this.#texts.add(declared.text)
    if (declared?.listen) this.#listens.push(declared.listen)
    if (declared?.timeLimit) this.#timeLimits.push(declared.timeLimit)
  }
}

const COPIED = { ends: "sync" as const, copy: true, mixed: false, listens: [], timeLimits: [], statements: [] }

const COPY_IN = /^\s*copy\b[\s\S]*\bfrom\s+stdin\b/i

function isCopyIn(bytes: Buffer): boolean {
  return COPY_IN.test(bytes.toString("utf8", 5, Math.min(bytes.length, 4_096)))
}

/** Returns the effects of a statement outside the backend. */
interface StatementScope {
  text: string
  listen: Listen | null
  timeLimit: TimeLimit | null
}

function scopeOf(statement: string): StatementScope {
  return { text: statement, listen: listenIn(statement), timeLimit: timeLimitIn(statement) }
}

const LISTEN = /^\s*(un)?listen\s+(?:"((?:[^"]|"")+)"|([\w$]+|\*))\s*;?\s*$/i

function listenIn(statement: string): Listen | null {
  const found = statement.length < 200 ? LISTEN.exec(statement) : null
  if (!found) return null
  return { on: !found[1], channel: found[2]?.replaceAll('""', '"') ?? found[3]!.toLowerCase() }
}

/** Returns a copy, because transferring the bytes to another thread transfers their whole buffer. */
export function joined(parts: readonly Buffer[]): Buffer<ArrayBuffer> {
  const bytes = Buffer.from(new ArrayBuffer(parts.reduce((sum, part) => sum + part.length, 0)))
  let at = 0
  for (const part of parts) at += part.copy(bytes, at)
  return bytes
}

/** Merges consecutive batches into one. */
export function merged(batches: Batch[]): Batch {
  const last = batches.at(-1)
  if (!last) throw new Error("there is no batch to merge")
  if (batches.length === 1) return last
  return {
    messages: batches.flatMap((batch) => batch.messages),
    ends: last.ends,
    copy: false,
    mixed: false,
    listens: batches.flatMap((batch) => batch.listens),
    timeLimits: batches.flatMap((batch) => batch.timeLimits),
    statements: [...new Set(batches.flatMap((batch) => batch.statements))],
  }
}
