import type { Exec } from "./bridge.ts"
import { DatabaseStopped } from "./stopped.ts"
import type { Question, Reply, Request } from "./worker.ts"

export interface Backend {
  exec: Exec
  /** Returns the data directory as a tar that can be used as a template. */
  dump(): Promise<Uint8Array<ArrayBuffer>>
  /** Releases memory that is needed only under load. */
  rest(): Promise<void>
  /** Shuts PostgreSQL down cleanly and ends the thread. */
  close(): Promise<void>
  kill(): void
  /**
   * Ends the thread like `kill`, without calling `onLoss`. Resolves once the thread is gone and no longer uses the
   * directory.
   */
  cut(error: Error): Promise<void>
}

// PGlite cannot cancel a statement. After this time the thread is ended, as by kill -9, and the next start recovers the
// database.
const SHUTDOWN_MS = 10_000

type RequestBody = Question extends infer R ? (R extends { id: number } ? Omit<R, "id"> : never) : never

/** The program that the first thread of this process compiled. With it, later threads start in half the time. */
let code: WebAssembly.Module | undefined

/** A thread that already compiles the program, for the first caller that needs one. */
let early: Worker | undefined

/** Starts a thread that compiles before the directory is known. */
export function startEarly(): void {
  const worker = newThread()
  early = worker
  worker.addEventListener("close", () => {
    if (early === worker) early = undefined
  })
  worker.postMessage({ kind: "prepare" } satisfies Request)
}

function nextThread(): Worker {
  const worker = early ?? newThread()
  early = undefined
  return worker
}

const newThread = () => new Worker(new URL("./worker.ts", import.meta.url).href)

/** Starts the thread and opens the database. Calls `onLoss` once if the thread ends other than by `close`. */
export async function startBackend(
  directory: string | null,
  onLoss: (error: Error) => void,
  template?: Uint8Array<ArrayBuffer>,
): Promise<Backend> {
  const worker = nextThread()
  const pending = new Map<number, { resolve: (reply: Reply) => void; reject: (error: Error) => void }>()
  let lastId = 0
  let ended = false
  const gone = new Promise<void>((resolve) => worker.addEventListener("close", () => resolve()))

  const end = (error: Error) => {
    ended = true
    worker.terminate()
    for (const { reject } of pending.values()) reject(error)
    pending.clear()
  }
  const lose = (reason: string) => {
    if (ended) return
    const error = new DatabaseStopped(reason)
    end(error)
    onLoss(error)
  }
  worker.onmessage = ({ data }: MessageEvent<Reply>) => {
    if (data.id === undefined) return lose(data.error ?? "unknown")
    const waiter = pending.get(data.id)
    pending.delete(data.id)
    if (data.error === undefined) waiter?.resolve(data)
    else waiter?.reject(new Error(data.error))
  }
  worker.onerror = (event) => lose(event.message)
  worker.addEventListener("close", () => lose("its thread ended"))

  const ask = (request: RequestBody, transfer: ArrayBuffer[] = []) =>
    new Promise<Reply>((resolve, reject) => {
      if (ended) return reject(new Error("the embedded database is closed"))
      pending.set(++lastId, { resolve, reject })
      worker.postMessage({ id: lastId, ...request }, transfer)
    })

  const opened = ask({ kind: "open", directory, template, code })
  opened.catch(end)
  code = (await opened).code
  return {
    exec: (batch) => bytesOf(ask({ kind: "exec", batch }, [batch.buffer])),
    dump: () => bytesOf(ask({ kind: "dump" })),
    rest: async () => void (await ask({ kind: "rest" })),
    kill: () => lose("it was killed"),
    cut: (error) => {
      end(error)
      return gone
    },
    close: async () => {
      const late = setTimeout(() => lose("it did not shut down in time"), SHUTDOWN_MS)
      await ask({ kind: "close" }).finally(() => clearTimeout(late))
      ended = true
      worker.terminate()
    },
  }
}

async function bytesOf(reply: Promise<Reply>): Promise<Uint8Array<ArrayBuffer>> {
  return (await reply).bytes ?? new Uint8Array()
}
