import { CallerGone, next } from "../lib/request-body.ts"

// Larger than any accidental body. The bytes are counted and dropped, so they use no memory.
const MAX_BYTES = 8 * 1024 * 1024
const PATIENCE_MS = 2_000

/**
 * Reads the rest of the body before the response is sent, because a caller that sends everything before it reads would
 * otherwise find a closed connection. Closes the connection if the body does not end soon.
 */
export async function afterBody(request: Request, answer: Response): Promise<Response> {
  if (!(await endsSoon(request))) answer.headers.set("connection", "close")
  return answer
}

async function endsSoon({ headers, body }: Request): Promise<boolean> {
  const chunked = headers.has("transfer-encoding")
  if (!chunked && Number(headers.get("content-length")) > MAX_BYTES) return false
  // the runtime hides the body of a GET and discards it itself
  if (body === null) return !chunked
  if (body.locked) return false
  const reader = body.getReader()
  const { promise: late, resolve } = Promise.withResolvers<false>()
  const timer = setTimeout(resolve, PATIENCE_MS, false)
  const ended = await Promise.race([drained(reader), late])
  clearTimeout(timer)
  if (!ended) void reader.cancel().catch(() => {})
  return ended
}

async function drained(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<boolean> {
  let size = 0
  try {
    while (size <= MAX_BYTES) {
      const { done, value } = await next(reader)
      if (done) return true
      size += value.length
    }
  } catch (error) {
    if (!(error instanceof CallerGone)) throw error
  }
  return false
}
