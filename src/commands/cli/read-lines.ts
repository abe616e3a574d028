/** Longest line in bytes. A longer line is cut to this length, so its JSON becomes invalid. */
const LONGEST = 5_000_000

const NEWLINE = 10

/** Yields the lines of UTF-8 text. A line that is not UTF-8 becomes an invalid one, so that line numbers stay right. */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>, longest = LONGEST): AsyncGenerator<string> {
  let parts: Uint8Array[] = []
  let length = 0
  const keep = (part: Uint8Array) => {
    if (length < longest) parts.push(part.subarray(0, longest - length))
    length += part.length
  }
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      keep(chunk.subarray(start, end))
      yield textOf(parts)
      parts = []
      length = 0
      start = end + 1
    }
    if (start < chunk.length) keep(chunk.subarray(start))
  }
  if (length > 0) yield textOf(parts)
}

const decoder = new TextDecoder("utf-8", { fatal: true })

function textOf(parts: Uint8Array[]): string {
  try {
    return decoder.decode(parts.length === 1 ? parts[0] : Buffer.concat(parts))
  } catch {
    return "\uFFFD"
  }
}
