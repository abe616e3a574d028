import { BACKEND, closeStatement, FRONTEND, message, parseStatement, textAt } from "./wire.ts"

/** A prepared statement in the backend, shared by all clients under an internal name. */
interface PreparedStatement {
  name: string
  /** Text and parameter types, byte for byte as in the message. */
  definition: string
  /** Number of clients' names that refer to the statement. */
  users: number
}

/**
 * Maximum number of statements in the backend, each of about 35 KB. Beyond it, the least recently used one is closed
 * and parsed again at its next use.
 */
const MAX_STATEMENTS = 256

/** No statement has this name: closing it does nothing, but gets a response. */
const NOTHING = closeStatement("kept 0")

/** After these commands, the schema may differ from the one for which a statement was parsed. */
const MAY_CHANGE_SCHEMA = /^(?:CREATE|ALTER|DROP|DO|CALL|DISCARD|DEALLOCATE)\b/
/** Errors that disappear when the statement is parsed again, which the driver does. */
const OUTDATED = new Set(["FetchPreparedStatement", "RevalidateCachedQuery", "transformAssignedExpr"])

/** All prepared statements of the single backend. */
export class PreparedStatements {
  /** Statements by definition. Clients that prepare the same statement share it. */
  #shared = new Map<string, PreparedStatement>()
  /** Statements in the backend, the most recently used last. */
  #held = new Set<PreparedStatement>()
  #unused = new Set<PreparedStatement>()
  #made = 0
  #schemaChanges = false

  find(definition: string): PreparedStatement | undefined {
    return this.#shared.get(definition)
  }

  make(definition: string): PreparedStatement {
    return { name: `kept ${++this.#made}`, definition, users: 0 }
  }

  /** Records that the backend has parsed the statement. */
  hold(prepared: PreparedStatement): void {
    this.#held.add(prepared)
    if (prepared.users === 0) this.#unused.add(prepared)
    else if (!this.#shared.has(prepared.definition)) this.#shared.set(prepared.definition, prepared)
  }

  holds(prepared: PreparedStatement): boolean {
    return this.#held.has(prepared)
  }

  touch(prepared: PreparedStatement): void {
    if (this.#held.delete(prepared)) this.#held.add(prepared)
  }

  leave(prepared: PreparedStatement): void {
    if (--prepared.users > 0) return
    if (this.#shared.get(prepared.definition) === prepared) this.#shared.delete(prepared.definition)
    if (this.holds(prepared)) this.#unused.add(prepared)
  }

  /** Returns the statements to close. From then on they count as closed. */
  takeSuperfluous(): PreparedStatement[] {
    const taken = [...this.#unused]
    this.#unused.clear()
    for (const prepared of taken) this.#held.delete(prepared)
    for (const prepared of this.#held) {
      if (this.#held.size <= MAX_STATEMENTS) break
      this.#held.delete(prepared)
      taken.push(prepared)
    }
    return taken
  }

  /** Closes all statements with the next batch. Each is parsed again at its next use. */
  drop(): void {
    for (const prepared of this.#held) this.#unused.add(prepared)
  }

  /** Makes clients parse their next statements again instead of sharing existing ones. */
  forget(): void {
    this.#shared.clear()
  }

  completed(command: string): void {
    if (MAY_CHANGE_SCHEMA.test(command)) this.#schemaChanges = true
  }

  /**
   * Statements that are parsed while a transaction changes the schema are not shared after its end, because the
   * transaction may be rolled back.
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
  /** The type of the message that the client gets instead. Null if the client gets no message. */
  clientType: number | null
  done?(): void
  /** Called if the message was skipped because an earlier message failed. */
  failed?(): void
}

const PARSED: Completion = { type: BACKEND.parseComplete, clientType: BACKEND.parseComplete }
const CLOSED: Completion = { type: BACKEND.closeComplete, clientType: BACKEND.closeComplete }
const CLOSED_UNASKED: Completion = { type: BACKEND.closeComplete, clientType: null }
const READY: Completion = { type: BACKEND.readyForQuery, clientType: BACKEND.readyForQuery }

/**
 * The statement names of one client. If another client has already prepared the same statement, it is not parsed again,
 * but this client still gets a ParseComplete.
 */
export class ClientStatements {
  #kept: PreparedStatements
  #byName = new Map<string, PreparedStatement>()
  #awaited: Completion[] = []
  /** Statements that the next batch parses. */
  #parsing = new Set<PreparedStatement>()
  #parts: Buffer[] = []

  constructor(prepared: PreparedStatements) {
    this.#kept = prepared
  }

  /** Translates a client's messages for the backend. */
  translated(messages: readonly Buffer[]): Buffer[] {
    this.#parts = []
    this.#parsing.clear()
    // No completion is awaited, so the backend is not skipping messages after an error, and a statement can be closed.
    if (this.#awaited.length === 0) {
      for (const { name } of this.#kept.takeSuperfluous()) this.#send(CLOSED_UNASKED, closeStatement(name))
    }
    for (const bytes of messages) this.#translate(bytes)
    return this.#parts
  }

  /** Returns the type of the completion that the client gets. Null if it gets none. */
  completion(type: number): number | null {
    if (this.#awaited[0]?.type !== type) return type
    const { clientType, done } = this.#awaited.shift()!
    done?.()
    return clientType
  }

  /** Handles ReadyForQuery: messages that are still unanswered were skipped. */
  ready(): void {
    for (let next = this.#awaited.shift(); next && next !== READY; next = this.#awaited.shift()) next.failed?.()
  }

  completed(command: string): void {
    this.#kept.completed(command)
  }

  failed(routine: string): void {
    if (OUTDATED.has(routine)) this.#kept.forget()
  }

  /** `all`: true if every message that was sent has been answered. */
  answered(status: string | null, all: boolean): void {
    while (all && this.#awaited.length > 0) this.ready()
    this.#kept.answered(status)
  }

  /** Ends the names of a client that has disconnected. */
  leave(): void {
    for (const prepared of this.#byName.values()) this.#kept.leave(prepared)
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
    const prepared = shared ?? this.#kept.make(definition)
    this.#drop(name)
    this.#byName.set(name, prepared)
    prepared.users++
    const failed = () => {
      if (this.#byName.get(name) === prepared) this.#drop(name)
    }
    if (shared) this.#send({ ...CLOSED, clientType: BACKEND.parseComplete, failed }, NOTHING)
    else this.#parseKept(prepared, { ...PARSED, failed })
  }

  #drop(name: string): boolean {
    const prepared = this.#byName.get(name)
    if (prepared) this.#kept.leave(prepared)
    return this.#byName.delete(name)
  }

  #parseKept(prepared: PreparedStatement, awaited: Completion): void {
    this.#parsing.add(prepared)
    this.#send(
      { ...awaited, done: () => this.#kept.hold(prepared) },
      parseStatement(prepared.name, prepared.definition),
    )
  }

  #use(bytes: Buffer, at: number): void {
    const prepared = this.#byName.get(textAt(bytes, at))
    if (prepared && this.#kept.holds(prepared)) this.#kept.touch(prepared)
    else if (prepared && !this.#parsing.has(prepared)) this.#parseKept(prepared, { ...PARSED, clientType: null })
    this.#parts.push(...(prepared ? renamed(bytes, at, prepared.name) : [bytes]))
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
