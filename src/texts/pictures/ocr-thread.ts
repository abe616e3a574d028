import type { Reply, Request } from "./ocr-worker.ts"

/** The files that the thread loads when it starts. */
export interface TesseractFiles {
  wasm: Uint8Array
  /** Trained data by name, in the order of use. */
  data: readonly { name: string; bytes: Uint8Array }[]
}

interface OcrThreadOptions {
  load(names: readonly string[]): Promise<TesseractFiles>
  /** Maximum time per picture, including the start of the thread. */
  deadlineMs?: number
  /** The thread ends after this time without work. */
  idleMs?: number
  start?: () => Worker
}

/** Reads pictures one after another in a thread that only exists while there is work. */
export interface OcrThread {
  /**
   * Returns Tesseract's table. Null if the picture is unreadable or takes too long. Throws if the thread cannot start.
   */
  read(picture: Uint8Array, data: readonly string[]): Promise<string | null>
  stop(): void
}

export function openOcrThread(options: OcrThreadOptions): OcrThread {
  const { deadlineMs = 30_000, idleMs = 1_000 } = options
  let last: Promise<unknown> = Promise.resolve()
  let thread: Thread | null = null
  let idle: NodeJS.Timeout | undefined
  const end = () => {
    clearTimeout(idle)
    thread?.end("it was no longer needed")
    thread = null
  }
  const readNow = async (picture: Uint8Array, data: readonly string[]): Promise<string | null> => {
    clearTimeout(idle)
    if (thread?.data !== data.join("+")) end()
    thread ??= beginThread(options, data)
    const { opened, ask } = thread
    const late = setTimeout(end, deadlineMs)
    try {
      await opened
      return await ask({ picture }).catch(() => {
        end()
        return null
      })
    } catch (error) {
      end()
      if (error instanceof ThreadEnded) return null
      throw error
    } finally {
      clearTimeout(late)
      idle = setTimeout(end, idleMs)
      idle.unref?.()
    }
  }
  return {
    read(picture, data) {
      const reading = last.then(() => readNow(picture, data))
      last = reading.catch(() => {}) // the error goes to the callers of `read`
      return reading
    },
    stop: end,
  }
}

class ThreadEnded extends Error {
  override name = "ThreadEnded"
}

interface Thread {
  /** Names of the trained data in use, joined by "+". */
  data: string
  /** Rejects if the thread cannot start. */
  opened: Promise<unknown>
  ask(request: RequestBody): Promise<string | null>
  end(why: string): void
}

type RequestBody = Request extends infer R ? (R extends { id: number } ? Omit<R, "id"> : never) : never

function beginThread({ load, start = startWorker }: OcrThreadOptions, data: readonly string[]): Thread {
  const waiting = new Map<number, { resolve: (table: string | null) => void; reject: (error: Error) => void }>()
  const { promise: gone, reject: lose } = Promise.withResolvers<never>()
  gone.catch(() => {}) // the error goes to the callers of `ask`
  let worker: Worker | undefined
  let requestId = 0
  const end = (why: string) => {
    worker?.terminate()
    lose(new ThreadEnded(why))
  }
  const ask = (request: RequestBody) => {
    const answer = new Promise<string | null>((resolve, reject) => {
      waiting.set(++requestId, { resolve, reject })
      worker?.postMessage({ id: requestId, ...request })
    })
    return Promise.race([answer, gone])
  }
  const open = async () => {
    const files = await Promise.race([load(data), gone])
    worker = start()
    worker.onmessage = ({ data: reply }: MessageEvent<Reply>) => {
      const waiter = waiting.get(reply.id)
      waiting.delete(reply.id)
      if ("error" in reply) waiter?.reject(new Error(reply.error))
      else waiter?.resolve(reply.table)
    }
    worker.onerror = (event) => {
      // an error without a handler here would be reported as an error of the main thread
      event.preventDefault?.()
      end(event.message)
    }
    await ask(files)
  }
  return { data: data.join("+"), opened: open(), ask, end }
}

// Asks for a smaller heap, in runtimes that support it.
const OPTIONS = { type: "module", smol: true } as const

function startWorker(): Worker {
  return new Worker(new URL("./ocr-worker.ts", import.meta.url).href, OPTIONS)
}
