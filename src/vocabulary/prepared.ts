import { hash } from "node:crypto"

/** Bytes made once, with the strong ETag that names them. */
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
/** An answer that is JSON already, as it is sent; read back as data only where somebody looks into it. */
export class WrittenAnswer {
  readonly text: string
  /** As much of the answer as its price is made of; left out where that is always the same. */
  readonly priced: unknown
  constructor(text: string, priced?: unknown) {
    this.text = text
    this.priced = priced
  }

  toJSON(): unknown {
    return JSON.parse(this.text)
  }
}

/** What a handler gave, for a caller that takes text or does not. */
export function dataOf(outcome: unknown, takesText: boolean): unknown {
  return outcome instanceof WrittenAnswer && !takesText ? outcome.toJSON() : outcome
}
