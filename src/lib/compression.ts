import { promisify } from "node:util"
import {
  brotliCompress,
  brotliCompressSync,
  constants,
  gzip,
  gzipSync,
  zstdCompress,
  zstdCompressSync,
} from "node:zlib"
import type { PreparedAnswer } from "./prepared.ts"

/**
 * Supported encodings. If a client accepts several equally, the first of this list is used, because it saves the most
 * bytes for its processor time.
 */
const ENCODINGS = ["zstd", "br", "gzip"] as const
type Encoding = (typeof ENCODINGS)[number]

/** Shorter responses are not compressed: they fit in one packet anyway. */
export const MIN_BYTES = 1_024

/**
 * Returns the encoding for an accept-encoding header (RFC 9110, 12.5.3). Null for no encoding. "*" means gzip, the
 * oldest encoding.
 */
export function encodingFor(accepted: string | null): Encoding | null {
  if (accepted === null) return null
  const weights = new Map(accepted.toLowerCase().split(",").map(weighted))
  const weightOf = (name: Encoding) => weights.get(name) ?? (name === "gzip" ? weights.get("*") : 0) ?? 0
  const [best] = [...ENCODINGS].sort((a, b) => weightOf(b) - weightOf(a)) as [Encoding]
  return weightOf(best) > 0 && weightOf(best) >= (weights.get("identity") ?? 0) ? best : null
}

function weighted(part: string): [name: string, weight: number] {
  const [name = "", ...parameters] = part.split(";").map((text) => text.trim())
  const weight = Number(parameters.find((text) => text.startsWith("q="))?.slice(2) ?? 1)
  return [name, weight >= 0 && weight <= 1 ? weight : 0]
}

const compress: Record<Encoding, (bytes: Uint8Array) => Promise<Uint8Array<ArrayBuffer>>> = {
  zstd: promisify(zstdCompress),
  br: (bytes) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  gzip: promisify(gzip),
}

const texts = new WeakMap<Response, string>()

/** Creates a response that keeps its text, so that encoding it needs no copy of the body. */
export function textResponse(text: string, init: ResponseInit): Response {
  const answer = new Response(text, init)
  texts.set(answer, text)
  return answer
}

/**
 * Encodes a response as the client accepts. The length of a compressed response reveals no key: only a client with the
 * key can send such requests.
 */
export function inEncoding(accepted: string | null, answer: Response): Response | Promise<Response> {
  const text = texts.get(answer)
  return text !== undefined && !isLong(text) ? answer : encodedAs(accepted, answer, text)
}

async function encodedAs(accepted: string | null, answer: Response, text: string | undefined): Promise<Response> {
  // A 304 must have the same Vary header as the cached response.
  if (answer.status === 304) answer.headers.append("vary", "accept-encoding")
  // An event stream must not be buffered.
  if (text === undefined && (answer.body === null || answer.headers.get("content-type") === "text/event-stream"))
    return answer
  const encoding = encodingFor(accepted)
  const { status, headers } = answer
  if (text !== undefined && !encoding) {
    headers.append("vary", "accept-encoding")
    return answer
  }
  const bytes = text === undefined ? await answer.bytes() : new TextEncoder().encode(text)
  if (bytes.length < MIN_BYTES) return new Response(bytes, { status, headers })
  headers.append("vary", "accept-encoding")
  if (!encoding) return new Response(bytes, { status, headers })
  const compressed = await compress[encoding](bytes)
  headers.set("content-encoding", encoding)
  if (headers.has("content-length")) headers.set("content-length", String(compressed.length))
  return new Response(compressed, { status, headers })
}

/** Returns whether the text has at least MIN_BYTES bytes in UTF-8. A UTF-16 unit takes at most three. */
function isLong(text: string): boolean {
  if (text.length >= MIN_BYTES) return true
  return text.length * 3 >= MIN_BYTES && new TextEncoder().encode(text).length >= MIN_BYTES
}

const compressOnce: Record<Encoding, (bytes: Uint8Array) => Uint8Array> = {
  zstd: (bytes) => zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: 12 } }),
  br: (bytes) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } }),
  gzip: (bytes) => gzipSync(bytes, { level: 9 }),
}

const made = new WeakMap<Uint8Array, Partial<Record<Encoding, PreparedAnswer>>>()

/** Returns prepared bytes in an encoding, compressed on first use and cached. Other bytes need another ETag. */
export function preparedIn(encoding: Encoding, { body, etag }: PreparedAnswer): PreparedAnswer {
  const encoded = made.get(body) ?? {}
  made.set(body, encoded)
  encoded[encoding] ??= {
    body: new Uint8Array(compressOnce[encoding](body)),
    etag: etag.replace(/"$/, `-${encoding}"`),
  }
  return encoded[encoding]
}
