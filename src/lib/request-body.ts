import { Buffer } from "node:buffer"

/** The sender hung up before the body was whole: nobody is left to answer, and nothing is wrong here. */
export class CallerGone extends Error {
  override name = "CallerGone"
  constructor() {
    super("the caller hung up")
  }
}

/** Null = more than `most` bytes: leftover.ts lets the rest go by. Throws CallerGone when it breaks off. */
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

/** A body ends early for one reason alone, under whatever name a runtime says it. */
export async function next(reader: Reader): ReturnType<Reader["read"]> {
  try {
    return await reader.read()
  } catch {
    throw new CallerGone()
  }
}
