import { Buffer } from "node:buffer"

/** The caller disconnected before the body was complete. Nobody is left to answer, and it is not a server error. */
export class CallerGone extends Error {
  override name = "CallerGone"
  constructor() {
    super("the caller hung up")
  }
}

/**
 * Reads the body. Null if it is longer than `most` bytes; leftover.ts discards the rest. Throws CallerGone if the
 * caller disconnects first.
 */
export async function readUpTo(request: Request, most: number): Promise<Buffer | null> {
  if (Number(request.headers.get("content-length") ?? 0) > most) return null
  const reader = request.body?.getReader()
  if (!reader) return Buffer.alloc(0)
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for (;;) {
      const { done, value } = await next(reader)
      if (done) return Buffer.concat(chunks)
      size += value.length
      if (size > most) return null
      chunks.push(value)
    }
  } finally {
    reader.releaseLock()
  }
}

type Reader = ReadableStreamDefaultReader<Uint8Array>

/** Runtimes throw different errors for this, but a body ends early only when the caller disconnects. */
export async function next(reader: Reader): ReturnType<Reader["read"]> {
  try {
    return await reader.read()
  } catch {
    throw new CallerGone()
  }
}
