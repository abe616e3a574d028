import { isRecord } from "../../lib/objects.ts"
import { eventsOf } from "./events.ts"
import { parsed } from "./message.ts"

export class NoAnswer extends Error {
  override name = "NoAnswer"
}

/** Settles with the work, or as soon as the signal aborts, because work in this process may ignore the signal. */
export async function unless<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const giveUp = () => reject(signal.reason)
  signal.addEventListener("abort", giveUp)
  try {
    if (signal.aborted) giveUp()
    return await Promise.race([work, promise])
  } finally {
    signal.removeEventListener("abort", giveUp)
  }
}

/** Yields the messages of a response: one, none, or those of a stream as they arrive. */
export async function* textsOf(response: Response, signal: AbortSignal): AsyncGenerator<string> {
  const isStream = /^text\/event-stream\b/i.test(response.headers.get("content-type") ?? "")
  if (isStream && response.body) {
    yield* eventsOf(chunksOf(response.body, signal))
    signal.throwIfAborted()
    return
  }
  const text = (await unless(signal, response.text())).trim()
  if (text !== "") yield text
}

/** Yields the chunks of a body and cancels it when the reader stops. */
async function* chunksOf(body: ReadableStream<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const reader = body.getReader()
  const hangUp = () => void reader.cancel().catch(() => {})
  signal.addEventListener("abort", hangUp)
  try {
    for (;;) {
      signal.throwIfAborted()
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    signal.removeEventListener("abort", hangUp)
    hangUp()
  }
}

/** Explains a response that is not from a tool endpoint: another service answered, or it ended early. */
export function foreign(url: string, { status, headers }: Response, text: string): string {
  const where = new URL(url)
  const at = where.origin + where.pathname
  const location = headers.get("location")
  if (location) return `${at} redirects elsewhere (${status}); give the target address: ${location.slice(0, 200)}`
  const body = parsed(text)
  const reason = isRecord(body) && typeof body.message === "string" ? `: ${body.message.slice(0, 300)}` : ""
  if (status >= 400)
    return `${at} answered ${status}; it is not Appmeter's tool endpoint, or a proxy in front of it answered${reason}`
  return `${at} ended without an answer; before you repeat a write, check whether it was done`
}
