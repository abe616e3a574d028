import { Fault } from "../faults.ts"
import { readUpTo } from "../vocabulary/request-body.ts"

const MOST_BYTES = 64 * 1024
const MOST_DEPTH = 32

export async function bodyInput(request: Request): Promise<Record<string, unknown>> {
  const value = await bodyJson(request)
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw malformed()
  return value as Record<string, unknown>
}

/** Throws as bodyInput does; invalid_arguments for no JSON, or nested too deep; CallerGone. */
export async function bodyJson(request: Request): Promise<unknown> {
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase()
  if (type !== "application/json" || request.headers.has("content-encoding")) throw new Fault("unsupported_media_type")
  const bytes = await readUpTo(request, MOST_BYTES)
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

/** Counted on the text, before anything recursive sees the value. */
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
      if (++depth > MOST_DEPTH) return true
    } else if (c === "}" || c === "]") depth--
  }
  return false
}

function malformed(): Fault {
  return new Fault("invalid_arguments", {
    field: "body",
    detail: `The body must be one JSON object in UTF-8, at most ${MOST_DEPTH} deep.`,
  })
}
