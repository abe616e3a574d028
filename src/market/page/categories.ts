import type { AnswerOf } from "../../answers.ts"
import { nameOfStorefront, storefrontName } from "../../lib/storefront-names.ts"
import { isFault, type Page, type PageContext } from "../../ui/app/context.ts"
import { card, empty } from "../../ui/app/parts.ts"
import { type FormState, selectField } from "../../ui/fields.ts"
import { type Html, html } from "../../ui/html.ts"
import { dayTime } from "../../ui/times.ts"
import { figure, percent } from "../../ui/words.ts"
import { chartAddress } from "./charts.ts"
import {
  countryIn,
  followForm,
  genreOptions,
  linkTo,
  marketAddress,
  marketAnswer,
  marketPage,
  missingPart,
  nameOfGenre,
  readButton,
  storefrontOptions,
} from "./frame.ts"

type Category = AnswerOf<"hive_get_landscape">["categories"][number]

const CREDITS = 10

/** The figures that show how hard a category is for a new app, for one requested category or for all that were read. */
export async function marketCategoriesPage(context: PageContext): Promise<Page> {
  const market = await context.ask("get_market")
  const country = countryIn(context.query, market.first?.country)
  const genre = /^[1-9]\d{0,5}$/.test(context.query.get("genre") ?? "") ? (context.query.get("genre") as string) : null
  const answer = await marketAnswer(
    context.ask("hive_get_landscape", { country, ...(context.isSample ? { genre: "lifestyle" } : genre && { genre }) }),
  )
  const form = categoryForm(context, country, genre)
  const page = (body: Html) =>
    marketPage(context, {
      title: "Categories",
      tab: "categories",
      body: html`<section class="card">${form}</section>${body}`,
    })
  const follow = followForm(context, { country, genre: genre ?? "all" })
  const title = `No category of ${nameOfStorefront(country)} was read yet`
  if (isFault(answer))
    return page(
      html`<section class="card">${missingPart(context, answer, { title, credits: CREDITS, follow })}</section>`,
    )
  if (answer.categories.length === 0)
    return page(
      html`<section class="card">${empty(
        title,
        "A category is read when you choose it above, or every day if its storefront is followed.",
      )}${follow}</section>`,
    )
  const isReading =
    answer.readingForS !== null &&
    html`<p class="inside small" data-reading="">
Its apps are being looked up; figures appear within a minute.</p>`
  return page(
    card(
      `The first 100 free apps, ${storefrontName(country)}`,
      html`${categoryTable(context, country, answer.categories)}${isReading}<p class="inside small quiet">
A figure is a dash if it is known of less than half of the apps. The number of apps behind it is in its tooltip.</p>${
        genre !== null && readButton(context, CREDITS)
      }`,
    ),
  )
}

function categoryForm(context: PageContext, country: string, genre: string | null): Html {
  const form: FormState = { id: "category", values: null, errors: {} }
  const action = marketAddress(context, "categories")
  return html`<form class="filters" method="get" action="${action}" data-now="">${selectField(form, {
    name: "country",
    label: "Storefront",
    value: country,
    options: storefrontOptions(),
  })}${selectField(form, {
    name: "genre",
    label: "Category",
    value: genre ?? "",
    options: [["", "All that were read"], ...genreOptions()],
  })}<div class="send"><button class="main" type="submit">Show categories</button></div></form>`
}

function categoryTable(context: PageContext, country: string, categories: readonly Category[]): Html {
  const rows = categories.map((category) => {
    const { genre, ratingsWall: wall, rating, releasedWithinYear, updatedWithin90Days, publishers, day } = category
    const to = chartAddress(context, { country, kind: "free", genre: genre.id })
    return html`<tr><th scope="row">${linkTo(context, "journal", to, nameOfGenre(genre))}
<span class="small quiet">${dayTime(day)}</span></th>
<td class="num" title="${basisOf(wall)}">${figure(wall.median)}</td>
<td class="num wide" title="${basisOf(wall)}">${figure(wall.least)}</td>
<td class="num wide" title="${basisOf(rating)}">${figure(rating.median, 1)}</td>
<td class="num" title="${basisOf(releasedWithinYear)}">${shareText(releasedWithinYear.share)}</td>
<td class="num wide" title="${basisOf(updatedWithin90Days)}">${shareText(updatedWithin90Days.share)}</td>
<td class="num wide" title="${basisOf(category.languages)}">${figure(category.languages.median)}</td>
<td class="num wide" title="${basisOf(category.sizeBytes)}">${sizeText(category.sizeBytes.median)}</td>
<td class="num wide" title="${basisOf(publishers)}">${figure(publishers.count)}</td></tr>`
  })
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Categories"><table><thead><tr>
<th scope="col">Category</th><th scope="col" class="num">Ratings of the top ten</th>
<th scope="col" class="num wide">Fewest</th><th scope="col" class="num wide">Stars</th>
<th scope="col" class="num">New within a year</th><th scope="col" class="num wide">Updated in 90 days</th>
<th scope="col" class="num wide">Languages</th><th scope="col" class="num wide">Size</th>
<th scope="col" class="num wide">Publishers with several</th></tr></thead><tbody>${rows}</tbody></table></div>`
}

const basisOf = ({ n, of }: { n: number; of: number }) => `known of ${n} of ${of} apps`
const shareText = (share: number | null) => (share === null ? figure(null) : percent(share))
const sizeText = (bytes: number | null) => (bytes === null ? figure(null) : `${Math.round(bytes / 1_000_000)} MB`)
