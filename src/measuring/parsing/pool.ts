import type { Observation } from "../../kinds.ts"
import { type ParseText, parseBody, type RawBody, ReadFailure, type Source, type TextParser } from "../source.ts"
import type { ParserLists, Reply, Request } from "./body-thread.ts"

/** Parses bodies: small ones in place, large ones in another thread. */
export interface Parsers {
  /** Parses a body like parseBody. Also throws ReadFailure, with the body, if the thread times out or dies. */
  parse<Asked, Seen extends Observation>(
    source: Source<Asked, Seen>,
    question: Asked,
    body: RawBody,
    egress: string | undefined,
  ): Promise<Seen>
  parseText: ParseText
  /** Ends the thread. A body being parsed then fails. */
  stop(): void
}

export interface ParsersOptions extends ParserLists {
  /** Starts a thread that has the same lists of parsers (answerBodies). */
  start: () => Worker
  /** Timeout for one body, including the thread's start. */
  deadlineMs?: number
  /** Idle time after which the thread ends. */
  idleMs?: number
}

/**
 * Smaller bodies are parsed in place: 64 KB take a few milliseconds at worst (test/bench/hostile.ts), less than a
 * transfer.
 */
const SMALL_BYTES = 64_000
/** A thread ends after a larger body or a failed one, to free its memory. */
const LARGE_BYTES = 2_000_000

/** Creates the parsers. Without threads (another runtime, or one that forbids them) every body is parsed in place. */
export function openParsers(options: ParsersOptions): Parsers {
  const thread = new BodyThread(options)
  const parses = new Map<string, unknown>(
    [...options.sources, ...options.texts].map(({ name, parse }) => [name, parse]),
  )
  /** Returns true if the thread has the same parser under that name. */
  const isRegistered = ({ name, parse }: { name: string; parse: unknown }) => parses.get(name) === parse
  return {
    async parse<Asked, Seen extends Observation>(
      source: Source<Asked, Seen>,
      question: Asked,
      body: RawBody,
      egress: string | undefined,
    ) {
      const { bytes, seenAt, sha256 } = body
      if (bytes.length < SMALL_BYTES || !isRegistered(source)) return parseBody(source, question, body, egress)
      const about = { source: source.name, question, seenAt, sha256: new Uint8Array(sha256), egress }
      const reply = await thread.ask({ of: "source", bytes, ...about }).catch((failure: ReadFailure) => {
        failure.body = body
        throw failure
      })
      if (!reply || !("seen" in reply)) return parseBody(source, question, body, egress)
      // the source of that name is the same in the thread, so its result has this type
      return reply.seen as Seen
    },
    async parseText<Parsed>(parser: TextParser<Parsed>, bytes: Uint8Array) {
      const isLarge = bytes.length >= SMALL_BYTES && isRegistered(parser)
      const reply = isLarge ? await thread.ask({ of: "text", parser: parser.name, bytes }) : null
      if (!reply || !("text" in reply)) return parser.parse(new TextDecoder().decode(bytes))
      // the parser of that name is the same in the thread, so its result has this type
      return reply.text as Parsed
    },
    stop: () => thread.stop(),
  }
}

type Question = Request extends infer R ? (R extends { id: number } ? Omit<R, "id"> : never) : never
type Answer = Exclude<Reply, { id?: undefined }>

interface Job {
  question: Question
  resolve(answer: Answer | null): void
  reject(failure: ReadFailure): void
}

interface Thread {
  worker: Worker
  /** True once the thread has replied. A thread that never replied may be unavailable in this runtime. */
  hasBegun: boolean
  /** True if the thread is terminated but its memory is not yet freed. */
  isEnding: boolean
  job: Job | null
  timer: NodeJS.Timeout | undefined
}

/**
 * Runs one thread at a time, and no second one while the first is ending: parsing takes up to a hundred times the size
 * of a body, and two threads would take twice that.
 */
