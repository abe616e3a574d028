import { genreName } from "../../lib/genre-names.ts"
import { storefrontName } from "../../lib/storefront-names.ts"
import type { Page, PageContext } from "../../ui/app/context.ts"
import { card, empty } from "../../ui/app/parts.ts"
import { type FormState, selectField, textField } from "../../ui/fields.ts"
import { type Html, html } from "../../ui/html.ts"
import { dayTime } from "../../ui/times.ts"
import { counted } from "../../ui/words.ts"
import { followedList } from "./followed.ts"
import { countryIn, followForm, linkTo, type Market, marketAddress, marketPage, storefrontOptions } from "./frame.ts"

/**
 * The first page of the market: a search for any app, the storefronts that are followed and read, and links to the
 * other pages.
 */
export async function marketStartPage(context: PageContext): Promise<Page> {
  const market = await context.ask("get_market")
  const list = market.followed.length > 0 && followedList(context, market)
  const body = html`<section class="card">${appSearchForm(context)}</section>
<ul class="apps three">${PLACES.map(([path, name, about]) => placeTile(context, path, name, about))}</ul>
<div class="columns-2">${card(
    "Followed here",
    list ||
      empty(
        "No storefront is followed yet",
        "Follow one, and its charts are read every day: positions appear on the first day, movers and new apps on " +
          "the second.",
        context.isSample ? {} : { sample: "/app/sample/market" },
      ),
  )}<div>${chartedCard(context, market)}${
    !context.isSample && card("Follow a storefront", followForm(context, { country: "us", genre: "36" }) || "")
  }</div></div>`
  return marketPage(context, { title: "Market", tab: "", body })
}

const PLACES = [
  ["charts", "Charts", "Top lists of any day, movers, newcomers and leavers."],
  ["new", "New apps", "Apps that reached a chart for the first time."],
  ["find", "Finder", "Apps by category, rank, age, downloads, revenue or growth."],
  ["keyword", "Keywords", "Any keyword: its top apps, popularity, difficulty and related keywords."],
  ["compare", "Compare", "Up to ten apps on the same keywords, and the gaps between them."],
  ["categories", "Categories", "What a new app faces in each category."],
] as const

function placeTile(context: PageContext, path: string, name: string, about: string): Html {
  return html`<li><h2><a class="cover" href="${marketAddress(context, path)}">${name}</a></h2>
<p class="small quiet">${about}</p></li>`
}

/** A search for any app by name, publisher, link or id. */
export function appSearchForm(context: PageContext): Html {
  const form: FormState = { id: "any", values: null, errors: {} }
  const action = marketAddress(context, "search")
  return html`<form class="filters" method="get" action="${action}" role="search">${textField(form, {
    name: "q",
    label: "Any app: its name, publisher, link or id",
    type: "search",
    value: context.query.get("q") ?? "",
    placeholder: context.isSample ? "garden" : "Tide Times",
    maxLength: 120,
    isRequired: true,
    isWide: true,
  })}${selectField(form, {
    name: "country",
    label: "Storefront",
    value: countryIn(context.query),
    options: storefrontOptions(),
  })}<div class="send"><button class="main" type="submit">Find app</button></div></form>`
}

function chartedCard(context: PageContext, { charted }: Market): Html | false {
  if (charted.length === 0) return false
  const items = charted.slice(0, MAX_CHARTED).map(({ country, lists, genres, lastDay }) => {
    const genre = genres.includes("36") ? "36" : (genres[0] ?? "36")
    const to = marketAddress(context, "charts", { country, genre })
    const name = genres.length > 3 ? counted(genres.length, "category", "categories") : genres.map(genreName).join(", ")
    return html`<li><p>${linkTo(context, "journal", to, storefrontName(country))} · ${name}</p>
<p class="small quiet">${counted(lists, "chart")}, the latest of ${dayTime(lastDay)}</p></li>`
  })
  const more = charted.length - MAX_CHARTED
  return card(
    "Charts that were read",
    html`<ul class="list">${items}</ul>`,
    more > 0 && `${counted(more, "more storefront")}`,
  )
}

const MAX_CHARTED = 8
