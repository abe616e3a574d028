import { CODINGS, wholeBody } from "./inflate.ts"
import { OutboundProblem } from "./problem.ts"

// Bun's fetch inflates each piece of a body at once, up to 200 MB of zeros, and logs a line of its own when it fails.
/** Options for the runtime's fetch that leave the body compressed, so that `fetchedBody` inflates it. */
export const AS_SENT = { decompress: false }

// Deno always inflates these codings while streaming and keeps the content-encoding header.
const INFLATED = "Deno" in globalThis ? ["gzip", "br"] : []

const READABLE = ["identity", "x-gzip", ...CODINGS.split(", ")]

/** Returns true if the body has a supported coding. */
export function isReadable(response: Response): boolean {
  return READABLE.includes(codingOf(response))
}

/** Returns the inflated body of a response to a request with AS_SENT, like `wholeBody`. */
export async function fetchedBody(
  response: Response,
  most: number,
  grows?: (size: number) => Promise<void>,
): Promise<Uint8Array> {
  const coding = codingOf(response)
  if (!isReadable(response)) {
    await response.body?.cancel()
    throw new OutboundProblem("bad_answer")
  }
  return await wholeBody(response.body ?? [], INFLATED.includes(coding) ? null : coding, most, grows)
}

function codingOf({ headers }: Response): string {
  return headers.get("content-encoding")?.trim().toLowerCase() || "identity"
}