class BodyThread {
  readonly #options: Required<Omit<ParsersOptions, keyof ParserLists>>
  readonly #waiting: Job[] = []
  #thread: Thread | null = null
  #isAvailable = typeof Worker !== "undefined"
  #asked = 0

  constructor({ start, deadlineMs = 15_000, idleMs = 30_000 }: ParsersOptions) {
    this.#options = { start, deadlineMs, idleMs }
  }

  /** Parses a body in the thread. Null if there are no threads. */
  async ask(question: Question): Promise<Answer | null> {
    if (!this.#isAvailable) return null
    return await new Promise((resolve, reject) => {
      this.#waiting.push({ question, resolve, reject })
      this.#go()
    })
  }

  stop(): void {
    const stopped = new ReadFailure("failed", "the reading was stopped")
    for (const job of this.#waiting.splice(0)) job.reject(stopped)
    const thread = this.#thread
    if (!thread) return
    thread.job?.reject(stopped)
    this.#end(thread)
  }

  #go(): void {
    if (this.#waiting.length === 0 || this.#thread?.job || this.#thread?.isEnding) return
    const thread = this.#thread ?? this.#begin()
    if (thread) this.#give(thread, this.#waiting.shift()!)
    else for (const job of this.#waiting.splice(0)) job.resolve(null)
  }

  /** Starts the thread. Null if none is available. */
  #begin(): Thread | null {
    if (!this.#isAvailable) return null
    try {
      const worker = this.#options.start()
      this.#thread = { worker, hasBegun: false, isEnding: false, job: null, timer: undefined }
      this.#listen(this.#thread)
      return this.#thread
    } catch {
      this.#isAvailable = false
      return null
    }
  }

  #listen(thread: Thread): void {
    thread.worker.onmessage = ({ data }: MessageEvent<Reply>) => {
      thread.hasBegun = true
      const { job } = thread
      if (data.id === undefined || !job) return
      this.#rest(thread, job, "failure" in data)
      if ("failure" in data) job.reject(new ReadFailure(data.failure.outcome, data.failure.message, data.failure))
      else job.resolve(data)
      this.#go()
    }
    thread.worker.onerror = (event) => {
      // otherwise the runtime reports it as an error of this thread
      event.preventDefault?.()
      this.#lose(thread, LOST)
    }
    thread.worker.addEventListener("close", () => {
      this.#lose(thread, LOST)
      this.#forget(thread)
    })
  }

  #give(thread: Thread, job: Job): void {
    const { deadlineMs } = this.#options
    clearTimeout(thread.timer)
    thread.job = job
    thread.timer = setTimeout(() => {
      // a thread that is slow to start is available all the same
      thread.hasBegun = true
      this.#lose(thread, `its body was not parsed within ${deadlineMs} ms`)
    }, deadlineMs)
    thread.worker.postMessage({ id: ++this.#asked, ...job.question } satisfies Request)
  }

  #rest(thread: Thread, { question }: Job, hasFailed: boolean): void {
    clearTimeout(thread.timer)
    thread.job = null
    if (hasFailed || question.bytes.length > LARGE_BYTES) {
      this.#end(thread)
      return
    }
    thread.timer = setTimeout(() => this.#end(thread), this.#options.idleMs)
    thread.timer.unref?.()
  }

  #lose(thread: Thread, why: string): void {
    if (thread.isEnding) return
    const { job } = thread
    this.#end(thread)
    if (thread.hasBegun) job?.reject(new ReadFailure("failed", why))
    else {
      this.#isAvailable = false
      job?.resolve(null)
    }
  }

  #end(thread: Thread): void {
    clearTimeout(thread.timer)
    thread.job = null
    thread.isEnding = true
    // Deno sends no event when a thread is gone
    thread.timer = setTimeout(() => this.#forget(thread), CLOSE_MS)
    thread.timer.unref?.()
    thread.worker.terminate()
  }

  #forget(thread: Thread): void {
    clearTimeout(thread.timer)
    if (this.#thread === thread) this.#thread = null
    this.#go()
  }
}

const LOST = "its body crashed the thread that parsed it"
const CLOSE_MS = 1_000
