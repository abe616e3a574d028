import type { Operation } from "../../core/operation.ts"

const header = (description: string, schema: object) => ({ description, schema })
const amount = { type: "integer", format: "int64", minimum: 0, maximum: Number.MAX_SAFE_INTEGER }
/** No header that the server sends is longer. */
const text = { type: "string", maxLength: 8_192 }

/** components.headers. Their names are short because every response refers to most of them. */
export const HEADERS = {
  Used: header("Credits used this month.", amount),
  Limit: header("Credits of this month, including packs.", amount),
  Left: header("Credits left.", amount),
  Reset: header("Start of the next month.", { type: "string", format: "date-time", maxLength: 24 }),
  Id: header("Id of this call: the `x-request-id` you sent, if well-formed, else a generated UUID.", {
    type: "string",
    pattern: "^[\\w.:=+@/-]+$",
    maxLength: 128,
  }),
  Etag: header("Identifies the content of the answer. Send it as `if-none-match` in the next call.", text),
  Trace: header("The W3C trace context of the request, if well-formed.", {
    type: "string",
    maxLength: 512,
  }),
  Policy: header('Calls per second of the key: `"per-second";q=100;w=1`. Omitted if the key is unknown.', text),
  Rate: header('Calls left in this second: `"per-second";r=99;t=1`. Omitted if the key is unknown.', text),
  RetryAfter: header("Seconds to wait. Sent with every 429 and 503.", {
    type: "integer",
    format: "int32",
    minimum: 1,
    maximum: 2_147_483_647,
  }),
  WwwAuthenticate: header("How to sign in.", text),
  Origin: header("The origin of the page, if the operator allows it. Omitted otherwise.", text),
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
  Deprecation: header(
    "Time since which the operation, or a parameter sent, is deprecated (RFC 9745): `@1764547200`.",
    text,
  ),
  Sunset: header("Time from which it may be removed (RFC 8594).", text),
  Link: header("Page about changes of the API.", text),
}

export function deprecationHeaders({ deprecated, deprecatedInputs }: Operation): object {
  return deprecated || deprecatedInputs.size > 0 ? DEPRECATION_HEADERS : {}
}
