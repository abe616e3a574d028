import { MAX_LINES } from "../../ui/charts/rank-lines.ts"
import { type Html, html } from "../../ui/html.ts"

/** The legend of a chart: each line's colour, name and current value. */
export function legend(lines: readonly { name: string; said: string; href?: string }[]): Html {
  return html`<ul class="legend">
${lines.map(
  ({ name, said, href }, at) =>
    html`<li><svg viewBox="0 0 10 10" aria-hidden="true">
<circle class="s${(at % MAX_LINES) + 1}" cx="5" cy="5" r="4"></circle>
</svg>${
      href ? html`<a href="${href}"><bdi>${name}</bdi></a>` : html`<bdi>${name}</bdi>`
    } <span class="quiet">${said}</span></li>`,
)}</ul>
`
}
