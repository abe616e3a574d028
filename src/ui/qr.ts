import { encode } from "uqr"
import { type Html, html } from "./html.ts"

/** Width in modules of the white margin around the code. Scanners do not find a code without it. */
const BORDER = 4

/** Draws a QR code. It is dark on white in both colour schemes, because many scanners cannot read light on dark. */
export function qrCode(text: string, label: string): Html {
  const { data, size } = encode(text, { border: BORDER })
  const runs = data.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : "")))
  return html`<svg class="qr" role="img" aria-label="${label}" viewBox="0 0 ${size} ${size}" width="200" height="200"
 shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${size}v${size}H0z"/><path d="${runs.join("")}"/></svg>
`
}
