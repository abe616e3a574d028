// A thread of its own: a query runs synchronously, and one of 2 s stopped the server for 2 s (from here 9 ms).
import type { PGlite, PGliteOptions } from "@electric-sql/pglite"
import { lastComplaint, openCluster } from "./cluster.ts"
import { loadEngine } from "./engine.ts"
import { query, readyForQuery } from "./wire.ts"

export type Request = Question | { kind: "prepare" }

/** Of these each is answered. */
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

/** An answer; without `id`, the news that the backend is lost. */
export type Reply = { id?: number; bytes?: Uint8Array<ArrayBuffer>; code?: WebAssembly.Module; error?: string }

declare const self: {
  onmessage: (event: { data: Request }) => void
  postMessage(reply: Reply, transfer?: ArrayBuffer[]): void
}

let cluster: PGlite | null = null

/** Compiled, or being compiled, before it was said what to open. */
let prepared: Promise<PGliteOptions> | undefined

self.onmessage = async ({ data: request }) => {
  if (request.kind === "prepare") {
    prepared = loadEngine({ initdb: false })
    return prepared.catch(() => {}) // told where it is awaited
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

/** Gives the compiled program: the next thread need not compile it again. */
async function open({ directory, template, code }: OpenRequest): Promise<WebAssembly.Module> {
  const engine = prepared ?? loadEngine({ initdb: false, code })
  cluster = await openCluster(directory, template, engine)
  reportLoss(cluster)
  setTimeout(releaseMemory, SETTLED_MS)
  return (await engine).pgliteWasmModule!
}

/** After this time the start is over, and the memory that only the start needed is released. */
const SETTLED_MS = 1_000

function releaseMemory(): null {
  Bun.gc(true)
  // drops compiled code too, some 20 MB: code that runs again is compiled again
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
/** To plan takes as long as to read. But a plan kept from when a table was small reads it whole for each key: some 0.3 ms at most. */
const OUTGROWN_BYTES = { least: 128n * 1024n, most: 1024n * 1024n }
let openedAt = 0n
let plannedAt = 0n

// What is written to any table is written to the log, and then all plans are made anew: as often later as at first, that took
// a sixth of the time of whoever writes much.
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
  // It runs synchronously up to its first await, so the answer is complete when it returns.
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

// PGlite swallows what ends PostgreSQL's main loop (a PANIC, a trap), and would go on with a broken backend.
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
  /** The position up to which the write-ahead log is flushed. */
  _GetFlushRecPtr(timeline: 0): bigint
  _PostgresMainLoopOnce(): void
}

function moduleOf(cluster: PGlite): Program {
  return cluster.Module as typeof cluster.Module & Program
}

function lose(error: unknown): void {
  self.postMessage({ error: lastComplaint() || ((error as Error)?.message ?? String(error)) })
  process.exit(1) // ends this thread only
}
