import type { AnswerOf } from "../../answers.ts"
import type { Side } from "../../ui/app/context.ts"
import { starText } from "../../ui/app/stars.ts"
import { type Html, html } from "../../ui/html.ts"
import { dayTime } from "../../ui/times.ts"
import { sideName } from "../../ui/words.ts"

export type ListedReview = NonNullable<AnswerOf<"list_reviews">["list"]>[number]

/** Shows a review: its stars, its texts, its storefront and store. */
export function reviewPart({ rating, title, text, version, date }: ListedReview, side: Side): Html {
  return html`<p>${starText(rating)}${title && html` <strong><bdi>${title}</bdi></strong>`}</p>
${text !== "" && html`<p class="whole"><bdi>${text}</bdi></p>`}
<p class="small quiet">${dayTime(date.slice(0, 10))} · ${sideName(side)}${
    version && html` · version <bdi>${version}</bdi>`
  }</p>`
}
