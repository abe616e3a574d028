import { setTimeout as sleep } from "node:timers/promises"
import { isRecord } from "../../lib/objects.ts"
import { foreign, NoAnswer, textsOf, unless } from "./answer.ts"
import {
  answerLine,
  envelopeVersion,
  errorLine,
  type LineMessage,
  lineMessage,
  parsed,
  repeatedHeaders,
} from "./message.ts"

/** Answers a POST to the tool endpoint, in this process or over the network. */
export type Endpoint = (request: Request) => Promise<Response>

export interface BridgeParts {
  endpoint: Endpoint
  url: string
  key: string
  lines: AsyncIterable<string>
  /** Once this settles, no further line is read. */
  stopped: Promise<unknown>
  write(line: string): void
  /** Writes a message for the operator. */
  say(text: string): void
  /** Explains in a sentence what to do about an unreachable endpoint. */
  explain(error: unknown): string
  /** Time that open calls get after the last line. */
  endsWithinMs?: number
}

/** Longer than any server takes (REQUEST_DEADLINE_MS). */
const ENDS_WITHIN_MS = 20_000

/** Sends each line as a POST and writes each message of the response as a line. Calls run concurrently. */
export async function bridge(parts: BridgeParts): Promise<void> {
  const passing = new MessageRelay(parts)
  const underWay = new Set<Promise<void>>()
  for await (const line of linesUntil(parts.stopped, parts.lines)) {
    if (line.trim() === "") continue
    const passed = passing.pass(line).finally(() => underWay.delete(passed))
    underWay.add(passed)
  }
  const late = new AbortController()
  const ended = Promise.all(underWay).finally(() => late.abort())
  await Promise.race([ended, sleep(parts.endsWithinMs ?? ENDS_WITHIN_MS, null, late).catch(() => {})])
  passing.cancelAll()
  await ended
}

async function* linesUntil(stopped: Promise<unknown>, lines: AsyncIterable<string>): AsyncGenerator<string> {
  const reading = lines[Symbol.asyncIterator]()
  // no Promise.race with `stopped` per line: it would add a listener to a promise that may stay open for days
  let stop = () => {}
  let isStopped = false
  void stopped.then(() => {
    isStopped = true
    stop()
  })
  while (!isStopped) {
    const { done, value } = await new Promise<IteratorResult<string>>((resolve, reject) => {
      stop = () => resolve({ done: true, value: undefined })
      reading.next().then(resolve, reject)
    })
    if (done) return
    yield value
  }
}

class MessageRelay {
  readonly #parts: BridgeParts
  readonly #underWay = new Map<string | number, AbortController>()
  /** Headers from the handshake that later messages must repeat. */
  #session: Record<string, string> = {}

  constructor(parts: BridgeParts) {
    this.#parts = parts
  }

  /** Never throws: a failure becomes the answer to the request. */
  async pass(line: string): Promise<void> {
    const { write, say } = this.#parts
    const value = parsed(line)
    if (value === undefined) {
      write(errorLine(null, -32_700, "The line is not JSON in UTF-8, or is longer than 5 MB."))
      return
    }
    const message = lineMessage(value)
    if (message.method === "notifications/cancelled") {
      this.#cancel(message.params.requestId)
      // in the revision without a handshake, closing the HTTP connection cancels the call
      if (envelopeVersion(message) !== undefined) return
    }
    const calling = new AbortController()
    const { id } = message
    if (id !== undefined) this.#underWay.set(id, calling)
    try {
      await this.#post(line, message, calling.signal)
    } catch (error) {
      if (calling.signal.aborted) return
      const why = error instanceof NoAnswer ? error.message : this.#parts.explain(error)
      if (id === undefined) say(`not forwarded: ${why}`)
      else write(errorLine(id, -32_000, why))
    } finally {
      if (id !== undefined && this.#underWay.get(id) === calling) this.#underWay.delete(id)
    }
  }

  cancelAll(): void {
    for (const calling of this.#underWay.values()) calling.abort()
  }

  #cancel(id: unknown): void {
    if (typeof id === "string" || typeof id === "number") this.#underWay.get(id)?.abort()
  }

  async #post(line: string, message: LineMessage, signal: AbortSignal): Promise<void> {
    const { endpoint, url, key, write, say } = this.#parts
    const { id, method } = message
    const headers = {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...(envelopeVersion(message) === undefined && method !== "initialize" && this.#session),
      ...repeatedHeaders(message),
    }
    const request = new Request(url, { method: "POST", headers, body: line, redirect: "manual", signal })
    const response = await unless(signal, endpoint(request))
    let answered = false
    for await (const text of textsOf(response, signal)) {
      const answer = answerLine(text, id)
      if (!answer) throw new NoAnswer(foreign(url, response, text))
      if (method === "initialize" && "result" in answer.message) this.#session = sessionOf(response, answer.message)
      answered ||= answer.message.id === id && !("method" in answer.message)
      if (id !== undefined) write(answer.line)
      else if (!response.ok) say(`not accepted: ${answer.line.slice(0, 500)}`)
    }
    if (id !== undefined && !answered) throw new NoAnswer(foreign(url, response, ""))
  }
}

function sessionOf({ headers }: Response, { result }: Record<string, unknown>): Record<string, string> {
  const session = headers.get("mcp-session-id")
  const version = isRecord(result) ? result.protocolVersion : undefined
  return {
    ...(session !== null && { "mcp-session-id": session }),
    ...(typeof version === "string" && /^[\w.-]{1,64}$/.test(version) && { "mcp-protocol-version": version }),
  }
}
