import { Readable } from "node:stream"
import { createGunzip } from "node:zlib"
import { ReadFailure } from "../../measuring/source.ts"

/** Maximum uncompressed size. The report of a large seller is smaller. */
const MAX_BYTES = 64_000_000

/**
 * Yields the lines of a report. The first bytes decide whether the body is gzip, or text that was already decompressed
 * in transit. The report is decompressed while lines are consumed, so that 60 MB are never in memory as a whole and
 * other work runs between chunks. Concatenated files are read one after another. Throws ReadFailure.
 */
export async function* reportLines(bytes: Uint8Array): AsyncGenerator<string> {
  const text = new TextDecoder("utf-8", { fatal: true })
  let partial = ""
  for await (const piece of inflated(bytes)) {
    const lines = (partial + decoded(text, piece)).split("\n")
    partial = lines.pop() as string
    for (const line of lines) yield line.endsWith("\r") ? line.slice(0, -1) : line
  }
  const rest = partial + decoded(text)
  if (rest !== "") yield rest
}

async function* inflated(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (!isGzip(bytes)) {
    yield bytes
    return
  }
  let size = 0
  try {
    for await (const piece of Readable.from([bytes]).pipe(createGunzip())) {
      size += piece.length
      if (size > MAX_BYTES) throw new ReadFailure("changed", `the report is larger than ${MAX_BYTES} bytes`)
      yield piece
    }
  } catch (error) {
    throw error instanceof ReadFailure ? error : new ReadFailure("changed", "the report is neither gzip nor text")
  }
}

function isGzip([first, second]: Uint8Array): boolean {
  return first === 0x1f && second === 0x8b
}

function decoded(decoder: TextDecoder, piece?: Uint8Array): string {
  try {
    return piece ? decoder.decode(piece, { stream: true }) : decoder.decode()
  } catch {
    throw new ReadFailure("changed", "the report is neither gzip nor text")
  }
}
