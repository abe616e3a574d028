import { type Html, html } from "../../ui/html.ts"

/** A change in percent with its interval. */
export interface PercentRow {
  name: Html
  value: number
  low: number
  high: number
  /** Colour of the point: a clear rise or fall. */
  tone: "up" | "down" | ""
  said: Html
}

/** "+7.3 %", with a real minus. */
export function percentText(value: number): string {
  const text = `${Math.abs(value)} %`
  return value === 0 ? text : `${value > 0 ? "+" : "−"}${text}`
}

/**
 * Draws changes below each other on one scale: a line at zero, the interval as a bar, and the change as a point. The
 * same figures stand beside as text.
 */
export function intervalsPicture(title: string, rows: readonly PercentRow[]): Html {
  const most = roundUp(Math.max(...rows.flatMap(({ low, high, value }) => [low, high, value].map(Math.abs))))
  const x = (percent: number) => `${Math.round((50 + (48 * percent) / most) * 10) / 10}%`
  return html`<div class="effects" role="group" aria-label="${title}">
${rows.map(
  ({ name, value, low, high, tone, said }) => html`<div><p><strong>${name}</strong></p>
<svg aria-hidden="true"><line class="zero" x1="50%" x2="50%" y1="0" y2="100%"></line>
<line class="off" x1="${x(low)}" x2="${x(high)}" y1="50%" y2="50%"></line>
<circle class="${tone}" cx="${x(value)}" cy="50%" r="6"></circle></svg>
<p><strong class="${tone}">${percentText(value)}</strong>
<span class="small quiet">90 % interval ${percentText(low)} to ${percentText(high)}</span></p>
<p class="small quiet">${said}</p></div>
`,
)}<p class="ends"><span>${percentText(-most)}</span><span>no change</span><span>${percentText(most)}</span></p></div>`
}

const ROUND = [5, 10, 20, 30, 50, 75, 100, 150, 200, 300, 500, 1_000]

function roundUp(percent: number): number {
  return ROUND.find((most) => most >= percent) ?? Math.ceil(percent)
}
