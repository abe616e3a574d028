import type { IncomingBytes } from "./incoming.ts"
import { OutboundProblem } from "./problem.ts"

export interface Head {
  status: number
  headers: Headers
}

const LARGEST_HEAD = 16_384
// A size of 16 digits with one or two extensions.
const LONGEST_SIZE = 256
// Bytes around the chunks. A line of 45 bytes per chunk takes 68 kB in the largest body.
const MAX_FRAMING = 131_072

/**
 * Reads the status line and headers, at most 16 kB including interim responses. Does not use node:http, which has no
 * such limit: 2.5 s of interim responses grow Bun 1.4.5 by 90 MB, and an endless chunk extension grows Deno 2.9.6 by
 * 200 MB. Throws `bad_answer`.
 */
export async function readHead(incoming: IncomingBytes): Promise<Head> {
  let left = LARGEST_HEAD
  const nextLine = async () => {
    const line = await incoming.line(left)
    left -= line.length + 1
    return line
  }
  for (;;) {
    const [, digits] = /^HTTP\/1\.[01] ([1-9]\d\d)(?: .*)?$/.exec(await nextLine()) ?? []
    if (digits === undefined) throw new OutboundProblem("bad_answer")
    const headers = new Headers()
    for (let line = await nextLine(); line !== ""; line = await nextLine()) addHeader(headers, line)
    const status = Number(digits)
    if (status === 101) throw new OutboundProblem("bad_answer")
    if (status >= 200) return { status, headers }
  }
}

function addHeader(headers: Headers, line: string): void {
  const [, name, value] = /^([^\s:]+):(.*)$/.exec(line) ?? []
  if (name === undefined || value === undefined) throw new OutboundProblem("bad_answer")
  try {
    headers.append(name, value)
  } catch {
    throw new OutboundProblem("bad_answer")
  }
}

/** Returns the body without its framing, still encoded. Throws OutboundProblem `bad_answer` when it is incomplete. */
export async function* readBody({ status, headers }: Head, incoming: IncomingBytes): AsyncGenerator<Uint8Array> {
  if (status === 204 || status === 304) return
  const coding = headers.get("transfer-encoding")
  const length = headers.get("content-length")
  if (coding !== null) {
    if (coding.toLowerCase() !== "chunked") throw new OutboundProblem("bad_answer")
    yield* chunked(incoming)
  } else if (length !== null) {
    if (!/^\d{1,15}$/.test(length)) throw new OutboundProblem("bad_answer")
    yield* counted(incoming, Number(length))
  } else {
    for (let some = await incoming.some(Infinity); some; some = await incoming.some(Infinity)) yield some
  }
}

/**
 * Yields the content of the chunks. The total framing is limited, because chunks of a byte each would occupy the
 * processor for seconds (8 µs per chunk).
 */
async function* chunked(incoming: IncomingBytes): AsyncGenerator<Uint8Array> {
  for (let framing = 0; framing <= MAX_FRAMING; ) {
    const line = await incoming.line(LONGEST_SIZE)
    const [, digits] = /^([\da-f]{1,12})[ \t]*(?:;.*)?$/i.exec(line) ?? []
    if (digits === undefined) throw new OutboundProblem("bad_answer")
    framing += line.length + 4
    const size = Number.parseInt(digits, 16)
    // Trailers are not read, because nothing follows them.
    if (size === 0) return
    yield* counted(incoming, size)
    if ((await incoming.line(2)) !== "") throw new OutboundProblem("bad_answer")
  }
  throw new OutboundProblem("too_large")
}

async function* counted(incoming: IncomingBytes, count: number): AsyncGenerator<Uint8Array> {
  for (let left = count; left > 0; ) {
    const some = await incoming.some(left)
    if (some === null) throw new OutboundProblem("bad_answer")
    left -= some.length
    yield some
  }
}
