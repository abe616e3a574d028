import type { AnswerOf } from "../../answers.ts"
import { storefrontName } from "../../lib/storefront-names.ts"
import { card, empty } from "../../ui/app/parts.ts"
import { type Html, html } from "../../ui/html.ts"
import { dayTime } from "../../ui/times.ts"
import { counted } from "../../ui/words.ts"
import { fieldLine, localeName, wasteWords } from "../localisation-words.ts"

type Grid = AnswerOf<"get_localisation_grid">
type GridLocale = Grid["locales"][number]

/**
 * Shows a table of storefronts and locales, and below it the words of each locale: the words that count and the words
 * that add nothing.
 */
export function localisationGridPart({ from, readAt, locales, storefronts }: Grid): Html | false {
  if (storefronts.length === 0) return false
  const filled = locales.filter(({ words }) => words.length > 0)
  if (filled.length === 0)
    return card(
      "Keywords across locales",
      empty(
        "No store page was read yet",
        "Here you will see which locale's words count in which of your storefronts, and which words add nothing.",
      ),
    )
  const other = locales.filter(({ words, readBy }) => words.length === 0 && readBy.length > 0)
  return html`${card(
    "Keywords across locales",
    html`<div class="scroll" tabindex="0" role="group" aria-label="Storefronts and locales"><table class="rows">
<caption>How many words each locale adds in a storefront. People there find your app by the words of all its locales; a
word counts once.</caption>
<thead><tr><th scope="col">Storefront</th>${filled.map(
      ({ locale }) =>
        html`<th scope="col" class="num">${localeName(locale)} <span class="small quiet">${locale}</span></th>`,
    )}<th scope="col" class="num">Words</th></tr></thead>
<tbody>${storefronts.map((row) => gridRow(row, filled))}</tbody></table></div>
<div class="inside"><p class="small quiet">A dash: the storefront does not read the locale. The keyword field is on
no store page, so it is not known here. To include it, run <code>appmeter app localisation</code> with your fastlane
folder.</p>
${
  other.length > 0 &&
  html`<p>Your storefronts also read ${counted(other.length, "locale")} that no page has shown:
${other.map(({ locale }) => localeName(locale)).join(", ")}. Each has room for 160 more characters.</p>`
}</div>`,
    readAt &&
      html`${from === "audit" ? "From the storefront audit of" : "From your store pages of"} ${dayTime(
        readAt.slice(0, 10),
      )}`,
  )}${filled.map(localeCard)}`
}

function gridRow({ country, cells, words }: Grid["storefronts"][number], filled: readonly GridLocale[]): Html {
  return html`<tr><th scope="row">${storefrontName(country)}</th>${filled.map(({ locale }) => {
    const cell = cells.find((each) => each.locale === locale)
    if (!cell) return html`<td class="num"><span class="quiet">–</span></td>`
    return html`<td class="num">${cell.adds}${cell.isDefault && html` <span class="small quiet">first</span>`}</td>`
  })}<td class="num">${words}</td></tr>
`
}

function localeCard({ locale, readBy, fields, words }: GridLocale): Html {
  const counting = words.filter(({ waste }) => waste === null)
  const wasted = words.filter(({ waste }) => waste !== null)
  return card(
    html`${localeName(locale)}`,
    html`<div class="inside"><p>${
      counting.length > 0
        ? html`Counts: ${counting.map(({ text }) => html`<span class="tag good"><bdi>${text}</bdi></span> `)}`
        : "No word counts."
    }</p>
${
  wasted.length > 0 &&
  html`<ul class="list">${wasted.map(
    (word) => html`<li><span class="tag warn"><bdi>${word.text}</bdi></span> <span class="small">${wasteWords(
      word,
    )}</span></li>
`,
  )}</ul>`
}<p class="small quiet">${fields.map(fieldLine).join(" · ")}</p></div>`,
    readBy.length > 0 ? `Read in ${readBy.map(storefrontName).join(", ")}` : "Read in none of your storefronts",
  )
}
