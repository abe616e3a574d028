import { readUpTo } from "../lib/request-body.ts"
import { isStorable } from "../lib/text.ts"

/**
 * Returns the fields of a form, or the reason for its refusal: "text" means that the database cannot store a text in
 * it. The value of a file's field is the file's text. Throws CallerGone.
 */
export async function readForm(
  request: Request,
  mostBytes: number,
): Promise<URLSearchParams | "type" | "size" | "text"> {
  const type = request.headers.get("content-type") ?? ""
  const kind = type.split(";")[0]?.trim().toLowerCase()
  if (!FORM_TYPES.includes(kind ?? "") || request.headers.has("content-encoding")) return "type"
  const bytes = await readUpTo(request, mostBytes)
  if (!bytes) return "size"
  const fields =
    kind === MULTIPART ? await multipartFields(bytes, type) : new URLSearchParams(new TextDecoder().decode(bytes))
  if (fields === null) return "type"
  return [...fields].flat().every(isStorable) ? fields : "text"
}

const MULTIPART = "multipart/form-data"
const FORM_TYPES = ["application/x-www-form-urlencoded", MULTIPART]

/** Returns the fields of a multipart body. Null if the body is not multipart. */
async function multipartFields(bytes: Uint8Array, type: string): Promise<URLSearchParams | null> {
  const fields = new URLSearchParams()
  try {
    const form = await new Response(bytes.slice(), { headers: { "content-type": type } }).formData()
    for (const [name, value] of form) fields.append(name, typeof value === "string" ? value : await value.text())
  } catch {
    return null
  }
  return fields
}

/** Returns the value of a field. Undefined unless it was sent exactly once. */
export function fieldOf(fields: URLSearchParams, name: string): string | undefined {
  const [value, ...more] = fields.getAll(name)
  return more.length === 0 ? value : undefined
}
