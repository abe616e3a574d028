import { BACKEND, closeStatement, FRONTEND, message, parseStatement, textAt } from "./wire.ts"

/** A prepared statement as the backend keeps it: parsed once for all clients, under a name of its own. */
interface KeptStatement {
  name: string
  /** Text and types of parameters, byte for byte as the message has them. */
  definition: string
  /** How many names of clients stand for it. */
  users: number
}

/** Some 35 KB of the backend each. One more, and the one that was longest not used is parsed again where it is next used. */
const MOST = 256

/** No statement has this name: closing it is answered, and does nothing. */
const NOTHING = closeStatement("kept 0")

/** What schema a statement was parsed for may be another after these. */
const MAY_CHANGE_SCHEMA = /^(?:CREATE|ALTER|DROP|DO|CALL|DISCARD|DEALLOCATE)\b/
/** Of these errors a statement that is parsed anew is rid, and the driver does so. */
const OUTDATED = new Set(["FetchPreparedStatement", "RevalidateCachedQuery", "transformAssignedExpr"])

/** All that the one backend keeps. */
export class KeptStatements {
  /** To be shared with whoever prepares the same. */
  #shared = new Map<string, KeptStatement>()
  /** What is in the backend, the one used last at the end. */
  #held = new Set<KeptStatement>()
  #unused = new Set<KeptStatement>()
  #made = 0
  #schemaChanges = false

  find(definition: string): KeptStatement | undefined {
    return this.#shared.get(definition)
  }

  make(definition: string): KeptStatement {
    return { name: `kept ${++this.#made}`, definition, users: 0 }
  }

