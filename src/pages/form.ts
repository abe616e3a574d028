import { readUpTo } from "../vocabulary/request-body.ts"

/** The fields of a form that was sent, or why they cannot be read. Throws CallerGone. */
export async function readForm(request: Request, mostBytes: number): Promise<URLSearchParams | "type" | "size"> {
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase()
  if (type !== "application/x-www-form-urlencoded" || request.headers.has("content-encoding")) return "type"
  const bytes = await readUpTo(request, mostBytes)
  return bytes ? new URLSearchParams(bytes.toString("utf8")) : "size"
}

/** The value of a field that was sent once; undefined where it was not, or more than once. */
export function fieldOf(fields: URLSearchParams, name: string): string | undefined {
  const [value, ...more] = fields.getAll(name)
  return more.length === 0 ? value : undefined
}
