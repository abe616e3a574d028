import type { Fault } from "../lib/faults.ts"
import { html } from "../ui/html.ts"
import { layout } from "../ui/layout.ts"
import { ADVICE, STATUS_NAMES } from "./errors.ts"

/** Returns the fault as HTML for a person in a browser; programs get JSON. The page repeats no text of the request. */
export function faultPage({ code, status, message }: Fault): string {
  return layout(
    STATUS_NAMES[status] as string,
    message,
    html`<p>${message}</p>
${ADVICE[code] && html`<p>${ADVICE[code]}</p>\n`}<p>See also: <a href="/docs">the reference</a>,
<a href="/docs/operate">the manual</a>, and the error code
<a href="/docs/errors#${code}"><code>${code}</code></a>.</p>`,
  )
}
