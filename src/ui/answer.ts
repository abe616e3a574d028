import { creditHeaders } from "../access/credits.ts"

/** What a page's address answers; HTML unless the headers say otherwise. */
export interface PageAnswer {
  status: number
  headers?: Record<string, string>
  body: string | null
  /** It holds no token, so that the size of its compressed text tells of none. */
  isCompressible?: boolean
}

/** On to another page of ours, with GET. */
export function seeOther(location: string, headers: Record<string, string> = {}): PageAnswer {
  return { status: 303, headers: { location, ...headers }, body: null }
}

/**
 * Never kept, indexed or named to another site. Not compressed but where the page says it may be: beside what a caller sent,
 * the size of a compressed text would tell what else is in it, a form's token for one.
 */
export function pageResponse(
  { method }: Request,
  { status, headers, body }: PageAnswer,
  { requestId, now }: { requestId: string; now: Date },
): Response {
  const bytes = body === null ? null : new TextEncoder().encode(body)
  const sent = {
    ...creditHeaders(null, now),
    ...(bytes && { "content-type": "text/html; charset=utf-8", "content-length": String(bytes.length) }),
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
