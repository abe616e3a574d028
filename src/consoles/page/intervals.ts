import { type Html, html } from "../../ui/html.ts"

/** A change in percent with its interval. */
export interface PercentRow {
  name: Html
  value: number
  low: number
  high: number
  /** Colour of the point: a clear rise or fall. */
  tone: "up" | "down" | ""
  note: Html
}

/** Formats a change like "+7.3 %", with a typographic minus. */
export function percentText(value: number): string {
  const text = `${Math.abs(value)} %`
  return value === 0 ? text : `${value > 0 ? "+" : "−"}${text}`
}

/**
 * Draws changes below each other on one scale: a line at zero, the interval as a bar, and the change as a point. The
 * figures are also shown as text.
 */
export function intervalsPicture(title: string, rows: readonly PercentRow[]): Html {
  const most = roundUp(Math.max(...rows.flatMap(({ low, high, value }) => [low, high, value].map(Math.abs))))
  const at = (percent: number) => 50 + (48 * percent) / most
  const share = (length: number) => `${Math.round(length * 10) / 10}%`
  return html`<div class="effects" role="group" aria-label="${title}">
${rows.map(
  ({ name, value, low, high, tone, note }) => html`<div><p><strong>${name}</strong></p>
<svg aria-hidden="true"><rect class="zero" x="50%" width="1" height="100%"></rect>
<rect class="off" x="${share(at(low))}" y="40%" width="${share(at(high) - at(low))}" height="20%" rx="3"></rect>
<circle class="${tone}" cx="${share(at(value))}" cy="50%" r="6"></circle></svg>
<p><strong class="${tone}">${percentText(value)}</strong>
<span class="small quiet">90 % interval ${percentText(low)} to ${percentText(high)}</span></p>
<p class="small quiet">${note}</p></div>
`,
)}<p class="ends"><span>${percentText(-most)}</span><span>no change</span><span>${percentText(most)}</span></p></div>`
}

const ROUND = [5, 10, 20, 30, 50, 75, 100, 150, 200, 300, 500, 1_000]

function roundUp(percent: number): number {
  return ROUND.find((most) => most >= percent) ?? Math.ceil(percent)
}
