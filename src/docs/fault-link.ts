import type { FaultCode } from "../lib/faults.ts"
import { type Html, html } from "../ui/html.ts"

/** Links a code to its entry in the list of error codes. */
export function codeLink(code: FaultCode): Html {
  return html`<a href="/docs/errors#${code}"><code>${code}</code></a>`
}

/** Links several codes, in the given order. */
export function codeLinks(codes: readonly FaultCode[]): Html {
  return html`${codes.map((code, i) => html`${i > 0 && ", "}${codeLink(code)}`)}`
}
