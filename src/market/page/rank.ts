import { storefrontName } from "../../lib/storefront-names.ts"
import { type Desk, isFault, type Page } from "../../ui/app/desk.ts"
import { html } from "../../ui/html.ts"
import { countryIn, marketAddress, marketAnswer, marketPage, missingPart } from "./frame.ts"
import { checkedCard, rankCheckCard } from "./keyword-days.ts"

const CREDITS = 10

/** The current rank of any app for any keyword. */
export async function marketRankPage(desk: Desk): Promise<Page> {
  const country = countryIn(desk.query)
  const term = desk.query.get("term")?.trim() ?? ""
  const app = desk.query.get("app")?.trim() ?? ""
  const checked = await marketAnswer(desk.ask("check_rank", { app, term, cc: country }))
  const title = "The store's results were not read within the last hour"
  return marketPage(desk, {
    title: `“${term}”, ${storefrontName(country)}`,
    tab: "keyword",
    body: html`<p class="crumbs"><a href="${marketAddress(desk, "keyword", { term, country })}">Research this
keyword</a></p>
${
  isFault(checked)
    ? html`<section class="card">${missingPart(desk, checked, { title, credits: CREDITS })}</section>`
    : checkedCard(desk, checked)
}${rankCheckCard(desk, { term, country })}`,
  })
}
