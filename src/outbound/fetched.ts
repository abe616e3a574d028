import { CODINGS, wholeBody } from "./inflate.ts"
import { OutboundProblem } from "./problem.ts"

// Bun inflates each piece of a body whole, 200 MB of zeros at once, and writes a line of its own to the log where it cannot.
/** For the runtime's own fetch, so that `fetchedBody` inflates what comes. */
export const AS_SENT = { decompress: false }

// Deno always inflates these, as the body comes, and leaves the header of the coding.
const INFLATED = "Deno" in globalThis ? ["gzip", "br"] : []

const READABLE = ["identity", "x-gzip", ...CODINGS.split(", ")]

/** True for a body in a coding that can be read. */
export function isReadable(response: Response): boolean {
  return READABLE.includes(codingOf(response))
}

/** Returns the body of a response to a request with AS_SENT, as `wholeBody` does. */
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
