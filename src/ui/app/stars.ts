import { shareBar } from "../charts/small.ts"
import { type Html, html } from "../html.ts"
import { percent, whole } from "../words.ts"

/** Shows the number of ratings per star, five stars first. */
export function starsPart(stars: Readonly<Record<string, number>>): Html {
  const all = Object.values(stars).reduce((sum, count) => sum + count, 0)
  return html`<div class="spread">${[5, 4, 3, 2, 1].map((star) => {
    const count = stars[star] ?? 0
    const part = all === 0 ? 0 : count / all
    return html`<span class="small">${star} ★</span>${shareBar(part, "star")}<span
  class="small quiet">${whole(count)} · ${percent(part)}</span>`
  })}</div>`
}

/** "★★★★☆", with a text for screen readers. */
export function starText(rating: number): Html {
  return html`<span class="stars" role="img"
  aria-label="${rating} of 5 stars">${"★".repeat(rating)}${"☆".repeat(5 - rating)}</span>`
}
