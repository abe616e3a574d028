import { BACKEND, closeStatement, FRONTEND, message, parseStatement, textAt } from "./wire.ts"

/** A prepared statement in the backend, shared by all clients under an internal name. */
interface KeptStatement {
  name: string
  /** Text and parameter types, byte for byte as in the message. */
  definition: string
  /** Number of client names that refer to it. */
  users: number
}

/**
 * Maximum number of statements in the backend, each of about 35 KB. Beyond it, the least recently used one is closed
 * and parsed again at its next use.
 */
const MAX_STATEMENTS = 256

/** No statement has this name: closing it does nothing, but gets a response. */
const NOTHING = closeStatement("kept 0")

/** After these commands, a statement may have been parsed for another schema. */
const MAY_CHANGE_SCHEMA = /^(?:CREATE|ALTER|DROP|DO|CALL|DISCARD|DEALLOCATE)\b/
/** Errors that parsing the statement again resolves. The driver does that. */
const OUTDATED = new Set(["FetchPreparedStatement", "RevalidateCachedQuery", "transformAssignedExpr"])

/** All prepared statements of the single backend. */
export class KeptStatements {
  /** Statements by definition, shared by clients that prepare the same one. */
  #shared = new Map<string, KeptStatement>()
  /** Statements in the backend, the most recently used last. */
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

  /** Records that the backend has parsed the statement. */
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

  /** Returns the statements to close. They count as closed from then on. */
  takeSuperfluous(): KeptStatement[] {
    const taken = [...this.#unused]
    this.#unused.clear()
    for (const kept of taken) this.#held.delete(kept)
    for (const kept of this.#held) {
      if (this.#held.size <= MAX_STATEMENTS) break
      this.#held.delete(kept)
      taken.push(kept)
    }
    return taken
  }

  /** Closes all statements with the next batch. Each is parsed again at its next use. */
  drop(): void {
    for (const kept of this.#held) this.#unused.add(kept)
  }

  /** Makes clients parse their next statements again instead of sharing existing ones. */
  forget(): void {
    this.#shared.clear()
  }

  completed(command: string): void {
    if (MAY_CHANGE_SCHEMA.test(command)) this.#schemaChanges = true
  }

  /**
   * Statements parsed while a transaction changes the schema are not shared after its end, because it may roll back.
   */
  answered(status: string | null): void {
    if (!this.#schemaChanges) return
    this.forget()
    if (status === "I") this.#schemaChanges = false
  }
}

/** A completion or ReadyForQuery that the backend has not sent yet. */
interface Completion {
  type: number
  /** The type that the client gets instead. Null for nothing. */
  told: number | null
  done?(): void
  /** Called if the message was skipped because an earlier one failed. */
  failed?(): void
}

const PARSED: Completion = { type: BACKEND.parseComplete, told: BACKEND.parseComplete }
const CLOSED: Completion = { type: BACKEND.closeComplete, told: BACKEND.closeComplete }
const CLOSED_UNASKED: Completion = { type: BACKEND.closeComplete, told: null }
const READY: Completion = { type: BACKEND.readyForQuery, told: BACKEND.readyForQuery }

/**
 * One client's statement names. If another client has prepared the same statement, it is not parsed again, but the
 * client still gets its ParseComplete.
 */
export class ClientStatements {
  #kept: KeptStatements
  #byName = new Map<string, KeptStatement>()
  #awaited: Completion[] = []
  /** Statements that the next batch parses. */
  #parsing = new Set<KeptStatement>()
  #parts: Buffer[] = []

  constructor(kept: KeptStatements) {
    this.#kept = kept
  }

  /** Translates a client's messages for the backend. */
  translated(messages: readonly Buffer[]): Buffer[] {
    this.#parts = []
    this.#parsing.clear()
    // Nothing is skipped between two sequences.
    if (this.#awaited.length === 0) {
      for (const { name } of this.#kept.takeSuperfluous()) this.#send(CLOSED_UNASKED, closeStatement(name))
    }
    for (const bytes of messages) this.#translate(bytes)
    return this.#parts
  }

  /** Returns the type of the completion that the client gets. Null if it gets none. */
  completion(type: number): number | null {
    if (this.#awaited[0]?.type !== type) return type
    const { told, done } = this.#awaited.shift()!
    done?.()
    return told
  }

  /** At ReadyForQuery, everything unanswered before it was skipped. */
  ready(): void {
    for (let next = this.#awaited.shift(); next && next !== READY; next = this.#awaited.shift()) next.failed?.()
  }

  completed(command: string): void {
    this.#kept.completed(command)
  }

  failed(routine: string): void {
    if (OUTDATED.has(routine)) this.#kept.forget()
  }

  /** `all`: every sent message has been answered. */
  answered(status: string | null, all: boolean): void {
    while (all && this.#awaited.length > 0) this.ready()
    this.#kept.answered(status)
  }

  /** The client has disconnected. */
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
    const existing = this.#byName.get(name)
    if (name === "") this.#send(PARSED, bytes)
    // The backend reports that the name is taken.
    else if (existing && this.#kept.holds(existing)) this.#send(PARSED, ...renamed(bytes, 5, existing.name))
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

/** Returns the message with the name at `at` replaced, in two parts. */
function renamed(bytes: Buffer, at: number, name: string): [Buffer, Buffer] {
  const end = bytes.indexOf(0, at)
  const head = message("", Buffer.concat([bytes.subarray(5, at), Buffer.from(name)]))
  head[0] = bytes[0]!
  head.writeInt32BE(bytes.length - 1 - (end - at) + name.length, 1)
  return [head, bytes.subarray(end)]
}
