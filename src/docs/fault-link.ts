import type { FaultCode } from "../lib/faults.ts"
import { type Html, html } from "../ui/html.ts"

/** A code that leads to its place in the list of error codes. */
export function codeLink(code: FaultCode): Html {
  return html`<a href="/docs/errors#${code}"><code>${code}</code></a>`
}

/** Several, in their order. */
export function codeLinks(codes: readonly FaultCode[]): Html {
  return html`${codes.map((code, i) => html`${i > 0 && ", "}${codeLink(code)}`)}`
}