  /** The backend has parsed it. */
  hold(kept: KeptStatement): void {
    this.#held.add(kept)
    if (kept.users === 0) this.#unused.add(kept)
    else if (!this.#shared.has(kept.definition)) this.#shared.set(kept.definition, kept)
  }

  holds(kept: KeptStatement): boolean {
    return this.#held.has(kept)
  }

  touch(kept: KeptStatement): void {
    if (this.#held.delete(kept)) this.#held.add(kept)
  }

  leave(kept: KeptStatement): void {
    if (--kept.users > 0) return
    if (this.#shared.get(kept.definition) === kept) this.#shared.delete(kept.definition)
    if (this.holds(kept)) this.#unused.add(kept)
  }

  /** Those that are to be closed, which count as closed from here on. */
  takeSuperfluous(): KeptStatement[] {
    const taken = [...this.#unused]
    this.#unused.clear()
    for (const kept of taken) this.#held.delete(kept)
    for (const kept of this.#held) {
      if (this.#held.size <= MOST) break
      this.#held.delete(kept)
      taken.push(kept)
    }
    return taken
  }

  /** All are closed with what is sent next, and each is parsed again where it is next used. */
  drop(): void {
    for (const kept of this.#held) this.#unused.add(kept)
  }

  /** Who prepares the same from now on has it parsed anew. */
  forget(): void {
    this.#shared.clear()
  }

  completed(command: string): void {
    if (MAY_CHANGE_SCHEMA.test(command)) this.#schemaChanges = true
  }

  /** What was parsed while a transaction changed the schema is not shared after its end, which may undo the change. */
  answered(status: string | null): void {
    if (!this.#schemaChanges) return
    this.forget()
    if (status === "I") this.#schemaChanges = false
  }
}

/** A completion or ReadyForQuery that the backend has still to send. */
interface Completion {
  type: number
  /** What the client is told in its place; null for nothing. */
  told: number | null
  done?(): void
  /** The message was not worked off: one before it failed. */
  failed?(): void
}

const PARSED: Completion = { type: BACKEND.parseComplete, told: BACKEND.parseComplete }
const CLOSED: Completion = { type: BACKEND.closeComplete, told: BACKEND.closeComplete }
const CLOSED_UNASKED: Completion = { type: BACKEND.closeComplete, told: null }
const READY: Completion = { type: BACKEND.readyForQuery, told: BACKEND.readyForQuery }

/** One client's names for them. What others have prepared already is not parsed again, and the client is told that it was. */
export class ClientStatements {
  #kept: KeptStatements
  #byName = new Map<string, KeptStatement>()
  #awaited: Completion[] = []
  /** Parsed by what is about to be sent. */
  #parsing = new Set<KeptStatement>()
  #parts: Buffer[] = []

  constructor(kept: KeptStatements) {
    this.#kept = kept
  }

  /** A client's messages as they go to the backend. */
  translated(messages: readonly Buffer[]): Buffer[] {
    this.#parts = []
    this.#parsing.clear()
    // between two sequences nothing is skipped
    if (this.#awaited.length === 0) {
      for (const { name } of this.#kept.takeSuperfluous()) this.#send(CLOSED_UNASKED, closeStatement(name))
    }
    for (const bytes of messages) this.#translate(bytes)
    return this.#parts
  }

  /** The type of the completion as the client is to see it; null when it is to see none. */
  completion(type: number): number | null {
    if (this.#awaited[0]?.type !== type) return type
    const { told, done } = this.#awaited.shift()!
    done?.()
    return told
  }

  /** ReadyForQuery: what was not answered before it was skipped. */
  ready(): void {
    for (let next = this.#awaited.shift(); next && next !== READY; next = this.#awaited.shift()) next.failed?.()
  }

  completed(command: string): void {
    this.#kept.completed(command)
  }

  failed(routine: string): void {
    if (OUTDATED.has(routine)) this.#kept.forget()
  }

  /** `all`: nothing that was sent is still to be answered. */
  answered(status: string | null, all: boolean): void {
    while (all && this.#awaited.length > 0) this.ready()
    this.#kept.answered(status)
  }

  /** The client is gone. */
  leave(): void {
    for (const kept of this.#byName.values()) this.#kept.leave(kept)
    this.#byName.clear()
  }

  #translate(bytes: Buffer): void {
    const type = bytes[0]
    if (type === FRONTEND.parse) this.#parse(bytes)
    else if (type === FRONTEND.bind) this.#use(bytes, bytes.indexOf(0, 5) + 1)
    else if (type === FRONTEND.describe && bytes[5] === STATEMENT) this.#use(bytes, 6)
    else if (type === FRONTEND.close) this.#close(bytes)
    else if (type === FRONTEND.sync || type === FRONTEND.query) this.#send(READY, bytes)
    else this.#parts.push(bytes)
  }

  #parse(bytes: Buffer): void {
    const name = textAt(bytes, 5)
    const end = bytes.indexOf(0, 5)
    const own = this.#byName.get(name)
    if (name === "") this.#send(PARSED, bytes)
    // the backend says that there is one of this name
    else if (own && this.#kept.holds(own)) this.#send(PARSED, ...renamed(bytes, 5, own.name))
    else this.#name(name, bytes.toString("latin1", end + 1))
  }

  #name(name: string, definition: string): void {
    const shared = this.#kept.find(definition)
    const kept = shared ?? this.#kept.make(definition)
    this.#drop(name)
    this.#byName.set(name, kept)
    kept.users++
    const failed = () => {
      if (this.#byName.get(name) === kept) this.#drop(name)
    }
    if (shared) this.#send({ ...CLOSED, told: BACKEND.parseComplete, failed }, NOTHING)
    else this.#parseKept(kept, { ...PARSED, failed })
  }

  #drop(name: string): boolean {
    const kept = this.#byName.get(name)
    if (kept) this.#kept.leave(kept)
    return this.#byName.delete(name)
  }

  #parseKept(kept: KeptStatement, awaited: Completion): void {
    this.#parsing.add(kept)
    this.#send({ ...awaited, done: () => this.#kept.hold(kept) }, parseStatement(kept.name, kept.definition))
  }

  #use(bytes: Buffer, at: number): void {
    const kept = this.#byName.get(textAt(bytes, at))
    if (kept && this.#kept.holds(kept)) this.#kept.touch(kept)
    else if (kept && !this.#parsing.has(kept)) this.#parseKept(kept, { ...PARSED, told: null })
    this.#parts.push(...(kept ? renamed(bytes, at, kept.name) : [bytes]))
  }

  #close(bytes: Buffer): void {
    const isNamed = bytes[5] === STATEMENT && this.#drop(textAt(bytes, 6))
    this.#send(CLOSED, isNamed ? NOTHING : bytes)
  }

  #send(awaited: Completion, ...parts: Buffer[]): void {
    this.#awaited.push(awaited)
    this.#parts.push(...parts)
  }
}

const STATEMENT = "S".charCodeAt(0)

/** The message with another name in place of the one at `at`, in two parts. */
function renamed(bytes: Buffer, at: number, name: string): [Buffer, Buffer] {
  const end = bytes.indexOf(0, at)
  const head = message("", Buffer.concat([bytes.subarray(5, at), Buffer.from(name)]))
  head[0] = bytes[0]!
  head.writeInt32BE(bytes.length - 1 - (end - at) + name.length, 1)
  return [head, bytes.subarray(end)]
}
