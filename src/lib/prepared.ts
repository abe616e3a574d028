import { hash } from "node:crypto"

/** Bytes that are prepared once, with their strong ETag. */
export interface PreparedAnswer {
  body: Uint8Array<ArrayBuffer>
  etag: string
}

export function prepare(text: string): PreparedAnswer {
  return { body: new TextEncoder().encode(text), etag: `"${hash("sha256", text, "hex").slice(0, 32)}"` }
}

export function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
