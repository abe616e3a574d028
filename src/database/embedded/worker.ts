// Runs in a separate thread, because queries run synchronously: a query of 2 s would stop the server for 2 s (9 ms from
// here).
import type { PGlite, PGliteOptions } from "@electric-sql/pglite"
import { lastComplaint, openCluster } from "./cluster.ts"
import { loadEngine } from "./engine.ts"
import { query, readyForQuery } from "./wire.ts"

export type Request = Question | { kind: "prepare" }

/** Each of these gets a reply. */
export type Question =
  | {
      id: number
      kind: "open"
      directory: string | null
      template: Uint8Array<ArrayBuffer> | undefined
      code: WebAssembly.Module | undefined
    }
  | { id: number; kind: "exec"; batch: Uint8Array<ArrayBuffer> }
  | { id: number; kind: "close" | "dump" | "rest" }

/** A reply. A reply without `id` reports that the backend is lost. */
export type Reply = { id?: number; bytes?: Uint8Array<ArrayBuffer>; code?: WebAssembly.Module; error?: string }

declare const self: {
  onmessage: (event: { data: Request }) => void
  postMessage(reply: Reply, transfer?: ArrayBuffer[]): void
}

let cluster: PGlite | null = null

/** Compiled, or being compiled, before the directory to open is known. */
let prepared: Promise<PGliteOptions> | undefined

self.onmessage = async ({ data: request }) => {
  if (request.kind === "prepare") {
    prepared = loadEngine({ initdb: false })
    return prepared.catch(() => {}) // An error is reported where the promise is awaited.
  }
  try {
    if (request.kind === "open") return self.postMessage({ id: request.id, code: await open(request) })
    const bytes = await answer(request)
    self.postMessage(bytes ? { id: request.id, bytes } : { id: request.id }, bytes ? [bytes.buffer] : [])
  } catch (error) {
    self.postMessage({ id: request.id, error: (error as Error)?.message ?? String(error) })
  }
}

type OpenRequest = Extract<Question, { kind: "open" }>

/** Opens the database and returns the compiled program, which the next thread can reuse. */
async function open({ directory, template, code }: OpenRequest): Promise<WebAssembly.Module> {
  const engine = prepared ?? loadEngine({ initdb: false, code })
  cluster = await openCluster(directory, template, engine)
  reportLoss(cluster)
  setTimeout(releaseMemory, SETTLED_MS)
  return (await engine).pgliteWasmModule!
}

/** After this time the start counts as finished, and the memory that only the start needed is released. */
const SETTLED_MS = 1_000

function releaseMemory(): null {
  Bun.gc(true)
  // Also drops some 20 MB of compiled code. Code that runs again is compiled again.
  Bun.shrink()
  return null
}

async function answer(request: Exclude<Question, OpenRequest>): Promise<Uint8Array<ArrayBuffer> | null> {
  if (!cluster) throw new Error("the embedded database is not open")
  if (request.kind === "exec") return exec(cluster, request.batch)
  if (request.kind === "rest") return releaseMemory()
  if (request.kind === "dump") return new Uint8Array(await (await cluster.dumpDataDir("none")).arrayBuffer())
  await cluster.close()
  return null
}

function exec(cluster: PGlite, batch: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const answer = answerOf(cluster, batch)
  if (IDLE.compare(answer, Math.max(0, answer.length - IDLE.length)) === 0) renewPlans(cluster)
  return answer
}

const IDLE = readyForQuery("I")
/**
 * After this many bytes of new log, cached plans are dropped. Planning takes as long as reading, but a plan that was
 * made when a table was small scans the table for each key, about 0.3 ms at most.
 */
const OUTGROWN_BYTES = { least: 128n * 1024n, most: 1024n * 1024n }
let openedAt = 0n
let plannedAt = 0n

// Drops all plans after a certain amount of log, which grows with writes to any table. The interval grows as well: a
// constant interval would cost heavy writers a sixth of their time.
function renewPlans(cluster: PGlite): void {
  const at = moduleOf(cluster)._GetFlushRecPtr(0)
  openedAt ||= at
  const { least, most } = OUTGROWN_BYTES
  const eighth = (at - openedAt) / 8n
  if (at - plannedAt < (eighth < least ? least : eighth > most ? most : eighth)) return
  plannedAt = at
  answerOf(cluster, new Uint8Array(query("discard plans")))
}

function answerOf(cluster: PGlite, batch: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const chunks: Uint8Array<ArrayBuffer>[] = []
  // The function runs synchronously up to its first await, so the response is complete when the function returns.
  const done = cluster.execProtocolRawStream(batch, {
    syncToFs: false,
    onRawData: (bytes) => chunks.push(bytes.slice()),
  })
  done.catch((error) => lose(error))
  return chunks.length === 1 ? chunks[0]! : joined(chunks)
}

function joined(chunks: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0))
  let at = 0
  for (const chunk of chunks) {
    all.set(chunk, at)
    at += chunk.length
  }
  return all
}

const LONGJMP = 100

// PGlite swallows errors that end PostgreSQL's main loop (a PANIC, a trap) and would continue with a broken backend.
function reportLoss(cluster: PGlite): void {
  const module = moduleOf(cluster)
  const once = module._PostgresMainLoopOnce
  module._PostgresMainLoopOnce = () => {
    try {
      once()
    } catch (error) {
      if ((error as { status?: number }).status !== LONGJMP) lose(error)
      throw error
    }
  }
}

interface Program {
  /** Returns the position up to which the write-ahead log is flushed. */
  _GetFlushRecPtr(timeline: 0): bigint
  _PostgresMainLoopOnce(): void
}

function moduleOf(cluster: PGlite): Program {
  return cluster.Module as typeof cluster.Module & Program
}

function lose(error: unknown): void {
  self.postMessage({ error: lastComplaint() || ((error as Error)?.message ?? String(error)) })
  process.exit(1) // Ends this thread only.
}
