import type { PageAnswer } from "../../ui/answer.ts"

/** A refusal in the words of RFC 6749, as its clients read it. */
export class OAuthProblem extends Error {
  override name = "OAuthProblem"
  readonly code: string
  readonly status: number

  constructor(code: string, message: string, status = 400) {
    super(message)
    this.code = code
    this.status = status
  }
}

/** JSON that no cache keeps, and that pages of any origin may read: nothing here rests on a cookie. */
export function jsonAnswer(status: number, body: object, headers: Record<string, string> = {}): PageAnswer {
  return { status, headers: { ...JSON_HEADERS, ...headers }, body: JSON.stringify(body) }
}

/** A document that says the same to everybody. */
export function documentAnswer(body: object): PageAnswer {
  return jsonAnswer(200, body, { "cache-control": "public, max-age=3600" })
}

export function problemAnswer({ code, message, status }: OAuthProblem): PageAnswer {
  const headers: Record<string, string> = status === 429 ? { "retry-after": "3600" } : {}
  return jsonAnswer(status, { error: code, error_description: message }, headers)
}

/** What a browser asks before a page of another origin may send more than a form. */
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
