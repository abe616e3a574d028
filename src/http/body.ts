import { Fault } from "../lib/faults.ts"
import { readUpTo } from "../lib/request-body.ts"

const MAX_BYTES = 64 * 1024
const MAX_DEPTH = 32

/** Returns the arguments of a POST. An absent or empty body has none. Throws like bodyJson. */
export async function bodyInput(request: Request): Promise<Record<string, unknown>> {
  const bytes = await readUpTo(request, MAX_BYTES)
  const value = bytes?.length === 0 ? {} : jsonOf(request, bytes)
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw malformed()
  return value as Record<string, unknown>
}

/**
 * Throws unsupported_media_type, body_too_large, invalid_arguments if the body is not JSON or is nested too deeply, or
 * CallerGone.
 */
export async function bodyJson(request: Request): Promise<unknown> {
  return jsonOf(request, await readUpTo(request, MAX_BYTES))
}

function jsonOf({ headers }: Request, bytes: Uint8Array | null): unknown {
  const type = headers.get("content-type")?.split(";")[0]?.trim().toLowerCase()
  if (type !== "application/json" || headers.has("content-encoding")) throw new Fault("unsupported_media_type")
  if (!bytes) throw new Fault("body_too_large")
  return parse(bytes)
}

function parse(bytes: Uint8Array): unknown {
  let text: string
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes)
  } catch {
    throw malformed()
  }
  if (tooDeep(text)) throw malformed()
  try {
    return JSON.parse(text)
  } catch {
    throw malformed()
  }
}

/** Checks the nesting depth on the text, before recursive code reads the value. */
function tooDeep(text: string): boolean {
  let depth = 0
  let quoted = false
  for (let i = 0; i < text.length; i++) {
    const c = text[i]
    if (quoted) {
      if (c === "\\") i++
      else if (c === '"') quoted = false
    } else if (c === '"') quoted = true
    else if (c === "{" || c === "[") {
      if (++depth > MAX_DEPTH) return true
    } else if (c === "}" || c === "]") depth--
  }
  return false
}

function malformed(): Fault {
  return new Fault("invalid_arguments", {
    field: "body",
    detail: `The body must be a single JSON object in UTF-8, nested at most ${MAX_DEPTH} levels deep.`,
  })
}
