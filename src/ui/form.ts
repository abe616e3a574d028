import { readUpTo } from "../lib/request-body.ts"
import { isStorable } from "../lib/text.ts"

/**
 * Returns the fields of a form, or why it is refused. "text" means that the database cannot store it. Throws
 * CallerGone.
 */
export async function readForm(
  request: Request,
  mostBytes: number,
): Promise<URLSearchParams | "type" | "size" | "text"> {
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase()
  if (type !== "application/x-www-form-urlencoded" || request.headers.has("content-encoding")) return "type"
  const bytes = await readUpTo(request, mostBytes)
  if (!bytes) return "size"
  const fields = new URLSearchParams(bytes.toString("utf8"))
  return [...fields].flat().every(isStorable) ? fields : "text"
}

/** Returns the value of a field. Undefined unless it was sent exactly once. */
export function fieldOf(fields: URLSearchParams, name: string): string | undefined {
  const [value, ...more] = fields.getAll(name)
  return more.length === 0 ? value : undefined
}
