import type { Operation } from "../../core/operation.ts"

const header = (description: string, schema: object) => ({ description, schema })
const amount = { type: "integer", format: "int64", minimum: 0, maximum: Number.MAX_SAFE_INTEGER }
/** The server sends no longer header. */
const text = { type: "string", maxLength: 8_192 }

/** components.headers. Their names are short because every response refers to most of them. */
export const HEADERS = {
  Used: header("Credits used this month.", amount),
  Limit: header("Credits of this month, packs included.", amount),
  Left: header("Credits left.", amount),
  Reset: header("When the next month starts.", { type: "string", format: "date-time", maxLength: 24 }),
  Id: header("Names this call: your own `x-request-id` where you sent a well-formed one, else ours, a UUID.", {
    type: "string",
    pattern: "^[\\w.:=+@/-]+$",
    maxLength: 128,
  }),
  Etag: header("Names what the answer says; send it as `if-none-match` the next time.", text),
  Trace: header("The W3C trace context that you sent, if it was well-formed.", {
    type: "string",
    maxLength: 512,
  }),
  Policy: header('The key\'s calls a second: `"per-second";q=100;w=1`. Once the key is known.', text),
  Rate: header('How many are left of this second: `"per-second";r=99;t=1`. Once the key is known.', text),
  RetryAfter: header("Seconds to wait; on every 429 and 503.", {
    type: "integer",
    format: "int32",
    minimum: 1,
    maximum: 2_147_483_647,
  }),
  WwwAuthenticate: header("How to sign in.", text),
  Origin: header("The page's origin, where whoever runs the server lets its pages call; else left out.", text),
}

export const headerReference = (name: keyof typeof HEADERS) => ({ $ref: `#/components/headers/${name}` })

/** The headers of every response, spelled as in their standards. Their names are not case-sensitive. */
export const EVERY_HEADER = {
  "x-credits-used": headerReference("Used"),
  "x-credits-limit": headerReference("Limit"),
  "x-credits-remaining": headerReference("Left"),
  "x-credits-reset": headerReference("Reset"),
  "x-request-id": headerReference("Id"),
  traceparent: headerReference("Trace"),
  "RateLimit-Policy": headerReference("Policy"),
  RateLimit: headerReference("Rate"),
  "Access-Control-Allow-Origin": headerReference("Origin"),
}

const DEPRECATION_HEADERS = {
  Deprecation: header("Since when it, or a parameter that was sent, is deprecated (RFC 9745): `@1764547200`.", text),
  Sunset: header("From when it may be gone (RFC 8594).", text),
  Link: header("Where it is written what may change.", text),
}

export function deprecationHeaders({ deprecated, deprecatedInputs }: Operation): object {
  return deprecated || deprecatedInputs.size > 0 ? DEPRECATION_HEADERS : {}
}
