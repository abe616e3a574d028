import type { OAuthProblem } from "../../access/oauth/problem.ts"
import type { PageAnswer } from "../../ui/answer.ts"

/**
 * Returns JSON that is not cached and that pages of any origin may read, because no such response depends on a cookie.
 */
export function jsonAnswer(status: number, body: object, headers: Record<string, string> = {}): PageAnswer {
  return { status, headers: { ...JSON_HEADERS, ...headers }, body: JSON.stringify(body) }
}

/** Returns a document that is the same for every caller, so it may be cached. */
export function documentAnswer(body: object): PageAnswer {
  return jsonAnswer(200, body, { "cache-control": "public, max-age=3600" })
}

export function problemAnswer({ code, message, status }: OAuthProblem): PageAnswer {
  const headers: Record<string, string> = status === 429 ? { "retry-after": "3600" } : {}
  return jsonAnswer(status, { error: code, error_description: message }, headers)
}

/** Answers the preflight request of a browser. */
export const PREFLIGHT: PageAnswer = {
  status: 204,
  headers: {
    "access-control-allow-origin": "*",
    "access-control-allow-methods": "GET, HEAD, POST",
    "access-control-allow-headers": "authorization, content-type, mcp-protocol-version",
    "access-control-max-age": "7200",
    "cache-control": "no-store",
  },
  body: null,
}

const JSON_HEADERS = {
  "content-type": "application/json; charset=utf-8",
  "cache-control": "no-store",
  pragma: "no-cache",
  "access-control-allow-origin": "*",
}
