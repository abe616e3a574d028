import { storefrontName } from "../../lib/storefront-names.ts"
import { isFault, type Page, type PageContext } from "../../ui/app/context.ts"
import { html } from "../../ui/html.ts"
import { countryIn, marketAddress, marketAnswer, marketPage, missingPart } from "./frame.ts"
import { checkedCard, rankCheckCard } from "./keyword-days.ts"

const CREDITS = 10

/** The current rank of any app for any keyword. */
export async function marketRankPage(context: PageContext): Promise<Page> {
  const country = countryIn(context.query)
  const term = context.query.get("term")?.trim() ?? ""
  const app = context.query.get("app")?.trim() ?? ""
  const checked = await marketAnswer(context.ask("check_rank", { app, term, cc: country }))
  const title = "The store's results were not read within the last hour"
  return marketPage(context, {
    title: `“${term}”, ${storefrontName(country)}`,
    tab: "keyword",
    body: html`<p class="crumbs"><a href="${marketAddress(context, "keyword", { term, country })}">Research this
keyword</a></p>
${
  isFault(checked)
    ? html`<section class="card">${missingPart(context, checked, { title, credits: CREDITS })}</section>`
    : checkedCard(context, checked)
}${rankCheckCard(context, { term, country })}`,
  })
}
