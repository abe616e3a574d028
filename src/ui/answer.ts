import { creditHeaders } from "../access/credits.ts"

/** The response of a page. Its type is HTML unless the headers name another. */
export interface PageAnswer {
  status: number
  headers?: Record<string, string>
  body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null
  /** True if the response may be compressed. It may if its compressed size cannot reveal a token. */
  isCompressible?: boolean
}

/** Returns a redirect to another page of this origin, which the browser opens with GET. */
export function seeOther(location: string, headers: Record<string, string> = {}): PageAnswer {
  return { status: 303, headers: { location, ...headers }, body: null }
}

/**
 * Returns the response of a page. It is never cached or indexed, and sends no referrer to other sites. It is compressed
 * only if the page allows it: if a page repeats what the caller sent, its compressed size reveals other content, such
 * as a form's token (BREACH).
 */
export function pageResponse(
  { method }: Request,
  { status, headers, body }: PageAnswer,
  { requestId, now }: { requestId: string; now: Date },
): Response {
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body
  const sent = {
    ...creditHeaders(null, now),
    ...(typeof body === "string" && { "content-type": "text/html; charset=utf-8" }),
    ...(bytes instanceof Uint8Array && { "content-length": String(bytes.length) }),
    "cache-control": "private, no-store",
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "x-request-id": requestId,
    "x-robots-tag": "noindex, nofollow",
    ...headers,
  }
  return new Response(method === "HEAD" ? null : bytes, { status, headers: sent })
}
