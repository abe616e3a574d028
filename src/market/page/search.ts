import type { AnswerOf } from "../../answers.ts"
import { storefrontName } from "../../lib/storefront-names.ts"
import { isFault, type Page, type PageContext } from "../../ui/app/context.ts"
import { readFaces } from "../../ui/app/faces.ts"
import { card, empty } from "../../ui/app/parts.ts"
import { type Html, html } from "../../ui/html.ts"
import { counted, STORES } from "../../ui/words.ts"
import { appCell, countryIn, marketAnswer, marketPage, missingPart, readButton } from "./frame.ts"
import { appSearchForm } from "./start.ts"

type Found = AnswerOf<"hive_resolve_app">["apps"][number]

const CREDITS = 10

/** Finds any app by name, publisher, link or id. */
export async function marketSearchPage(context: PageContext): Promise<Page> {
  const q = context.query.get("q")?.trim().slice(0, MAX_QUERY) ?? ""
  const country = countryIn(context.query)
  const page = (body: Html) =>
    marketPage(context, {
      title: "Find an app",
      tab: "search",
      body: html`<section class="card">${appSearchForm(context)}</section>${body}`,
    })
  if (q === "")
    return page(html`<section class="card">${empty("Nothing to search for", "Type the name of an app.")}</section>`)
  const answer = await marketAnswer(context.ask("hive_resolve_app", { q, country, limit: 25 }))
  const title = `No app was found for “${q}” in ${storefrontName(country)}`
  if (isFault(answer))
    return page(html`<section class="card">${missingPart(context, answer, { title, credits: CREDITS })}</section>`)
  const { apps, why } = answer
  const faces = await readFaces(context, apps.map(codeOf), country)
  const items = apps.map(
    (app) => html`<li>${appCell(context, app, { country, face: faces.get(codeOf(app)) })}
<p class="small quiet">
${STORES[app.platform]}${app.ratings !== null && ` · ${counted(app.ratings, "rating")}`}</p></li>`,
  )
  return page(
    card(
      `Apps for “${q}”`,
      html`${
        apps.length === 0
          ? empty(title, "Check the spelling, or paste the link of its store page.")
          : html`<ul class="list">${items}</ul>`
      }${
        why !== null &&
        html`<p class="inside small quiet">The App Store could not be searched
now. ${why}</p>`
      }${readButton(context, CREDITS)}`,
      storefrontName(country),
    ),
  )
}

const MAX_QUERY = 120
const codeOf = ({ platform, id }: Found) => `${platform}:${id}`
