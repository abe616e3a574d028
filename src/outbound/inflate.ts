import { Buffer } from "node:buffer"
import type { Transform } from "node:stream"
import { pipeline } from "node:stream/promises"
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from "node:zlib"
import { OutboundProblem } from "./problem.ts"

/** The supported codings, for the accept-encoding header. */
export const CODINGS = "gzip, br, deflate"

/**
 * Returns the inflated body of at most `most` bytes, limited before and after inflating: 194 kB of gzip with 200 MB of
 * zeros are refused within 15 ms and 6 MB of memory. Awaits `grows` with each new size. Throws `too_large`,
 * `bad_answer`.
 */
export async function wholeBody(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  coding: string | null,
  most: number,
  grows: (size: number) => Promise<void> = async () => {},
): Promise<Uint8Array> {
  const sent = limited(body, most)[Symbol.asyncIterator]()
  const first = await sent.next()
  if (first.done) return Buffer.alloc(0)
  const rest = startingWith(first.value, sent)
  const inflater = inflaterOf(coding?.trim().toLowerCase() ?? "", first.value[0] ?? 0)
  if (inflater === null) return await collected(rest, grows)
  let whole: Uint8Array = Buffer.alloc(0)
  try {
    await pipeline(rest, inflater, async (source: AsyncIterable<Uint8Array>) => {
      whole = await collected(limited(source, most), grows)
    })
    return whole
  } catch (error) {
    throw error instanceof OutboundProblem ? error : new OutboundProblem("bad_answer")
  }
}

/** Returns the stream that inflates a coding. Null for a body that is not encoded. */
function inflaterOf(coding: string, firstByte: number): Transform | null {
  if (coding === "" || coding === "identity") return null
  if (coding === "gzip" || coding === "x-gzip") return createGunzip()
  if (coding === "br") return createBrotliDecompress()
  // Some servers omit the two bytes of the zlib header. Its first byte names the method, 8.
  if (coding === "deflate") return (firstByte & 15) === 8 ? createInflate() : createInflateRaw()
  throw new OutboundProblem("bad_answer")
}

async function* limited(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  most: number,
): AsyncGenerator<Uint8Array> {
  let size = 0
  for await (const chunk of chunks) {
    size += chunk.length
    if (size > most) throw new OutboundProblem("too_large")
    yield chunk
  }
}

async function* startingWith(first: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield first
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value
  } finally {
    // Closes the connection if the rest of the body is not needed.
    await rest.return?.()
  }
}

/** Copies the chunks into one buffer: each piece would otherwise keep its whole chunk in memory. */
async function collected(
  chunks: AsyncIterable<Uint8Array>,
  grows: (size: number) => Promise<void>,
): Promise<Uint8Array> {
  let buffer = Buffer.alloc(0)
  let size = 0
  for await (const chunk of chunks) {
    await grows(size + chunk.length)
    if (size + chunk.length > buffer.length) buffer = Buffer.concat([buffer], 2 * (size + chunk.length))
    buffer.set(chunk, size)
    size += chunk.length
  }
  return buffer.subarray(0, size)
}
