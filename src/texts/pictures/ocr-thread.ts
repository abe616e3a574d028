import type { Reply, Request } from "./ocr-worker.ts"

/** What the thread is opened with. */
export interface TesseractFiles {
  wasm: Uint8Array
  /** Trained data by its name, in the order in which it is tried. */
  data: readonly { name: string; bytes: Uint8Array }[]
}

interface OcrThreadOptions {
  load(names: readonly string[]): Promise<TesseractFiles>
  /** The longest that one picture may take, the thread's beginning included. */
  deadlineMs?: number
  /** Without work the thread ends after so long. */
  idleMs?: number
  start?: () => Worker
}

/** Reads one picture after another, in a thread that is there only while there are some. */
export interface OcrThread {
  /** Tesseract's table; null = no picture that can be read, or not in time. Throws where there can be no thread. */
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
    thread?.end("it was ended")
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
      last = reading.catch(() => {}) // told to whoever asked
      return reading
    },
    stop: end,
  }
}

class ThreadEnded extends Error {
  override name = "ThreadEnded"
}

interface Thread {
  /** What it reads with. */
  data: string
  /** Rejects where it cannot be had. */
  opened: Promise<unknown>
  ask(request: RequestBody): Promise<string | null>
  end(why: string): void
}

type RequestBody = Request extends infer R ? (R extends { id: number } ? Omit<R, "id"> : never) : never

function beginThread({ load, start = startWorker }: OcrThreadOptions, data: readonly string[]): Thread {
  const waiting = new Map<number, { resolve: (table: string | null) => void; reject: (error: Error) => void }>()
  const { promise: gone, reject: lose } = Promise.withResolvers<never>()
  gone.catch(() => {}) // told to those who ask
  let worker: Worker | undefined
  let asked = 0
  const end = (why: string) => {
    worker?.terminate()
    lose(new ThreadEnded(why))
  }
  const ask = (request: RequestBody) => {
    const answer = new Promise<string | null>((resolve, reject) => {
      waiting.set(++asked, { resolve, reject })
      worker?.postMessage({ id: asked, ...request })
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
      // else the runtime takes it for an error of this thread
      event.preventDefault?.()
      end(event.message)
    }
    await ask(files)
  }
  return { data: data.join("+"), opened: open(), ask, end }
}

// Less room for what is garbage, where the runtime knows of it.
const OPTIONS = { type: "module", smol: true } as const

function startWorker(): Worker {
  return new Worker(new URL("./ocr-worker.ts", import.meta.url).href, OPTIONS)
}
